/**
 * What this process tells the others, and who has heard it. Every entry has a number; a message says its last one, so
 * hearing it means that all before it were heard too.
 */
import type { Sql } from "../db/db.ts";
import type { Log } from "../system/log.ts";
import { packMessages, type Entry } from "./broadcast-messages.ts";

export const channel = "corestead";
const windowMs = 5;
const pauseAfterErrorMs = 500;

export interface OutboxContext {
  readonly sql: Sql;
  readonly processId: string;
  readonly log: Log;
}

/** The other processes, and up to which of our numbers each has said that it heard us. */
export type Peers = Map<string, number>;

/** `listening`: whether messages of ours come back to us. */
export function createOutbox(ctx: OutboxContext, listening: () => boolean) {
  const peers: Peers = new Map();
  let dropping: Promise<void> | undefined;
  const waiters = new Set<() => void>();
  let sent = 0;
  let heard = 0;
  const look = () => {
    for (const waiter of waiters) waiter();
  };
  const hear = (number: number) => {
    heard = Math.max(heard, number);
    look();
  };
  const queue = createSendQueue(ctx, (number) => {
    sent = Math.max(sent, number);
    if (!listening()) hear(sent);
  });
  /** Our own message comes back to us when PostgreSQL hands it out: the others may get it later than we do. */
  const ask = () => {
    if (peers.size > 0) queue.add("", "ask");
  };

  const part = (peer: string) => {
    peers.delete(peer);
    look();
  };

  return {
    add: queue.add,
    hear,
    /** Whether the process is new to us. What we sent before it came does not concern it. */
    meet(peer: string): boolean {
      if (meet(peers, peer, queue.added())) return true;
      if (waiters.size > 0) ask();
      return false;
    },
    part,
    hearFrom(peer: string, number: number) {
      hearUpTo(peers, peer, number);
      look();
    },
    ask,
    /** Forgets those that `missing` finds, of the processes that have not yet said that they heard all that was added. */
    dropMissing(missing: (late: readonly string[]) => Promise<readonly string[]>): void {
      dropping ??= missing(behind(peers, queue.added()))
        .then((gone) => gone.forEach(part))
        .catch((error: unknown) => ctx.log.debug("nobody knows which processes are gone", { error }))
        .finally(() => (dropping = undefined));
    },
    /** What was sent while nobody listened here is never heard. */
    hearSent: () => hear(sent),
    /** Whether all that was added up to now was heard back within the time. Peers that did not answer are forgotten. */
    async settled(withinMs: number, byPeers = true): Promise<boolean> {
      const target = queue.added();
      // A process that does not listen gets no answers.
      const late = () => (byPeers && listening() ? behind(peers, target) : []);
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiter = () => heard >= target && late().length === 0 && resolve();
      waiters.add(waiter);
      waiter();
      const giveUp = setTimeout(resolve, withinMs);
      await promise;
      clearTimeout(giveUp);
      waiters.delete(waiter);
      for (const peer of late()) peers.delete(peer);
      return heard >= target;
    },
  };
}

/** Whether it is new; then it has heard all up to this number. */
export function meet(peers: Peers, peer: string, upTo: number): boolean {
  return !peers.has(peer) && Boolean(peers.set(peer, upTo));
}

export function hearUpTo(peers: Peers, peer: string, number: number): void {
  peers.set(peer, Math.max(number, peers.get(peer) ?? 0));
}

/** Those that have not heard this number. */
export function behind(peers: Peers, number: number): string[] {
  return [...peers].flatMap(([peer, heard]) => (heard < number ? peer : []));
}

/**
 * Collects entries for a window and sends them in one statement, one statement after another so that order is
 * kept. `whenSent` is told the last number that was sent.
 */
function createSendQueue({ sql, processId, log }: OutboxContext, whenSent: (number: number) => void) {
  let entries = new Map<string, Entry>();
  let sending = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let notBefore = 0;
  let added = 0;

  const add = (topic: string, payload: string): number => {
    const key = JSON.stringify([topic, payload]);
    // Deleted first, so that the entries stay in the order of their numbers.
    entries.delete(key);
    entries.set(key, { topic, payload, number: ++added });
    schedule();
    return added;
  };
  const send = async () => {
    timer = undefined;
    const batch = entries;
    entries = new Map();
    sending = true;
    notBefore = performance.now() + windowMs;
    try {
      const texts = packMessages(processId, [...batch.values()]);
      await sql`select pg_notify(${channel}, message) from unnest(${texts}::text[]) as message`;
      whenSent(Math.max(...[...batch.values()].map(({ number }) => number)));
    } catch (error) {
      log.warn("broadcast failed, trying again", { error });
      for (const [key, entry] of entries) {
        batch.delete(key);
        batch.set(key, entry);
      }
      entries = batch;
      notBefore = performance.now() + pauseAfterErrorMs;
    }
    sending = false;
    schedule();
  };
  const schedule = () => {
    if (sending || timer || entries.size === 0) return;
    timer = setTimeout(() => void send(), Math.max(0, notBefore - performance.now()));
  };

  return { add, added: () => added };
}
