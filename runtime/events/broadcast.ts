/**
 * Short messages between the processes of one installation, over PostgreSQL's LISTEN and NOTIFY. In this process they
 * arrive at once; what the others get is coalesced to one statement per window. A message may be lost while a process
 * is disconnected: `onReset` says so, and a listener that keeps state by messages rebuilds it then.
 *
 *     broadcast.on("prompts", (code, fromOtherProcess) => forget(code));
 *     broadcast.publish("prompts", "greeting");
 *     await broadcast.flush(); // the other processes have heard it
 */
import { currentScope } from "../http/keyed.ts";
import { openSubscription, type Subscription } from "./subscription.ts";
import type { Sql } from "../db.ts";
import type { Log } from "../log.ts";

export interface Broadcast {
  /** Hands the message to this process's listeners before it returns, and to the other processes soon. */
  publish(topic: string, payload: string): void;
  /** Calls `run` for every message of the topic; gives back how to end that. */
  on(topic: string, run: (payload: string, fromOtherProcess: boolean) => void): () => void;
  /** Calls `run` when messages may have been missed. */
  onReset(run: () => void): () => void;
  /**
   * Resolves when every process has heard all that was published so far. Whoever has no session of the database any
   * more, or does not answer for five seconds, is not waited for: it is gone, or disconnected and does not trust what it
   * keeps.
   */
  flush(): Promise<void>;
  /** Whether a message of ours comes back to us. */
  hearsItself(): Promise<boolean>;
  /** Whether messages of others reach this process now. */
  healthy(): boolean;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface Needed {
  readonly sql: Sql;
  /** Opens a pool of its own for the listening connection. Its application name ends with the process's id. */
  readonly listen: () => Sql;
  readonly processId: string;
  readonly log: Log;
  /** No other server process is there: nothing is sent, but the command line is still heard. */
  readonly solo?: boolean;
  /** How long a process that does not answer is waited for; its standard is five seconds. */
  readonly maxFlushMs?: number;
}

const channel = "corestead";
const windowMs = 5;
// A notification holds less than 8000 bytes, and some of them name the sender.
const maxMessageBytes = 7700;
// A caller of flush waits no longer: the others do not trust what they keep while they are not connected.
const standardMaxFlushMs = 5000;
// Long enough that a living process has heard that its connection was cut.
const missedAfterMs = 250;
const heartbeatMs = 1_000;
// Less than a change waits for a process that does not answer: what that one keeps is then trusted no more.
const trustMs = 4_000;

type Pair = readonly [topic: string, payload: string];
interface Message {
  readonly from: string;
  /** Of its last pair. */
  readonly number: number;
  readonly pairs: readonly Pair[];
}
interface Entry {
  readonly topic: string;
  readonly payload: string;
  readonly number: number;
}

export function createBroadcast(needed: Needed): Broadcast {
  const { sql, listen, processId, log, solo = false, maxFlushMs = standardMaxFlushMs } = needed;
  const listeners = new Map<string, Set<(payload: string, fromOtherProcess: boolean) => void>>();
  const resets = new Set<() => void>();
  const deliver = (topic: string, payload: string, fromOtherProcess: boolean) => {
    for (const run of listeners.get(topic) ?? []) guarded(log, topic, () => run(payload, fromOtherProcess));
  };
  let subscription: Subscription | undefined;
  const proof = createProof();
  const outbox = createOutbox(sql, processId, log, () => subscription !== undefined);
  let heartbeat: ReturnType<typeof setInterval> | undefined;

  const receive = (text: string) => {
    const message = parseMessage(text);
    if (!message) return log.warn("a message of another program on our channel", { channel });
    if (message.from === processId) {
      proof.hear(message.number);
      return outbox.hear(message.number);
    }
    for (const [topic, payload] of message.pairs) {
      if (topic === "") hearPeer(message, payload);
      else deliver(topic, payload, true);
    }
  };
  /** What processes tell each other about themselves. A process that does not listen says none of it. */
  const hearPeer = ({ from, number }: Message, payload: string) => {
    if (payload === "alive" && outbox.meet(from) && !solo) outbox.add("", "alive");
    else if (payload === "ask") outbox.add("", `heard ${from} ${number}`);
    else if (payload === "bye") outbox.part(from);
    else if (payload.startsWith(`heard ${processId} `)) outbox.hearFrom(from, Number(payload.split(" ")[2]));
  };
  let missing: Promise<void> | undefined;
  const dropMissing = () => {
    missing ??= missingPeers(sql, processId, outbox.late())
      .then((gone) => gone.forEach(outbox.part))
      .catch((error: unknown) => log.debug("nobody knows which processes are gone", { error }))
      .finally(() => (missing = undefined));
  };
  const flush = async (): Promise<void> => {
    // Before the commit the others would only read again what is old.
    if (solo || currentScope()?.defer(flush)) return;
    outbox.ask();
    const looking = setInterval(dropMissing, missedAfterMs);
    const settled = await outbox.settled(maxFlushMs).finally(() => clearInterval(looking));
    if (!settled) reopen();
  };
  const reopen = () => {
    if (!subscription?.healthy()) return;
    log.warn("the listening connection does not answer: opening another");
    subscription.reopen();
  };
  /** A connection that a firewall forgot closes nothing: only a message that does not come back shows it. */
  const beat = () => {
    proof.ask(outbox.add("", "alive"));
    if (proof.ageMs() > standardMaxFlushMs) reopen();
  };

  return {
    publish(topic, payload) {
      if (Buffer.byteLength(JSON.stringify([topic, payload])) >= maxMessageBytes)
        throw new Error(`a broadcast message of topic ${topic} is larger than ${maxMessageBytes} bytes`);
      const send = () => {
        deliver(topic, payload, false);
        if (!solo) outbox.add(topic, payload);
      };
      if (!currentScope()?.defer(send)) send();
    },
    on: (topic, run) => addTo(listeners, topic, run),
    onReset(run) {
      resets.add(run);
      return () => resets.delete(run);
    },
    flush,
    hearsItself() {
      outbox.add("", "alive");
      return outbox.settled(maxFlushMs, false);
    },
    healthy: () => subscription !== undefined && subscription.healthy() && (solo || proof.ageMs() < trustMs),
    async start() {
      const onReset = () => {
        proof.renew();
        outbox.hearSent();
        for (const run of resets) guarded(log, "reset", run);
        // Whoever waits for us asks us again, and answers to us were lost.
        if (!solo) outbox.add("", "alive");
        outbox.ask();
      };
      subscription = await openSubscription({ open: listen, channel, onMessage: receive, onReset, log });
      if (solo) return;
      proof.renew();
      beat();
      heartbeat = setInterval(beat, heartbeatMs);
    },
    async stop() {
      clearInterval(heartbeat);
      if (!solo) outbox.add("", "bye");
      await outbox.settled(1000, false);
      const closing = subscription;
      subscription = undefined;
      await closing?.close();
    },
  };
}

/** How long ago it was still so that what is told comes back to us: a message of ours that does was sent then. */
function createProof() {
  let provenAt = performance.now();
  let asked: { number: number; at: number }[] = [];
  return {
    ask: (number: number) => void asked.push({ number, at: performance.now() }),
    hear(number: number) {
      const last = asked.findLast((one) => one.number <= number);
      if (!last) return;
      provenAt = last.at;
      asked = asked.filter((one) => one.number > number);
    },
    /** A new connection listens. */
    renew() {
      provenAt = performance.now();
      asked = [];
    },
    ageMs: () => performance.now() - provenAt,
  };
}

/** Those of the processes whose listening connection is gone: they were killed, or have heard that it was cut. */
async function missingPeers(sql: Sql, processId: string, peers: readonly string[]): Promise<string[]> {
  if (peers.length === 0) return [];
  const rows = await sql<{ id: string }[]>`
    select id from unnest(${[processId, ...peers]}::text[]) as id
    where exists (select from pg_stat_activity where application_name like '%' || id)`;
  const there = new Set(rows.map(({ id }) => id));
  // Behind a pooler that names the sessions itself nobody can be told from the others, not even we.
  return there.has(processId) ? peers.filter((peer) => !there.has(peer)) : [];
}

/**
 * Collects what is to be sent for a window and sends it in one statement, one after another so that order is kept.
 * Every entry has a number; a message says its last one, so hearing it means that all before it were heard too.
 */
function createOutbox(sql: Sql, processId: string, log: Log, listening: () => boolean) {
  let entries = new Map<string, Entry>();
  let sending = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let notBefore = 0;
  let added = 0;
  let sent = 0;
  let heard = 0;
  /** The other processes, and up to which of our numbers each has said that it heard us. */
  const peers = new Map<string, number>();
  const waiters = new Set<() => void>();

  const look = () => {
    for (const waiter of waiters) waiter();
  };
  const hear = (number: number) => {
    heard = Math.max(heard, number);
    look();
  };
  const add = (topic: string, payload: string) => {
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
      sent = Math.max(sent, ...[...batch.values()].map(({ number }) => number));
      if (!listening()) hear(sent);
    } catch (error) {
      log.warn("broadcast failed, trying again", { error });
      for (const [key, entry] of entries) {
        batch.delete(key);
        batch.set(key, entry);
      }
      entries = batch;
      notBefore = performance.now() + 500;
    }
    sending = false;
    schedule();
  };
  const schedule = () => {
    if (sending || timer || entries.size === 0) return;
    timer = setTimeout(() => void send(), Math.max(0, notBefore - performance.now()));
  };

  /** Our own message comes back to us when PostgreSQL hands it out: the others may get it later than we do. */
  const ask = () => {
    if (peers.size > 0) add("", "ask");
  };

  return {
    add,
    hear,
    /** Whether the process is new to us. What we sent before it came does not concern it. */
    meet(peer: string): boolean {
      if (!peers.has(peer)) return Boolean(peers.set(peer, added));
      if (waiters.size > 0) ask();
      return false;
    },
    part(peer: string) {
      peers.delete(peer);
      look();
    },
    hearFrom(peer: string, number: number) {
      peers.set(peer, Math.max(number, peers.get(peer) ?? 0));
      look();
    },
    ask,
    /** Who has not said yet that it heard all that was added. */
    late: () => [...peers].filter(([, number]) => number < added).map(([peer]) => peer),
    /** What was sent while nobody listened here is never heard. */
    hearSent: () => hear(sent),
    /** Whether all that was added up to now was heard back within the time. Peers that did not answer are forgotten. */
    async settled(withinMs: number, byPeers = true): Promise<boolean> {
      const target = added;
      // Who does not listen gets no answers.
      const late = () => (byPeers && listening() ? [...peers].filter(([, number]) => number < target) : []);
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiter = () => heard >= target && late().length === 0 && resolve();
      waiters.add(waiter);
      waiter();
      const giveUp = setTimeout(resolve, withinMs);
      await promise;
      clearTimeout(giveUp);
      waiters.delete(waiter);
      for (const [peer] of late()) peers.delete(peer);
      return heard >= target;
    },
  };
}

/** Packs entries into as few messages as fit. */
function packMessages(from: string, entries: readonly Entry[]): string[] {
  const texts: string[] = [];
  let part: Entry[] = [];
  let bytes = 0;
  const close = () => {
    const last = part.at(-1);
    if (last)
      texts.push(JSON.stringify({ from, number: last.number, pairs: part.map((e): Pair => [e.topic, e.payload]) }));
    part = [];
    bytes = 0;
  };
  for (const entry of entries) {
    const size = Buffer.byteLength(JSON.stringify([entry.topic, entry.payload])) + 1;
    if (bytes + size > maxMessageBytes) close();
    part.push(entry);
    bytes += size;
  }
  close();
  return texts;
}

function parseMessage(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    if (!("from" in value && "number" in value && "pairs" in value)) return undefined;
    const { from, number, pairs } = value;
    if (typeof from !== "string" || typeof number !== "number" || !Array.isArray(pairs)) return undefined;
    return { from, number, pairs: pairs.filter(isPair) };
  } catch {
    return undefined;
  }
}

function isPair(value: unknown): value is Pair {
  return Array.isArray(value) && typeof value[0] === "string" && typeof value[1] === "string";
}

function addTo<F>(map: Map<string, Set<F>>, key: string, run: F): () => void {
  const set = map.get(key) ?? new Set<F>();
  map.set(key, set.add(run));
  return () => set.delete(run);
}

/** A listener that fails must not keep the message from the others. */
function guarded(log: Log, topic: string, run: () => void): void {
  try {
    run();
  } catch (error) {
    log.error("a broadcast listener failed", { topic, error });
  }
}
