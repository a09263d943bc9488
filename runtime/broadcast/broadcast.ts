/**
 * Short messages between the processes of one installation, over PostgreSQL's LISTEN and NOTIFY. In this process they
 * arrive at once; what the others get is coalesced to one statement per window. A message may be lost while a process
 * is disconnected: `onReset` says so, and a listener that keeps state by messages rebuilds it then.
 *
 *     broadcast.on("prompts", (code, fromOtherProcess) => forget(code));
 *     broadcast.publish("prompts", "greeting");
 *     await broadcast.flush(); // the other processes have heard it
 */
import { currentScope } from "../scope/keyed.ts";
import { mustFit, parseMessage, type Message } from "./broadcast-messages.ts";
import { channel, createOutbox, type OutboxContext } from "./broadcast-outbox.ts";
import { openSubscription, type Subscription } from "./subscription.ts";
import type { Sql } from "../db/db.ts";
import { listeningOf } from "../db/peers-store.ts";
import type { Log } from "../system/log.ts";

export interface Broadcast {
  /** Hands the message to this process's listeners before it returns, and to the other processes soon. */
  publish(topic: string, payload: string): void;
  /** Calls `run` for every message of the topic; gives back how to end that. */
  on(topic: string, run: (payload: string, fromOtherProcess: boolean) => void): () => void;
  /** Calls `run` when messages may have been missed. */
  onReset(run: () => void): () => void;
  /**
   * Resolves when every process has heard all that was published so far. A process that no longer has a session of
   * the database, or does not answer for five seconds, is not waited for: it is gone, or it is disconnected and does not
   * trust what it keeps.
   */
  flush(): Promise<void>;
  /** Whether a message of ours comes back to us. */
  hearsItself(): Promise<boolean>;
  /** Whether messages of others reach this process now. */
  healthy(): boolean;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface BroadcastContext extends OutboxContext {
  /** Opens a pool of its own for the listening connection. Its application name ends with the process's id. */
  readonly listen: () => Sql;
  /** No other server process is there: nothing is sent, but the command line is still heard. */
  readonly solo?: boolean;
  /** How long a process that does not answer is waited for; its standard is five seconds. */
  readonly maxFlushMs?: number;
}

// Nothing waits longer in flush: the others do not trust what they keep while they are not connected.
const standardMaxFlushMs = 5000;
// Long enough that a living process has heard that its connection was cut.
const missedAfterMs = 250;
const heartbeatMs = 1_000;
// Shorter than a change waits for a process that does not answer: by then that process does not trust what it keeps.
const trustMs = 4_000;
const goodbyeMs = 1_000;

type Outbox = ReturnType<typeof createOutbox>;

export function createBroadcast(ctx: BroadcastContext): Broadcast {
  const { listen, processId, log, solo = false, maxFlushMs = standardMaxFlushMs } = ctx;
  let subscription: Subscription | undefined;
  let heartbeat: ReturnType<typeof setInterval> | undefined;
  const listeners = createListeners(log);
  const proof = createProof();
  const outbox = createOutbox(ctx, () => subscription !== undefined);

  const receive = (text: string) => {
    const message = parseMessage(text);
    if (!message) return log.warn("a message of another program on our channel", { channel });
    if (message.from === processId) {
      proof.hear(message.number);
      return outbox.hear(message.number);
    }
    for (const [topic, payload] of message.pairs) {
      if (topic === "") hearPeer(ctx, outbox, message, payload);
      else listeners.deliver(topic, payload, true);
    }
  };
  const flush = async (): Promise<void> => {
    // Before the commit the others would only read again what is old.
    if (solo || currentScope()?.defer(flush)) return;
    if (!(await waitForPeers(ctx, outbox, maxFlushMs))) reopen();
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
  const onReset = () => {
    proof.renew();
    outbox.hearSent();
    listeners.reset();
    // A process that waits for us asks us again, and answers to us were lost.
    if (!solo) outbox.add("", "alive");
    outbox.ask();
  };

  return {
    publish(topic, payload) {
      mustFit(topic, payload);
      const send = () => {
        listeners.deliver(topic, payload, false);
        if (!solo) outbox.add(topic, payload);
      };
      if (!currentScope()?.defer(send)) send();
    },
    on: listeners.on,
    onReset: listeners.onReset,
    flush,
    hearsItself() {
      outbox.add("", "alive");
      return outbox.settled(maxFlushMs, false);
    },
    healthy: () => subscription !== undefined && subscription.healthy() && (solo || proof.ageMs() < trustMs),
    async start() {
      subscription = await openSubscription(listen, channel, receive, onReset, log);
      if (solo) return;
      proof.renew();
      beat();
      heartbeat = setInterval(beat, heartbeatMs);
    },
    async stop() {
      clearInterval(heartbeat);
      if (!solo) outbox.add("", "bye");
      await outbox.settled(goodbyeMs, false);
      const closing = subscription;
      subscription = undefined;
      await closing?.close();
    },
  };
}

/** The listeners of this process, by topic. */
function createListeners(log: Log) {
  const topics = new Map<string, Set<(payload: string, fromOtherProcess: boolean) => void>>();
  const resets = new Set<() => void>();
  return {
    deliver(topic: string, payload: string, fromOtherProcess: boolean): void {
      for (const run of topics.get(topic) ?? []) guarded(log, topic, () => run(payload, fromOtherProcess));
    },
    reset(): void {
      for (const run of resets) guarded(log, "reset", run);
    },
    on: (topic: string, run: (payload: string, fromOtherProcess: boolean) => void) => addTo(topics, topic, run),
    onReset(run: () => void): () => void {
      resets.add(run);
      return () => resets.delete(run);
    },
  };
}

/** What processes tell each other about themselves. A process that does not listen says none of it. */
function hearPeer(
  { processId, solo }: BroadcastContext,
  outbox: Outbox,
  { from, number }: Message,
  payload: string,
): void {
  if (payload === "alive" && outbox.meet(from) && !solo) outbox.add("", "alive");
  else if (payload === "ask") outbox.add("", `heard ${from} ${number}`);
  else if (payload === "bye") outbox.part(from);
  else if (payload.startsWith(`heard ${processId} `)) outbox.hearFrom(from, Number(payload.split(" ")[2]));
}

/** Waits until all other processes have heard what was added; false if not even we heard it. */
function waitForPeers(ctx: BroadcastContext, outbox: Outbox, maxFlushMs: number): Promise<boolean> {
  outbox.ask();
  const looking = setInterval(() => outbox.dropMissing((late) => missingPeers(ctx, late)), missedAfterMs);
  return outbox.settled(maxFlushMs).finally(() => clearInterval(looking));
}

/** The processes whose listening connection is gone: they were killed, or know that it was cut. */
async function missingPeers({ sql, processId }: BroadcastContext, peers: readonly string[]): Promise<string[]> {
  if (peers.length === 0) return [];
  const there = await listeningOf(sql, [processId, ...peers]);
  // Behind a pooler that names the sessions itself, no process can be told from the others, not even ours.
  return there.has(processId) ? peers.filter((peer) => !there.has(peer)) : [];
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

/**
 * Proof that what is told comes back to us, so that what others tell reaches us as well. Its age counts from the sending of the last message of ours that
 * came back. `now`: in milliseconds.
 */
export function createProof(now: () => number = () => performance.now()) {
  let provenAt = now();
  let asked: { number: number; at: number }[] = [];
  return {
    ask: (number: number) => void asked.push({ number, at: now() }),
    hear(number: number) {
      const last = asked.findLast((one) => one.number <= number);
      if (!last) return;
      provenAt = last.at;
      asked = asked.filter((one) => one.number > number);
    },
    /** A new connection listens. */
    renew() {
      provenAt = now();
      asked = [];
    },
    ageMs: () => now() - provenAt,
  };
}
