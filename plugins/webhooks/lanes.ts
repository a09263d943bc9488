/**
 * Sends what is in the queue. Each webhook has a lane of its own: at most so many requests at once, at its own rate. A
 * receiver that hangs holds the slots of its lane and no others, and after its first timeout one slot only.
 */
import type { Log } from "platform";
import { createClaiming } from "./claim.ts";
import { createHolding } from "./holding.ts";
import { newLane, type Lane } from "./lane.ts";
import type { ClaimedDelivery, QueueStore } from "./queue-store.ts";
import { createSending, type SendingOptions } from "./send.ts";
import { createSettler } from "./settle.ts";
import type { Hook, Subscriptions } from "./subscriptions.ts";

export interface LanesOptions extends Pick<SendingOptions, "attempt" | "judge" | "settled"> {
  readonly queueStore: QueueStore;
  readonly subscriptions: Subscriptions;
  readonly log: Log;
  /** Requests at once in this process, of all webhooks. */
  readonly maxInFlight: number;
  readonly leaseSeconds: number;
}

export type Lanes = ReturnType<typeof createLanes>;

const pollMs = 1000;
const parkedEveryPolls = 30;
const pauseAfterErrorMs = 500;
const claimMost = 100;
// Claims rest while so many ends are not written: the database is slow or away.
const maxUnwritten = 2000;
// A timer is late by so much; the rate is kept nevertheless.
const rateSlackMs = 20;
// From the beginning of the stop; requests and jobs have about as long.
const graceMs = 6000;

export function createLanes(options: LanesOptions) {
  const { queueStore, subscriptions, log, maxInFlight, leaseSeconds } = options;
  const lanes = new Map<number, Lane>();
  let state: "idle" | "running" | "stopping" = "idle";
  const counts = { inFlight: 0 };
  /** Those that could send if this process did not send as much as it may already. */
  const blocked = new Set<Lane>();
  const timers: ReturnType<typeof setInterval>[] = [];
  const isStopped = () => state !== "running";
  const settler = createSettler({ queueStore, log, wake: (place) => wake(place.accountId, place.webhookId) });
  const holding = createHolding(options);
  const claim = createClaiming({ ...options, holding, isStopped, release: settler.release });
  const send = createSending({ ...options, holding, settler, isStopped });

  const isFull = () => counts.inFlight >= maxInFlight;

  const pump = (lane: Lane, hook = subscriptions.peek(lane.accountId, lane.webhookId)): void => {
    if (isStopped()) return;
    if (hook === null) return void load(lane);
    if (!hook) return abandon(lane);
    const slots = lane.suspect ? 1 : hook.row.concurrency;
    while (lane.waiting.length > 0 && lane.inFlight < slots && !isFull() && mayStart(lane, hook)) {
      const delivery = lane.waiting.shift();
      if (delivery) void run(lane, hook, delivery);
    }
    if (isFull() && lane.waiting.length > 0 && lane.inFlight < slots) blocked.add(lane);
    // As many as are sent at once wait here already: a slot is never empty while the queue is asked.
    const most = Math.min((lane.suspect ? 1 : slots * 2) - lane.inFlight - lane.waiting.length, claimMost);
    if (lane.more && !lane.claiming && most > 0 && settler.unwritten() < maxUnwritten) void refill(lane, most);
  };
  /** Where it is not kept: at first, and while other processes cannot tell of changes. */
  const load = async (lane: Lane) => {
    if (lane.loading) return;
    lane.loading = true;
    try {
      pump(lane, await subscriptions.get(lane.accountId, lane.webhookId));
    } catch (error) {
      log.warn("webhooks cannot be read, trying again", { error });
      later(lane, pauseAfterErrorMs);
    }
    lane.loading = false;
  };
  /** The webhook is off or gone: what it waits for is given back, to be cleared away. */
  const abandon = (lane: Lane) => {
    lane.more = false;
    void holding.giveBack(lane);
    if (lane.inFlight === 0) lanes.delete(lane.webhookId);
  };
  const refill = async (lane: Lane, most: number) => {
    if (await claim(lane, most)) pump(lane);
    else later(lane, pauseAfterErrorMs);
  };
  const mayStart = (lane: Lane, { row }: Hook): boolean => {
    const now = performance.now();
    const earliest = Math.max(lane.notBefore, lane.pausedUntil);
    if (now < earliest) {
      later(lane, earliest - now);
      return false;
    }
    if (row.rateLimit === null) return true;
    const intervalMs = (row.ratePeriod === "second" ? 1000 : 60_000) / row.rateLimit;
    lane.notBefore = Math.max(lane.notBefore, now - rateSlackMs) + intervalMs;
    return true;
  };
  const later = (lane: Lane, ms: number) => {
    if (lane.timer) return;
    lane.timer = setTimeout(() => {
      lane.timer = undefined;
      pump(lane);
    }, Math.ceil(ms));
  };
  const run = async (lane: Lane, hook: Hook, delivery: ClaimedDelivery) => {
    const mine = holding.get(delivery.id);
    if (!mine) return; // its lease was lost while it waited
    lane.inFlight++;
    counts.inFlight++;
    await send(hook, delivery, mine);
    lane.inFlight--;
    counts.inFlight--;
    pump(lane);
    const [next] = blocked;
    if (next && blocked.delete(next)) pump(next);
  };
  const wake = (accountId: number, webhookId: number, since?: Date) => {
    if (isStopped()) return;
    const lane = lanes.get(webhookId) ?? newLane(accountId, webhookId);
    lanes.set(webhookId, lane);
    lane.more = true;
    if (since && since < lane.since) lane.since = since;
    if (since && since < lane.asked) lane.asked = since;
    pump(lane);
  };

  let polls = 0;
  let polling = false;
  const poll = async () => {
    if (polling) return;
    polling = true;
    try {
      if (polls++ % parkedEveryPolls === 0) await settler.promote(await queueStore.parkedHeads());
      for (const { accountId, webhookId, dueAt } of await queueStore.due()) wake(accountId, webhookId, dueAt);
      // Their webhook may have been switched off while they wait for its rate.
      for (const lane of lanes.values()) if (lane.waiting.length > 0) pump(lane);
    } catch (error) {
      log.warn("looking for due deliveries failed, trying again", { error });
    }
    polling = false;
  };

  let restedAt = 0;
  const rest = () => {
    if (isStopped()) return;
    state = "stopping";
    restedAt = performance.now();
    clearInterval(timers.shift());
    for (const lane of lanes.values()) {
      clearTimeout(lane.timer);
      for (const id of holding.dropWaiting(lane)) settler.release(id);
    }
  };

  const idleUntil = async (end: number) => {
    while (counts.inFlight > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  return {
    wake,
    /** A person asks for it: a receiver that asked to wait is asked again. */
    urge(accountId: number, webhookId: number) {
      const lane = lanes.get(webhookId);
      if (lane) {
        lane.pausedUntil = 0;
        clearTimeout(lane.timer);
        lane.timer = undefined;
      }
      wake(accountId, webhookId);
    },
    begin() {
      state = "running";
      timers.push(
        setInterval(() => void poll(), pollMs),
        setInterval(() => void holding.extend(), (leaseSeconds * 1000) / 4),
      );
      void poll();
    },
    /** Begins no more; what is under way may end. */
    rest,
    /** Waits a while for what is under way, and gives back what has not ended. */
    async stop() {
      rest();
      await idleUntil(restedAt + graceMs);
      for (const timer of timers.splice(0)) clearInterval(timer);
      holding.abort();
      await idleUntil(performance.now() + 1000);
      await settler.stop();
    },
  };
}
