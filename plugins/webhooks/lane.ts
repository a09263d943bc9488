/** What a process remembers of one webhook while it sends for it. */
import type { ClaimedDelivery } from "./queue-store.ts";

/** Later than anything is due. */
export const never = new Date(8.64e15);

export interface Lane {
  readonly accountId: number;
  readonly webhookId: number;
  inFlight: number;
  /** Claimed, and not sent yet. */
  readonly waiting: ClaimedDelivery[];
  claiming: boolean;
  /** Its webhook is being read. */
  loading: boolean;
  /** Whether the queue may have more. */
  more: boolean;
  /** Where claims begin to look: a poll finds what came late with an earlier time. */
  since: Date;
  /** The earliest time that somebody asked to look from while a claim was under way. */
  asked: Date;
  /** Its rate lets nothing go before (`performance.now()`). */
  notBefore: number;
  /** The receiver has asked to wait until then. */
  pausedUntil: number;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** Its last attempt ran out of time. */
  suspect: boolean;
}

export function newLane(accountId: number, webhookId: number): Lane {
  return {
    accountId,
    webhookId,
    inFlight: 0,
    waiting: [],
    claiming: false,
    loading: false,
    more: false,
    since: new Date(0),
    asked: never,
    notBefore: 0,
    pausedUntil: 0,
    timer: undefined,
    suspect: false,
  };
}
