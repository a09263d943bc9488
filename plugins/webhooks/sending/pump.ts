/** Keeps one lane going: reads its webhook, sends as much as its limits allow and asks for more. No SQL. */
import { createWriter, failpoint, hasPlace, leave, take, type SlotUsage, type Lease, type Leases } from "platform";
import type { Webhooks } from "../context.ts";
import type { WebhookRef } from "../signals.ts";
import { hookOf, peekHook, type Hook } from "../subscriptions/subscriptions.ts";
import { attempt, type Outcome } from "./attempt.ts";
import { judge, noteHealth } from "./health.ts";
import type { Lane } from "./lane.ts";
import * as states from "./lane.ts";
import type { ClaimedDelivery, SentRequest, DeliveryQueue, OrderKey, Settlement } from "./queue-store.ts";
import * as leaseStore from "./queue-store.ts";
import * as queueStore from "./queue-store.ts";

/** What a process that sends knows. */
export interface Sender {
  readonly webhooks: Webhooks;
  readonly queue: DeliveryQueue;
  /** Requests at once in this process, of all webhooks; as many again of accounts that have none. */
  readonly maxInFlight: number;
  readonly leaseSeconds: number;
  readonly isActive: () => boolean;
  /** Claims for the lanes that ask. */
  readonly ask: () => void;
  readonly leases: Leases<ClaimedDelivery>;
  readonly ends: Ends;
  /** By the id of the webhook. */
  readonly lanes: Map<number, Lane>;
  /** By the id of the delivery. */
  readonly held: Map<number, Lease<ClaimedDelivery>>;
  /** Of the bodies in memory. */
  readonly bytes: { all: number; readonly ofAccount: Map<number, number> };
  readonly inFlight: SlotUsage;
  /** Lanes that want more deliveries. */
  readonly asking: Set<Lane>;
  /** Lanes that could send if this process did not already send as much as it may. */
  readonly blocked: Set<Lane>;
  /** Lanes whose webhook is being read. */
  readonly loading: Set<Lane>;
  readonly timers: Map<Lane, ReturnType<typeof setTimeout>>;
}

const pauseAfterErrorMs = 500;
const clearMost = 1000;
const maxBytes = 64_000_000;

export function run(
  sender: Sender,
  lane: Lane,
  hook = peekHook(sender.webhooks.subscriptions, lane.accountId, lane.webhookId),
): void {
  if (!sender.isActive()) return;
  if (hook === null) return void load(sender, lane);
  if (!hook) return abandon(sender, lane);
  sendWaiting(sender, lane, hook);
  if (states.claimable(lane.state, hook.row) === 0) return;
  sender.asking.add(lane);
  sender.ask();
}

/** Whether more deliveries of this account may be read into memory: those of others keep no room from it. */
export function mayRead({ bytes }: Pick<Sender, "bytes">, accountId: number): boolean {
  return bytes.all < maxBytes || !bytes.ofAccount.has(accountId);
}

/** Forgets a delivery: another process has it, or its end is written. */
export function drop({ leases, held, bytes }: Sender, lease: Lease<ClaimedDelivery>): void {
  const { row } = lease;
  // One that is due again may have been claimed again.
  if (held.get(row.id) === lease) held.delete(row.id);
  if (!leases.drop(lease)) return;
  bytes.all -= row.bytes;
  const left = (bytes.ofAccount.get(row.accountId) ?? 0) - row.bytes;
  if (left > 0) bytes.ofAccount.set(row.accountId, left);
  else bytes.ofAccount.delete(row.accountId);
}

function sendWaiting(sender: Sender, lane: Lane, hook: Hook): void {
  for (;;) {
    const isFull = !hasPlace(sender.inFlight, lane.accountId, sender.maxInFlight);
    const step = states.nextStep(lane.state, hook.row, isFull, performance.now());
    if (step.kind === "none") return;
    if (step.kind === "full") return void sender.blocked.add(lane);
    if (step.kind === "wait") return later(sender, lane, step.ms);
    lane.state = step.state;
    void sendOne(sender, lane, hook, step.delivery);
  }
}

async function sendOne(sender: Sender, lane: Lane, hook: Hook, delivery: ClaimedDelivery): Promise<void> {
  const lease = sender.held.get(delivery.id);
  if (!lease) {
    // It was lost while it waited.
    lane.state = states.ended(lane.state);
    return;
  }
  const places = { ...delivery, share: null };
  take(sender.inFlight, places);
  await send(sender, lane, hook, lease);
  leave(sender.inFlight, places);
  lane.state = states.ended(lane.state);
  if (lane.state.waiting.length > 0) sender.blocked.add(lane);
  passOn(sender);
  run(sender, lane);
}

/** Gives a free place to the lane whose turn it is, and not to the one that has just left it. */
function passOn(sender: Sender): void {
  for (let next = nextBlocked(sender); next; next = nextBlocked(sender)) {
    const before = sender.inFlight.places;
    run(sender, next);
    // One that waits for its rate, or has nothing left, is no longer blocked, and leaves the place to the next one.
    if (sender.inFlight.places > before || sender.blocked.has(next)) return;
  }
}

/** Resolves when the receiver has answered, not only when that is written. */
async function send(sender: Sender, lane: Lane, hook: Hook, lease: Lease<ClaimedDelivery>): Promise<void> {
  const { accountId, webhookId, state } = lane;
  const counted = hook.row.rateLimit === null ? null : { accountId, webhookId, slot: state.slot };
  try {
    const outcome = await attempt(sender.webhooks, hook, lease.row, lease.controller.signal);
    failpoint("webhooks.answered");
    lease.isOver = true;
    lane.state = states.answered(lane.state, outcome, performance.now());
    sender.ends.settle({ hook, lease, outcome, counted });
  } catch {
    drop(sender, lease); // the process stops, or another one has it now
    if (!sender.isActive()) sender.ends.release(lease.row.id, counted);
  }
}

/** Of the lanes that wait for a place, the next one of the account that has the fewest. */
function nextBlocked({ blocked, inFlight }: Sender): Lane | undefined {
  let next: Lane | undefined;
  let fewest = Infinity;
  for (const lane of blocked) {
    const places = inFlight.accounts.get(lane.accountId)?.places ?? 0;
    if (places >= fewest) continue;
    next = lane;
    fewest = places;
  }
  if (next) blocked.delete(next);
  return next;
}

/** For a webhook that is not in memory: at first, and while messages of other processes cannot arrive. */
async function load(sender: Sender, lane: Lane): Promise<void> {
  const { loading, webhooks } = sender;
  if (loading.has(lane)) return;
  loading.add(lane);
  try {
    run(sender, lane, await hookOf(webhooks.subscriptions, lane.accountId, lane.webhookId));
  } catch (error) {
    webhooks.log.warn("webhooks cannot be read, trying again", { error });
    later(sender, lane, pauseAfterErrorMs);
  }
  loading.delete(lane);
}

/** The webhook is off or gone: what waits for it is given back, to be cleared away. */
function abandon(sender: Sender, lane: Lane): void {
  const ids = lane.state.waiting.map(({ id }) => id);
  lane.state = states.closed(lane.state);
  for (const id of ids) {
    const lease = sender.held.get(id);
    if (lease) drop(sender, lease);
  }
  if (ids.length > 0) void clearAway(sender, ids);
  if (lane.state.inFlight === 0) sender.lanes.delete(lane.webhookId);
}

async function clearAway({ queue, webhooks }: Sender, ids: readonly number[]): Promise<void> {
  try {
    await leaseStore.release(queue, ids);
    await queueStore.clear(queue.sql, clearMost);
  } catch (error) {
    // Their leases end by themselves, and leftovers are cleared away every hour.
    webhooks.log.warn("deliveries of a webhook that is off were not given back", { error });
  }
}

function later(sender: Sender, lane: Lane, ms: number): void {
  if (sender.timers.has(lane)) return;
  const timer = setTimeout(() => {
    sender.timers.delete(lane);
    run(sender, lane);
  }, Math.ceil(ms));
  sender.timers.set(lane, timer);
}

/** An attempt that is over. */
export interface FinishedAttempt {
  readonly hook: Hook;
  readonly lease: Lease<ClaimedDelivery>;
  readonly outcome: Outcome;
  readonly counted: SentRequest | null;
}

interface Options {
  readonly wake: (webhook: WebhookRef) => void;
  /** Called once an outcome is written, or found to be another process's to write. */
  readonly written: (lease: Lease<ClaimedDelivery>) => void;
}

export type Ends = ReturnType<typeof createEnds>;

const soonSeconds = 2;
const stopMs = 1000;

/** Writes down the outcomes of attempts, many in one statement, and lets go what waited for them. No SQL. */
export function createEnds(webhooks: Webhooks, queue: DeliveryQueue, { wake, written }: Options) {
  const writer = createWriter("deliveries", webhooks.log);
  const releases = new Map<number, SentRequest | null>();

  const settle = writer.list<FinishedAttempt & { readonly settlement: Settlement }>(async (batch) => {
    const settled = await leaseStore.settle(
      queue,
      batch.map(({ settlement }) => settlement),
    );
    for (const end of batch) {
      written(end.lease);
      if (settled.has(end.settlement.id)) after(end);
    }
  });
  const promote = writer.list<OrderKey>(async (keys) => {
    for (const webhook of await queueStore.promote(queue.sql, keys)) wake(webhook);
  });
  const after = ({
    hook,
    outcome,
    lease,
    settlement: { status, delaySeconds },
  }: FinishedAttempt & { settlement: Settlement }) => {
    const { accountId, id: webhookId } = hook.row;
    const { orderKey } = lease.row;
    // The poll notices longer waits in time.
    if (status === "pending" && delaySeconds < soonSeconds)
      setTimeout(() => wake({ accountId, webhookId }), delaySeconds * 1000 + 2);
    if (orderKey !== null && status !== "pending") promote({ webhookId, orderKey });
    noteHealth(webhooks, hook, outcome).catch((error: unknown) =>
      webhooks.log.warn("a webhook's health was not noted", { error }),
    );
  };

  return {
    promote,
    unwritten: writer.unwritten,
    settle(end: FinishedAttempt): void {
      const { lease, outcome, counted } = end;
      const { status: responseStatus, body: responseBody, error, durationMs, attemptedAt } = outcome;
      const answer = { responseStatus, responseBody, error, durationMs, attemptedAt, counted };
      settle({ ...end, settlement: { id: lease.row.id, ...judge(webhooks.waits, lease.row, outcome), ...answer } });
    },
    /** Gives back, at the end, what was not sent, or was cut off after it was counted. */
    release: (id: number, counted: SentRequest | null = null): void => void releases.set(id, counted),
    /** Resolves when everything is written that can be. */
    async stop(): Promise<void> {
      await Promise.race([writer.stop(), new Promise((resolve) => setTimeout(resolve, stopMs))]);
      const counted = [...releases.values()].flatMap((one) => one ?? []);
      // Their leases end by themselves.
      if (releases.size > 0) await leaseStore.release(queue, [...releases.keys()], counted).catch(() => {});
    },
  };
}
