/**
 * Maps hosts to sites. Every request asks, so the whole map is in memory. A change is sent to every process with its
 * contents: a process that only heard that something changed would answer from its old map until it had read the new
 * one.
 */
import { type HostData } from "../data.ts";
import type { Account, BaseContext } from "platform";

export interface Host {
  readonly domainId: number;
  readonly siteId: number;
  readonly account: Account;
}

export interface Hosts {
  /** `host` is a lower-case Host header. A name with a port matches that port only, a name without one any port. */
  find(host: string): Host | undefined;
  /** All of them, by name. */
  all(): IterableIterator<[string, Host]>;
  /** Reads all of them again. */
  load(): Promise<void>;
  /** Call it after the commit. When the messages have been flushed, every process has the change. */
  publish(): Promise<void>;
}

interface HostOptions {
  readonly broadcast: BaseContext["broadcast"];
  readonly read: () => Promise<readonly HostData[]>;
  readonly account: (id: number) => Promise<Account | undefined>;
  readonly failed: (error: unknown) => void;
}

const topic = "cms:host";

type Message = { readonly name: string; readonly gone: true } | (Host & { readonly name: string });

export function createHosts({ broadcast, read, account, failed }: HostOptions): Hosts {
  let hosts = new Map<string, Host>();
  /** What every process was told. `hosts` may hold more that this process has read; the others do not need to know. */
  let told = new Map<string, Host>();
  /** Grows with every message. A reading that began before a message is older than it. */
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
   * Uses what is stored, read between two messages: an older reading would undo what a newer message said. It repeats
   * only while hosts change, because whoever changes one waits for it.
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
  /** Messages of two processes may arrive in another order than their changes, so what is stored decides. */
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
    told.clear(); // messages of others were lost meanwhile
    check();
  });

  return {
    find: (host) => hosts.get(host) ?? withoutPort(host, hosts),
    all: () => hosts.entries(),
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
