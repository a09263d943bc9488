/** Keeps one lane going: reads its webhook, fills it from the queue and sends as much as its limits allow. No SQL. */
import type { Log } from "platform";
import { claimable, closed, ended, nextStep, type Lane } from "./lane.ts";
import type { Holding } from "./holding.ts";
import type { ClaimedDelivery } from "./lease-store.ts";
import type { Sending } from "./send.ts";
import type { Hook, Subscriptions } from "../subscriptions/subscriptions.ts";

interface Needed {
  readonly subscriptions: Pick<Subscriptions, "peek" | "get">;
  readonly holding: Pick<Holding, "get" | "giveBack">;
  readonly send: Sending;
  /** Fills a lane; false if that failed. */
  readonly claim: (lane: Lane, most: number) => Promise<boolean>;
  /** How many outcomes are not written yet. */
  readonly unwritten: () => number;
  readonly log: Log;
  /** Requests at once in this process, of all webhooks. */
  readonly maxInFlight: number;
  readonly isStopped: () => boolean;
  /** Nothing is left to be done for this lane. */
  readonly forget: (lane: Lane) => void;
}

const pauseAfterErrorMs = 500;
// Claims rest while so many outcomes are not written: the database is slow or away.
const maxUnwritten = 2000;

export function createPump(needed: Needed) {
  const { subscriptions, holding, send, claim, unwritten, log, maxInFlight, isStopped, forget } = needed;
  let inFlight = 0;
  /** Lanes that could send if this process did not already send as much as it may. */
  const blocked = new Set<Lane>();
  /** Lanes whose webhook is being read. */
  const loading = new Set<Lane>();
  const timers = new Map<Lane, ReturnType<typeof setTimeout>>();

  const run = (lane: Lane, hook = subscriptions.peek(lane.accountId, lane.webhookId)): void => {
    if (isStopped()) return;
    if (hook === null) return void load(lane);
    if (!hook) return abandon(lane);
    sendWaiting(lane, hook);
    const most = unwritten() < maxUnwritten ? claimable(lane.state, hook.row) : 0;
    if (most > 0) void refill(lane, most);
  };
  const sendWaiting = (lane: Lane, hook: Hook): void => {
    for (;;) {
      const step = nextStep(lane.state, hook.row, inFlight >= maxInFlight, performance.now());
      if (step.kind === "none") return;
      if (step.kind === "full") return void blocked.add(lane);
      if (step.kind === "wait") return later(lane, step.ms);
      lane.state = step.state;
      void sendOne(lane, hook, step.delivery);
    }
  };
  const sendOne = async (lane: Lane, hook: Hook, delivery: ClaimedDelivery): Promise<void> => {
    const mine = holding.get(delivery.id);
    if (!mine) {
      // Its lease was lost while it waited.
      lane.state = ended(lane.state);
      return;
    }
    inFlight++;
    await send(hook, delivery, mine);
    inFlight--;
    lane.state = ended(lane.state);
    run(lane);
    const [next] = blocked;
    if (next && blocked.delete(next)) run(next);
  };
  /** For a webhook that is not in memory: at first, and while messages of other processes cannot arrive. */
  const load = async (lane: Lane): Promise<void> => {
    if (loading.has(lane)) return;
    loading.add(lane);
    try {
      run(lane, await subscriptions.get(lane.accountId, lane.webhookId));
    } catch (error) {
      log.warn("webhooks cannot be read, trying again", { error });
      later(lane, pauseAfterErrorMs);
    }
    loading.delete(lane);
  };
  /** The webhook is off or gone: what waits for it is given back, to be cleared away. */
  const abandon = (lane: Lane): void => {
    lane.state = closed(lane.state);
    void holding.giveBack(lane);
    if (lane.state.inFlight === 0) forget(lane);
  };
  const refill = async (lane: Lane, most: number): Promise<void> => {
    if (await claim(lane, most)) run(lane);
    else later(lane, pauseAfterErrorMs);
  };
  const later = (lane: Lane, ms: number): void => {
    if (timers.has(lane)) return;
    const timer = setTimeout(() => {
      timers.delete(lane);
      run(lane);
    }, Math.ceil(ms));
    timers.set(lane, timer);
  };
  /** Forgets that the lane was to be looked at later. */
  const dropTimer = (lane: Lane): void => {
    clearTimeout(timers.get(lane));
    timers.delete(lane);
  };

  return {
    run: (lane: Lane): void => run(lane),
    dropTimer,
    dropTimers: (): void => [...timers.keys()].forEach(dropTimer),
    inFlight: () => inFlight,
  };
}
