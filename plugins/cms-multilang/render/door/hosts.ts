/**
 * Which host is which site's: every request asks, so all of them are in memory. A change is sent to every process as
 * what it is, since a process that only heard of a change would answer by the old map until it has read the new one.
 */
import { type HostData } from "../data.ts";
import type { Account, BaseContext } from "platform";

export interface Host {
  readonly domainId: number;
  readonly siteId: number;
  readonly account: Account;
}

export interface Hosts {
  /** `host` is a lower-case Host header. A name with a port is found by that port, one without by any. */
  find(host: string): Host | undefined;
  /** Reads them anew. */
  load(): Promise<void>;
  /** After a committed change: every process has it when the messages have been flushed. */
  publish(): Promise<void>;
}

interface Needed {
  readonly broadcast: BaseContext["broadcast"];
  readonly read: () => Promise<readonly HostData[]>;
  readonly account: (id: number) => Promise<Account | undefined>;
  readonly failed: (error: unknown) => void;
}

const topic = "cms:host";

type Message = { readonly name: string; readonly gone: true } | (Host & { readonly name: string });

export function createHosts({ broadcast, read, account, failed }: Needed): Hosts {
  let hosts = new Map<string, Host>();
  /** What every process was told. What was only read may be more: nobody else need know of it. */
  let told = new Map<string, Host>();
  /** Grows with every message: what was read before one is older than it. */
  let changes = 0;
  let reading: Promise<void> | undefined;

  const readAll = async (): Promise<Map<string, Host>> => {
    const accounts = new Map<number, Account | undefined>();
    const found = new Map<string, Host>();
    for (const { name, domainId, siteId, accountId } of await read()) {
      if (!accounts.has(accountId)) accounts.set(accountId, await account(accountId));
      const owner = accounts.get(accountId);
      if (owner) found.set(name, { domainId, siteId, account: owner });
    }
    return found;
  };
  /**
   * Uses what is stored, read after every message that has come, and before the next one comes: an older reading would
   * undo what a newer message said. It goes on while hosts change, and no longer: whoever changes one waits for this.
   */
  const withLatest = async (use: (stored: Map<string, Host>) => void): Promise<void> => {
    for (;;) {
      const before = changes;
      const stored = await readAll();
      if (before === changes) return use(stored);
    }
  };
  const load = () => withLatest((stored) => (hosts = stored));
  const loadFirst = async () => {
    await load();
    told = new Map(hosts);
  };
  /** Messages of two processes may come in another order than their changes: what is stored is what counts. */
  const check = () => {
    reading ??= load()
      .catch(failed)
      .finally(() => (reading = undefined));
  };

  broadcast.on(topic, (payload, fromOtherProcess) => {
    const message = parsed(payload);
    if (!message) return;
    changes++;
    for (const known of [hosts, told]) {
      if ("gone" in message) known.delete(message.name);
      else known.set(message.name, message);
    }
    if (fromOtherProcess) check();
  });
  broadcast.onReset(() => {
    told.clear(); // what others said meanwhile did not come
    check();
  });

  return {
    find: (host) => hosts.get(host) ?? withoutPort(host, hosts),
    load: loadFirst,
    publish: () =>
      withLatest((stored) => {
        const known = new Set([...hosts.keys(), ...told.keys()]);
        for (const name of known) if (!stored.has(name)) send({ name, gone: true });
        for (const [name, host] of stored) if (!same(told.get(name), host)) send({ name, ...host });
      }),
  };

  function send(message: Message): void {
    broadcast.publish(topic, JSON.stringify(message));
  }
}

function withoutPort(host: string, hosts: ReadonlyMap<string, Host>): Host | undefined {
  const colon = host.lastIndexOf(":");
  return colon > 0 ? hosts.get(host.slice(0, colon)) : undefined;
}

function same(known: Host | undefined, host: Host): boolean {
  return (
    known !== undefined &&
    JSON.stringify(known.account) === JSON.stringify(host.account) &&
    known.domainId === host.domainId &&
    known.siteId === host.siteId
  );
}

function parsed(payload: string): Message | undefined {
  try {
    // Only this module sends on this topic.
    const message: Message = JSON.parse(payload);
    return message;
  } catch {
    return undefined;
  }
}
