/**
 * Decides which jobs a claim asks for, and where it starts looking. Nothing here waits, writes or reads a clock.
 *
 * A claim asks for a name when its jobs may be due: after a wake, a poll, or a full batch. It starts where the last
 * claim ended, or a second earlier if that batch was not full, because a transaction that was still open may have
 * committed a job with an earlier time. While somebody holds all the places that they may (shares.ts), it asks for the
 * first jobs of the others, by turns. So does every eighth claim of a backlog, which would else be worked off before
 * anything that came after it.
 */
import type { HandleOptions, JobInfo } from "./job.ts";
import type { Claim, ClaimedJob } from "./job-store.ts";
import { roomOf, type Full, type SlotUsage, type Turns } from "./shares.ts";

/**
 * `run` is a method so that a handler of any payload type fits: the job's ref typed the payload when it was enqueued.
 */
export interface Handler {
  readonly name: string;
  run(payload: unknown, job: JobInfo): Promise<void>;
}

/** The jobs of one name in this process. */
export interface Lane {
  readonly handler: Handler;
  readonly options: HandleOptions;
  readonly concurrency: number;
  readonly leaseSeconds: number;
  readonly held: SlotUsage;
  readonly turns: Turns;
  cursor: Cursor;
}

export interface Cursor {
  /** Whether jobs of this name may be due. */
  readonly due: boolean;
  /** Whether those who may take more places may have due jobs. */
  readonly others: boolean;
  /** Claims one after another that left jobs behind. */
  readonly backlog: number;
  /** A claim skips jobs due before this time. */
  readonly since: Date;
  /** The earliest time from which somebody asked to look while the last claim was running. */
  readonly asked: Date;
}

const claimBatch = 100;
const claimsOfBacklog = 7;
const mostOfOneClaim = 4 * claimBatch;
// The poll finds the jobs of another process's transaction that took longer than this.
const lateMs = 1000;
const never = new Date(8.64e15);

/** The first claim looks at everything. */
export const startCursor: Cursor = { due: true, others: true, backlog: 0, since: new Date(0), asked: never };

export function markedDue(cursor: Cursor): Cursor {
  return { ...cursor, due: true, others: true };
}

/** A place is free again, perhaps for somebody who had no more. */
export function freed(cursor: Cursor): Cursor {
  return { ...cursor, others: cursor.due };
}

/** A job is due at this time. */
export function lookingFrom(cursor: Cursor, at: Date): Cursor {
  return { ...cursor, since: earlier(cursor.since, at), asked: earlier(cursor.asked, at) };
}

/** A claim begins: requests from now on are for the next one. */
export function claiming(cursor: Cursor, { turns }: Pick<Claim, "turns"> = {}): Cursor {
  return turns ? { ...cursor, others: false, backlog: 0 } : { ...cursor, due: false, asked: never };
}

/** That claim has returned these jobs. After a full batch, or one that was `cut` for its size, there may be more. */
export function claimed(
  cursor: Cursor,
  { limit, since, turns }: Pick<Claim, "limit" | "since" | "turns">,
  jobs: readonly Pick<ClaimedJob, "dueAt">[],
  cut = false,
): Cursor {
  if (turns) return { ...cursor, others: cursor.others || cut || jobs.length > 0 };
  if (jobs.length === 0) return cut ? markedDue(cursor) : cursor;
  const full = cut || jobs.length === limit;
  const last = Math.max(...jobs.map(({ dueAt }) => dueAt.getTime()));
  const next = new Date(full ? last : last - lateMs);
  return {
    ...cursor,
    due: cursor.due || full,
    others: cursor.others || full,
    backlog: full ? cursor.backlog + 1 : 0,
    since: earlier(cursor.asked, next > since ? next : since),
  };
}

type Claimable = Pick<Lane, "concurrency" | "leaseSeconds" | "held" | "turns" | "cursor"> & {
  readonly handler: Pick<Handler, "name">;
};

/** Divides `free` places among the lanes with due jobs, starting with a different lane each turn. */
export function chooseClaims(lanes: readonly Claimable[], free: number, turn: number): Claim[] {
  const claims: Claim[] = [];
  let left = Math.min(mostOfOneClaim, free);
  for (let i = 0; i < lanes.length; i++) {
    const lane = lanes[(i + turn) % lanes.length];
    if (!lane?.cursor.due) continue;
    const { most, full } = roomOf(lane.held, lane.concurrency);
    const limit = Math.min(most, claimBatch, left);
    const isTurn = full.length > 0 ? lane.cursor.others : lane.cursor.backlog >= claimsOfBacklog;
    if (limit <= 0 || (full.length > 0 && !isTurn)) continue;
    left -= limit;
    const { leaseSeconds, cursor, handler, turns } = lane;
    const { last, shares } = turns;
    const others = full.length > 0 ? { last, shares, full, each: 1 } : { last, shares, full: busy(lane), each: limit };
    claims.push({ name: handler.name, limit, leaseSeconds, since: cursor.since, ...(isTurn && { turns: others }) });
  }
  return claims;
}

/** Those who have their turns in order: a claim by turns need not walk over what was theirs. */
function busy({ held, turns }: Pick<Lane, "held" | "turns">): Full[] {
  return [...new Set([...held.accounts.keys(), ...turns.recent])].map((accountId) => ({ accountId, share: null }));
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}
