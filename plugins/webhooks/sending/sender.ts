/**
 * Sends what is in the queue. Each webhook has a lane of its own: at most so many requests at once, at its own rate. A
 * receiver that hangs holds the slots of its lane and no others, and after its first timeout one slot only. Claims,
 * leases, polls and the writing of ends are those of the platform's queue of jobs, over the table of deliveries.
 */
import { createClaims, createLeases, createPolls, failpoint, nothingHeld, readBounds, untilTrue } from "platform";
import type { Lease } from "platform";
import type { Webhooks } from "../context.ts";
import type { WebhookRef } from "../signals.ts";
import { peekHook } from "../subscriptions/subscriptions.ts";
import { createEnds, drop, mayRead, run, type Sender } from "./pump.ts";
import * as states from "./lane.ts";
import { byTurns, emptyLane, type Lane } from "./lane.ts";
import * as leaseStore from "./queue-store.ts";
import type { ClaimedDelivery } from "./queue-store.ts";
import * as queueStore from "./queue-store.ts";

interface Options {
  /** Requests at once in this process, of all webhooks. */
  readonly maxInFlight: number;
  readonly leaseSeconds: number;
}

interface LaneClaim extends leaseStore.ClaimRequest {
  readonly lane: Lane;
}

const pollMs = 1000;
const upkeepMs = 30_000;
// Counted from the beginning of the stop; requests and jobs have about as long.
const graceMs = 6000;
const lanesPerClaim = 100;
// Claims rest while so many outcomes are not written: the database is slow or away.
const maxUnwritten = 2000;
const what = "deliveries";

export function createSender(webhooks: Webhooks, { maxInFlight, leaseSeconds }: Options) {
  const { sql, log } = webhooks;
  const queue = { sql, worker: crypto.randomUUID() };
  let lastAccount = 0;
  let restedAt = 0;

  const polls = createPolls({
    what,
    log,
    pollMs,
    async look() {
      for (const webhook of await queueStore.due(sql)) wake(webhook, webhook.dueAt);
      // Their webhook may have been switched off while they wait for its rate.
      for (const lane of sender.lanes.values()) if (lane.state.waiting.length > 0) run(sender, lane);
    },
    heartbeat: () => leases.extend(),
    upkeepMs,
    upkeep: {
      now: () => queueStore.now(sql),
      setBack: () => queueStore.setBack(sql, leaseSeconds),
      run: async () => sender.ends.promote(...(await queueStore.parkedHeads(sql))),
    },
  });
  const leases = createLeases<ClaimedDelivery>({
    what,
    log,
    extend: (held) => leaseStore.extend(queue, held, leaseSeconds),
    lost(lease) {
      drop(sender, lease);
      const lane = sender.lanes.get(lease.row.webhookId);
      if (lane) lane.state = states.lost(lane.state, lease.row.id);
    },
  });
  const claims = createClaims<LaneClaim, ClaimedDelivery>({
    what,
    log,
    choose: () => (polls.isActive() && sender.ends.unwritten() < maxUnwritten ? chooseWants(sender, lastAccount) : []),
    claim: (wants) => leaseStore.claim(queue, wants, leaseSeconds),
    took(rows, wants) {
      if (rows.length > 0) failpoint("webhooks.delivery-claimed");
      const cut = rows.reduce((sum, { bytes }) => sum + bytes, 0) >= readBounds.pageBytes;
      for (const want of wants) {
        const own = rows.filter(({ webhookId }) => webhookId === want.webhookId);
        if (own.length > 0 || !cut) lastAccount = want.lane.accountId;
        takeRows(sender, want, own, cut);
      }
    },
    failed(wants) {
      for (const { lane } of wants) {
        lane.state = states.claimFailed(lane.state);
        sender.asking.add(lane);
      }
    },
  });
  const wake = ({ accountId, webhookId }: WebhookRef, since?: Date): void => {
    if (!polls.isActive()) return;
    const lane = sender.lanes.get(webhookId) ?? { accountId, webhookId, state: emptyLane };
    sender.lanes.set(webhookId, lane);
    lane.state = states.woken(lane.state, since);
    run(sender, lane);
  };
  const ends = createEnds(webhooks, queue, {
    wake,
    written(lease) {
      drop(sender, lease);
      claims.soon();
    },
  });
  const sender: Sender = {
    webhooks,
    queue,
    maxInFlight,
    leaseSeconds,
    isActive: polls.isActive,
    ask: claims.soon,
    leases,
    ends,
    lanes: new Map(),
    held: new Map(),
    bytes: { all: 0, ofAccount: new Map() },
    inFlight: nothingHeld(),
    asking: new Set(),
    blocked: new Set(),
    loading: new Set(),
    timers: new Map(),
  };

  /** Starts nothing new; what is under way may end. */
  const rest = (): void => {
    if (!polls.isActive()) return;
    polls.rest();
    restedAt = performance.now();
    for (const timer of sender.timers.values()) clearTimeout(timer);
    for (const lane of sender.lanes.values()) for (const { id } of lane.state.waiting) giveBack(sender, id);
  };
  return {
    wake,
    /** A person asks for it: even a receiver that asked to wait is called again. */
    urge(webhook: WebhookRef): void {
      const lane = sender.lanes.get(webhook.webhookId);
      if (lane) {
        lane.state = states.urged(lane.state);
        clearTimeout(sender.timers.get(lane));
        sender.timers.delete(lane);
      }
      wake(webhook);
    },
    begin(): void {
      polls.heartbeatWithin((leaseSeconds * 1000) / 4);
      polls.start();
    },
    rest,
    /** Waits a while for what is under way, and releases what has not ended. */
    async stop(): Promise<void> {
      rest();
      const isIdle = () => sender.inFlight.places === 0 && !claims.underWay();
      await untilTrue(isIdle, restedAt + graceMs - performance.now());
      await polls.stop();
      leases.abort();
      await untilTrue(isIdle, 1000);
      await ends.stop();
    },
  };
}

/** Lanes that want more, by turns of their accounts; while those of others fill the memory, of accounts that have none. */
function chooseWants(sender: Sender, lastAccount: number): LaneClaim[] {
  const { asking, webhooks } = sender;
  const wants: LaneClaim[] = [];
  for (const lane of byTurns(asking, lastAccount)) {
    if (wants.length === lanesPerClaim) break;
    if (!mayRead(sender, lane.accountId)) continue;
    asking.delete(lane);
    const hook = peekHook(webhooks.subscriptions, lane.accountId, lane.webhookId);
    const most = hook ? states.claimable(lane.state, hook.row) : 0;
    if (most === 0) {
      if (!hook) run(sender, lane);
      continue;
    }
    wants.push({ lane, webhookId: lane.webhookId, most, since: lane.state.since });
    lane.state = states.claimBegun(lane.state);
  }
  return wants;
}

/** Puts what was claimed into its lane. */
function takeRows(sender: Sender, want: LaneClaim, rows: readonly ClaimedDelivery[], cut: boolean): void {
  const { lane } = want;
  if (!sender.isActive()) {
    lane.state = states.claimDropped(lane.state);
    for (const { id } of rows) sender.ends.release(id);
    return;
  }
  lane.state = states.claimEnded(lane.state, rows, want, performance.now(), cut);
  const { held, bytes } = sender;
  const fresh = rows.filter(({ id }) => held.get(id)?.isOver ?? true); // otherwise its lease ended, and it is under way here
  for (const row of fresh) {
    held.set(row.id, sender.leases.hold(row, sender.leaseSeconds));
    bytes.all += row.bytes;
    bytes.ofAccount.set(row.accountId, (bytes.ofAccount.get(row.accountId) ?? 0) + row.bytes);
  }
  lane.state = states.queued(lane.state, fresh);
  run(sender, lane);
}

function giveBack(sender: Sender, id: number): void {
  sender.ends.release(id);
  const lease: Lease<ClaimedDelivery> | undefined = sender.held.get(id);
  if (lease) drop(sender, lease);
}
