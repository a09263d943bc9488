/**
 * The state of one webhook in the process that sends for it, and every change of that state: pure functions from one
 * state to the next. Times are `performance.now()`, except `since` and `asked`, which are the database's.
 */
import type { Outcome } from "./attempt.ts";
import type { ClaimedDelivery, ClaimRequest } from "./queue-store.ts";
import type { RatePeriod } from "../subscriptions/fields.ts";

export interface LaneState {
  readonly inFlight: number;
  /** Claimed, and not sent yet. */
  readonly waiting: readonly ClaimedDelivery[];
  readonly claiming: boolean;
  /** Whether the queue may have more. */
  readonly more: boolean;
  /** Where claims begin to look: a poll finds what came late with an earlier time. */
  readonly since: Date;
  /** The earliest time that somebody asked to look from while a claim was under way. */
  readonly asked: Date;
  /** When the last request was due by the webhook's rate; the next one is due an interval later. */
  readonly slot: number;
  /** The receiver has asked to wait until then. */
  readonly pausedUntil: number;
  /** Its last attempt ran out of time. */
  readonly suspect: boolean;
}

/** A webhook's state, by its name. Only `state` changes, and only to what a function of this file gives. */
export interface Lane {
  readonly accountId: number;
  readonly webhookId: number;
  state: LaneState;
}

/** The limits that the webhook's owner set. */
export interface Limits {
  readonly concurrency: number;
  readonly rateLimit: number | null;
  readonly ratePeriod: RatePeriod;
}

export type Step =
  | { readonly kind: "send"; readonly delivery: ClaimedDelivery; readonly state: LaneState }
  /** Nothing may be sent before so many milliseconds have passed. */
  | { readonly kind: "wait"; readonly ms: number }
  /** The process sends as much as it may. */
  | { readonly kind: "full" }
  /** Nothing waits, or all slots are taken. */
  | { readonly kind: "none" };

/** Later than anything is due. */
export const never = new Date(8.64e15);

const claimMost = 100;
const bytesOfPlace = 250_000;
// A timer fires late by so much; the rate is reached all the same.
const rateSlackMs = 20;
// A delivery that is due earlier than the last claim was written by a slower transaction, or by another clock.
const lateMs = 1000;
// The delivery itself waits as long as the receiver asks; the webhook's other deliveries ask it again after this time.
const maxPauseSeconds = 60;

export const emptyLane: LaneState = {
  inFlight: 0,
  waiting: [],
  claiming: false,
  more: false,
  since: new Date(0),
  asked: never,
  slot: -Infinity,
  pausedUntil: 0,
  suspect: false,
};

/** The queue may have more for it, due from `since`. */
export function woken(state: LaneState, since: Date = never): LaneState {
  return { ...state, more: true, since: earlier(state.since, since), asked: earlier(state.asked, since) };
}

/** The webhook is off or gone. */
export function closed(state: LaneState): LaneState {
  return { ...state, more: false, waiting: [] };
}

export function claimBegun(state: LaneState): LaneState {
  return { ...state, claiming: true, more: false, asked: never };
}

/** The process stops: it does not send what it has claimed. */
export function claimDropped(state: LaneState): LaneState {
  return { ...state, claiming: false };
}

export function claimFailed(state: LaneState): LaneState {
  return { ...state, claiming: false, more: true };
}

/**
 * Says where the next claim begins to look, whether there may be more, and what the rate has to take into account. There
 * may be more after a claim that was `cut` for its size.
 */
export function claimEnded(
  state: LaneState,
  rows: readonly Pick<ClaimedDelivery, "dueAt" | "sentMsAgo" | "sentHere">[],
  { most, since }: Pick<ClaimRequest, "most" | "since">,
  now: number,
  cut = false,
): LaneState {
  const last = Math.max(since.getTime(), ...rows.map(({ dueAt }) => dueAt.getTime()));
  const full = cut || rows.length === most;
  const next = new Date(full ? last : Math.max(since.getTime(), last - lateMs));
  const slot = knownSlot(state.slot, rows[0], now);
  return { ...state, claiming: false, since: earlier(next, state.asked), more: state.more || full, slot };
}

export function queued(state: LaneState, rows: readonly ClaimedDelivery[]): LaneState {
  return { ...state, waiting: [...state.waiting, ...rows] };
}

/** Another process has this delivery by now. */
export function lost(state: LaneState, id: number): LaneState {
  return { ...state, waiting: state.waiting.filter((delivery) => delivery.id !== id) };
}

/** What to do next. A receiver whose last attempt ran out of time gets one request at once. */
export function nextStep(state: LaneState, limits: Limits, processIsFull: boolean, now: number): Step {
  const [delivery] = state.waiting;
  if (!delivery || state.inFlight >= slotsOf(state, limits)) return { kind: "none" };
  if (processIsFull) return { kind: "full" };
  const due = state.slot + intervalMs(limits);
  const earliest = Math.max(due, state.pausedUntil);
  if (now < earliest) return { kind: "wait", ms: earliest - now };
  const slot = Math.max(due, now - rateSlackMs);
  return {
    kind: "send",
    delivery,
    state: { ...state, waiting: state.waiting.slice(1), slot, inFlight: state.inFlight + 1 },
  };
}

/**
 * How many to claim now; 0 = none. As many wait here as are sent at once, so that no slot is empty during a claim.
 */
export function claimable(state: LaneState, limits: Limits): number {
  if (!state.more || state.claiming) return 0;
  const waiting = state.waiting.reduce((sum, { bytes }) => sum + placesOf(bytes), 0);
  const room = (state.suspect ? 1 : 2 * limits.concurrency) - state.inFlight - waiting;
  return Math.max(0, Math.min(room, claimMost));
}

/** The receiver has answered, or has not answered in time. */
export function answered(
  state: LaneState,
  { timedOut, status, retryAfterSeconds }: Pick<Outcome, "timedOut" | "status" | "retryAfterSeconds">,
  now: number,
): LaneState {
  const asksToWait = status === 429 || status === 503;
  const pauseMs = Math.min(retryAfterSeconds ?? 0, maxPauseSeconds) * 1000;
  return { ...state, suspect: timedOut, pausedUntil: asksToWait ? now + pauseMs : state.pausedUntil };
}

/** A request is over, whatever its outcome. */
export function ended(state: LaneState): LaneState {
  return { ...state, inFlight: state.inFlight - 1 };
}

/** A person asks for it: even a receiver that asked to wait is called again. */
export function urged(state: LaneState): LaneState {
  return { ...state, pausedUntil: 0 };
}

/** Lanes by turns of their accounts, the next one after `last` first. */
export function* byTurns<L extends Pick<Lane, "accountId">>(lanes: Iterable<L>, last: number): Generator<L> {
  const ofAccounts = [...Map.groupBy(lanes, ({ accountId }) => accountId)].toSorted(([a], [b]) => a - b);
  const next = ofAccounts.findIndex(([accountId]) => accountId > last);
  const round = next < 0 ? ofAccounts : [...ofAccounts.slice(next), ...ofAccounts.slice(0, next)];
  const longest = Math.max(0, ...round.map(([, own]) => own.length));
  for (let n = 0; n < longest; n++)
    for (const [, own] of round) {
      const lane = own[n];
      if (lane) yield lane;
    }
}

/** Large ones take several places of those that wait. */
function placesOf(bytes: number): number {
  return 1 + Math.floor(bytes / bytesOfPlace);
}

function slotsOf({ suspect }: LaneState, { concurrency }: Limits): number {
  return suspect ? 1 : concurrency;
}

/** The limits as they are now: a change of the rate holds for the next request. */
function intervalMs({ rateLimit, ratePeriod }: Limits): number {
  return rateLimit === null ? 0 : (ratePeriod === "second" ? 1000 : 60_000) / rateLimit;
}

/** The slot of the last request, wherever it was sent. A request of this process is remembered here more exactly. */
function knownSlot(
  slot: number,
  last: Pick<ClaimedDelivery, "sentMsAgo" | "sentHere"> | undefined,
  now: number,
): number {
  if (!last || last.sentMsAgo === null || (last.sentHere && slot > -Infinity)) return slot;
  // Not in the future, whatever the database's clock says.
  return Math.max(slot, now - Math.max(0, last.sentMsAgo));
}

function earlier(a: Date, b: Date): Date {
  return b < a ? b : a;
}
