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

interface Needed {
  readonly sql: Sql;
  readonly processId: string;
  readonly log: Log;
  /** Whether messages of ours come back to us. */
  readonly listening: () => boolean;
}

export function createOutbox({ listening, ...needed }: Needed) {
  const peers = createPeers();
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
  const queue = createSendQueue(needed, (number) => {
    sent = Math.max(sent, number);
    if (!listening()) hear(sent);
  });
  /** Our own message comes back to us when PostgreSQL hands it out: the others may get it later than we do. */
  const ask = () => {
    if (peers.any()) queue.add("", "ask");
  };

  return {
    add: queue.add,
    hear,
    /** Whether the process is new to us. What we sent before it came does not concern it. */
    meet(peer: string): boolean {
      if (peers.meet(peer, queue.added())) return true;
      if (waiters.size > 0) ask();
      return false;
    },
    part(peer: string) {
      peers.part(peer);
      look();
    },
    hearFrom(peer: string, number: number) {
      peers.heard(peer, number);
      look();
    },
    ask,
    /** The processes that have not yet said that they heard all that was added. */
    late: () => peers.behind(queue.added()),
    /** What was sent while nobody listened here is never heard. */
    hearSent: () => hear(sent),
    /** Whether all that was added up to now was heard back within the time. Peers that did not answer are forgotten. */
    async settled(withinMs: number, byPeers = true): Promise<boolean> {
      const target = queue.added();
      // A process that does not listen gets no answers.
      const late = () => (byPeers && listening() ? peers.behind(target) : []);
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiter = () => heard >= target && late().length === 0 && resolve();
      waiters.add(waiter);
      waiter();
      const giveUp = setTimeout(resolve, withinMs);
      await promise;
      clearTimeout(giveUp);
      waiters.delete(waiter);
      for (const peer of late()) peers.part(peer);
      return heard >= target;
    },
  };
}

/** The other processes, and up to which of our numbers each has said that it heard us. */
export function createPeers() {
  const numbers = new Map<string, number>();
  return {
    any: () => numbers.size > 0,
    /** Whether it is new; then it has heard all up to this number. */
    meet: (peer: string, upTo: number): boolean => !numbers.has(peer) && Boolean(numbers.set(peer, upTo)),
    part: (peer: string): void => void numbers.delete(peer),
    heard: (peer: string, number: number): void => void numbers.set(peer, Math.max(number, numbers.get(peer) ?? 0)),
    /** Those that have not heard this number. */
    behind: (number: number): string[] => [...numbers].flatMap(([peer, heard]) => (heard < number ? peer : [])),
  };
}

/**
 * Collects entries for a window and sends them in one statement, one statement after another so that order is
 * kept. `whenSent` is told the last number that was sent.
 */
function createSendQueue({ sql, processId, log }: Omit<Needed, "listening">, whenSent: (number: number) => void) {
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
