/**
 * Sends what is in the queue. Each webhook has a lane of its own: at most so many requests at once, at its own rate. A
 * receiver that hangs holds the slots of its lane and no others, and after its first timeout one slot only.
 */
import type { Log } from "platform";
import { createClaiming } from "./claim.ts";
import { createHolding } from "./holding.ts";
import { emptyLane, urged, woken, type Lane } from "./lane.ts";
import { createPump } from "./pump.ts";
import type { LeaseStore } from "./lease-store.ts";
import type { QueueStore } from "./queue-store.ts";
import { createSending, type SendingNeeded } from "./send.ts";
import { createSettler } from "./settle.ts";
import type { Subscriptions } from "../subscriptions/subscriptions.ts";

interface Needed extends Pick<SendingNeeded, "attempt" | "judge" | "settled"> {
  readonly leaseStore: LeaseStore;
  readonly queueStore: QueueStore;
  readonly subscriptions: Subscriptions;
  readonly log: Log;
  /** Requests at once in this process, of all webhooks. */
  readonly maxInFlight: number;
  readonly leaseSeconds: number;
}

const pollMs = 1000;
const lookAfterEveryPolls = 30;
// Counted from the beginning of the stop; requests and jobs have about as long.
const graceMs = 6000;

export function createLanes(needed: Needed) {
  const { queueStore, log, leaseSeconds } = needed;
  const lanes = new Map<number, Lane>();
  let state: "idle" | "running" | "stopping" = "idle";
  const timers: ReturnType<typeof setInterval>[] = [];
  const isStopped = () => state !== "running";
  const settler = createSettler({ ...needed, wake: (place) => wake(place.accountId, place.webhookId) });
  const holding = createHolding(needed);
  const pump = createPump({
    ...needed,
    holding,
    send: createSending({ ...needed, holding, settler, isStopped }),
    claim: createClaiming({ ...needed, holding, isStopped, release: settler.release }),
    unwritten: settler.unwritten,
    isStopped,
    forget: ({ webhookId }) => void lanes.delete(webhookId),
  });

  const wake = (accountId: number, webhookId: number, since?: Date) => {
    if (isStopped()) return;
    const lane = lanes.get(webhookId) ?? { accountId, webhookId, state: emptyLane };
    lanes.set(webhookId, lane);
    lane.state = woken(lane.state, since);
    pump.run(lane);
  };
  const poll = createPoll({ queueStore, log, leaseSeconds, promote: settler.promote, wake, isStopped }, () => {
    // Their webhook may have been switched off while they wait for its rate.
    for (const lane of lanes.values()) if (lane.state.waiting.length > 0) pump.run(lane);
  });

  let restedAt = 0;
  const rest = () => {
    if (isStopped()) return;
    state = "stopping";
    restedAt = performance.now();
    clearInterval(timers.shift());
    pump.dropTimers();
    for (const lane of lanes.values()) for (const id of holding.dropWaiting(lane)) settler.release(id);
  };
  const idleUntil = async (end: number) => {
    while (pump.inFlight() > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  return {
    wake,
    /** A person asks for it: even a receiver that asked to wait is called again. */
    urge(accountId: number, webhookId: number) {
      const lane = lanes.get(webhookId);
      if (lane) {
        lane.state = urged(lane.state);
        pump.dropTimer(lane);
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
    /** Starts nothing new; what is under way may end. */
    rest,
    /** Waits a while for what is under way, and releases what has not ended. */
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

interface PollNeeded {
  readonly queueStore: Pick<QueueStore, "due" | "now" | "parkedHeads" | "setBack">;
  readonly log: Log;
  readonly leaseSeconds: number;
  readonly promote: ReturnType<typeof createSettler>["promote"];
  readonly wake: (accountId: number, webhookId: number, since: Date) => void;
  readonly isStopped: () => boolean;
}

/** Looks for what no message announced: what is due by now, and what a dead process did not release. */
function createPoll(needed: PollNeeded, afterwards: () => void) {
  const { queueStore, log, leaseSeconds, promote, wake, isStopped } = needed;
  let polls = 0;
  let polling = false;
  let lastAt: Date | undefined;
  const lookAfter = async () => {
    const at = await queueStore.now();
    if (!lastAt || at < lastAt) await queueStore.setBack(leaseSeconds);
    lastAt = at;
    await promote(await queueStore.parkedHeads());
  };
  return async () => {
    if (polling) return;
    polling = true;
    try {
      if (polls++ % lookAfterEveryPolls === 0) await lookAfter();
      for (const { accountId, webhookId, dueAt } of await queueStore.due()) wake(accountId, webhookId, dueAt);
      afterwards();
    } catch (error) {
      // At the end of the server the pool may close before the answer.
      if (!isStopped()) log.warn("looking for due deliveries failed, trying again", { error });
    }
    polling = false;
  };
}
