/**
 * Sends what is in the queue. Each webhook has a lane of its own: at most so many requests at once, at its own rate. A
 * receiver that hangs holds the slots of its lane and no others, and after its first timeout one slot only.
 */
import { failpoint, type Log } from "platform";
import type { Attempt, Outcome } from "./attempt.ts";
import { batched } from "./batch.ts";
import { never, newLane, type Lane } from "./lane.ts";
import type { ClaimedDelivery, QueueStore, Want } from "./queue-store.ts";
import { createSettler, type Settled } from "./settle.ts";
import type { Hook, Subscriptions } from "./subscriptions.ts";

export interface LanesOptions {
  readonly store: QueueStore;
  readonly subscriptions: Subscriptions;
  readonly attempt: Attempt;
  readonly log: Log;
  /** Requests at once in this process, of all webhooks. */
  readonly maxInFlight: number;
  readonly leaseSeconds: number;
  /** What follows from an attempt: status and time of the next one. */
  readonly judge: (hook: Hook, delivery: ClaimedDelivery, outcome: Outcome) => Settled;
  /** Told after an attempt was written down. */
  readonly settled: (hook: Hook, outcome: Outcome) => Promise<void>;
}

/** A delivery that this process holds. */
interface Held {
  readonly lane: Lane;
  readonly controller: AbortController;
  settling: boolean;
}

export type Lanes = ReturnType<typeof createLanes>;

const pollMs = 1000;
const parkedEveryPolls = 30;
const pauseAfterErrorMs = 500;
// What is due earlier than the last claim was written by a slower transaction, or by another clock.
const lateMs = 1000;
const claimMost = 100;
const clearMost = 1000;
// Claims rest while so many ends are not written: the database is slow or away.
const maxUnwritten = 2000;
// A timer is late by so much; the rate is kept nevertheless.
const rateSlackMs = 20;
// The delivery itself waits as long as the receiver asks; the others of its webhook find out again.
const maxPauseSeconds = 60;
// From the beginning of the stop; requests and jobs have about as long.
const graceMs = 6000;

export function createLanes(options: LanesOptions) {
  const { store, subscriptions, attempt, log, maxInFlight, leaseSeconds, judge, settled } = options;
  const lanes = new Map<number, Lane>();
  const held = new Map<number, Held>();
  let state: "idle" | "running" | "stopping" = "idle";
  const counts = { inFlight: 0 };
  /** Those that could send if this process did not send as much as it may already. */
  const blocked = new Set<Lane>();
  const timers: ReturnType<typeof setInterval>[] = [];
  const settler = createSettler({ store, log, wake: (place) => wake(place.accountId, place.webhookId) });

  const claim = batched(async (wants: readonly Want[]) => {
    const rows = await store.claim(wants, leaseSeconds);
    return wants.map(({ webhookId }) => rows.filter((row) => row.webhookId === webhookId));
  }, 100);

  const isFull = () => counts.inFlight >= maxInFlight;

  const pump = (lane: Lane, hook = subscriptions.peek(lane.accountId, lane.webhookId)): void => {
    if (state !== "running") return;
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
    const ids = lane.waiting.splice(0).map(({ id }) => id);
    for (const id of ids) held.delete(id);
    if (ids.length > 0) void giveBack(ids);
    if (lane.inFlight === 0) lanes.delete(lane.webhookId);
  };
  const giveBack = async (ids: readonly number[]) => {
    try {
      await store.release(ids);
      await store.clear(clearMost);
    } catch (error) {
      // Their leases end by themselves, and what is left over is cleared away every hour.
      log.warn("deliveries of a webhook that is off were not given back", { error });
    }
  };
  const refill = async (lane: Lane, most: number) => {
    lane.claiming = true;
    lane.more = false;
    lane.asked = never;
    const { since } = lane;
    try {
      const rows = await claim({ webhookId: lane.webhookId, most, since });
      if (rows.length > 0) failpoint("webhooks.delivery-claimed");
      // Stopped meanwhile: others may have them.
      if (state !== "running") return rows.forEach(({ id }) => settler.release(id));
      const last = Math.max(since.getTime(), ...rows.map(({ dueAt }) => dueAt.getTime()));
      const full = rows.length === most;
      const next = new Date(full ? last : Math.max(since.getTime(), last - lateMs));
      lane.since = next < lane.asked ? next : lane.asked;
      lane.more ||= full;
      for (const row of rows) {
        const before = held.get(row.id);
        if (before && !before.settling) continue; // its lease ended, and it is still under way here
        held.set(row.id, { lane, controller: new AbortController(), settling: false });
        lane.waiting.push(row);
      }
    } catch (error) {
      log.warn("claiming deliveries failed, trying again", { error });
      lane.more = true;
      lane.claiming = false;
      return later(lane, pauseAfterErrorMs);
    }
    lane.claiming = false;
    pump(lane);
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
    const mine = held.get(delivery.id);
    if (!mine) return; // its lease was lost while it waited
    lane.inFlight++;
    counts.inFlight++;
    try {
      const outcome = await attempt(hook, delivery, mine.controller.signal);
      failpoint("webhooks.answered");
      mine.settling = true;
      lane.suspect = outcome.timedOut;
      if (outcome.status === 429 || outcome.status === 503)
        lane.pausedUntil = performance.now() + Math.min(outcome.retryAfterSeconds ?? 0, maxPauseSeconds) * 1000;
      void finish(hook, delivery, outcome, mine);
    } catch {
      held.delete(delivery.id); // the process stops, or another one has it now
      if (state === "stopping") settler.release(delivery.id);
    }
    lane.inFlight--;
    counts.inFlight--;
    pump(lane);
    const [next] = blocked;
    if (next && blocked.delete(next)) pump(next);
  };
  const finish = async (hook: Hook, delivery: ClaimedDelivery, outcome: Outcome, mine: Held) => {
    const written = await settler.settle(hook.row.accountId, delivery, judge(hook, delivery, outcome), outcome);
    if (held.get(delivery.id) === mine) held.delete(delivery.id); // else it is due again, and claimed again
    if (written)
      await settled(hook, outcome).catch((error: unknown) => log.warn("a webhook's health was not noted", { error }));
  };
  const wake = (accountId: number, webhookId: number, since?: Date) => {
    if (state !== "running") return;
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
      if (polls++ % parkedEveryPolls === 0) await settler.promote(await store.parkedHeads());
      for (const { accountId, webhookId, dueAt } of await store.due()) wake(accountId, webhookId, dueAt);
      // Their webhook may have been switched off while they wait for its rate.
      for (const lane of lanes.values()) if (lane.waiting.length > 0) pump(lane);
    } catch (error) {
      log.warn("looking for due deliveries failed, trying again", { error });
    }
    polling = false;
  };
  const extendAll = async () => {
    const ids = [...held].flatMap(([id, { settling }]) => (settling ? [] : [id]));
    if (ids.length === 0) return;
    try {
      const kept = await store.extend(ids, leaseSeconds);
      for (const id of ids) if (!kept.has(id)) lose(id);
    } catch (error) {
      log.warn("extending the leases of deliveries failed, trying again", { error });
    }
  };
  /** Another process has it: it was silent here for too long, or it was taken out of the queue. */
  const lose = (id: number) => {
    const mine = held.get(id);
    if (!mine || mine.settling) return;
    held.delete(id);
    const at = mine.lane.waiting.findIndex((delivery) => delivery.id === id);
    if (at >= 0) mine.lane.waiting.splice(at, 1);
    mine.controller.abort(new Error("the lease of this delivery was lost"));
  };

  let restedAt = 0;
  const rest = () => {
    if (state !== "running") return;
    state = "stopping";
    restedAt = performance.now();
    clearInterval(timers.shift());
    for (const lane of lanes.values()) {
      clearTimeout(lane.timer);
      for (const { id } of lane.waiting.splice(0)) {
        held.delete(id);
        settler.release(id);
      }
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
        setInterval(() => void extendAll(), (leaseSeconds * 1000) / 4),
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
      for (const { controller, settling } of held.values())
        if (!settling) controller.abort(new Error("the process stops"));
      await idleUntil(performance.now() + 1000);
      await settler.stop();
    },
  };
}
