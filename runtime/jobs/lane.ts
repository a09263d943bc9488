/**
 * Which jobs a claim asks for, and where it begins to look. Nothing here waits, writes or reads a clock.
 *
 * A claim asks for a name when jobs of it may be due: after a wake, a poll, or a batch that came back full. It begins to
 * look where the last one ended. A batch that was not full ends a second earlier: a transaction that was open meanwhile
 * may commit a job with an earlier time.
 */
import type { HandleOptions, JobInfo } from "./job.ts";
import type { Claim, ClaimedJob } from "./job-store.ts";

/** `run` is a method, so that a handler of any payload fits: its ref has typed the payload where it was enqueued. */
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
  running: number;
  cursor: Cursor;
}

export interface Cursor {
  /** Whether jobs may be due. */
  readonly due: boolean;
  /** Jobs due before this time are not looked for. */
  readonly since: Date;
  /** The earliest time that somebody asked to look from while the last claim was under way. */
  readonly asked: Date;
}

const claimBatch = 100;
const mostOfOneClaim = 4 * claimBatch;
// A transaction of another process that took longer than this has its jobs found by the poll.
const lateMs = 1000;
const never = new Date(8.64e15);

/** The first claim looks at everything. */
export const startCursor: Cursor = { due: true, since: new Date(0), asked: never };

export function markedDue(cursor: Cursor): Cursor {
  return { ...cursor, due: true };
}

/** Somebody says that a job is due at this time. */
export function lookingFrom(cursor: Cursor, at: Date): Cursor {
  return { ...cursor, since: earlier(cursor.since, at), asked: earlier(cursor.asked, at) };
}

/** When a claim begins: what somebody asks for from here on is for the next one. */
export function claiming(cursor: Cursor): Cursor {
  return { ...cursor, due: false, asked: never };
}

/** When that claim has given these jobs. A full batch says that there may be more. */
export function claimed(
  cursor: Cursor,
  { limit, since }: Pick<Claim, "limit" | "since">,
  jobs: readonly Pick<ClaimedJob, "dueAt">[],
): Cursor {
  if (jobs.length === 0) return cursor;
  const full = jobs.length === limit;
  const last = Math.max(...jobs.map(({ dueAt }) => dueAt.getTime()));
  const next = new Date(full ? last : last - lateMs);
  return { ...cursor, due: cursor.due || full, since: earlier(cursor.asked, next > since ? next : since) };
}

type Claimable = Pick<Lane, "concurrency" | "leaseSeconds" | "running" | "cursor"> & {
  readonly handler: Pick<Handler, "name">;
};

/** Shares `free` places out among the lanes with due jobs, a different one first in each turn. */
export function chooseClaims(lanes: readonly Claimable[], free: number, turn: number): Claim[] {
  const claims: Claim[] = [];
  let left = Math.min(mostOfOneClaim, free);
  for (let i = 0; i < lanes.length; i++) {
    const lane = lanes[(i + turn) % lanes.length];
    if (!lane?.cursor.due) continue;
    const limit = Math.min(lane.concurrency - lane.running, claimBatch, left);
    if (limit <= 0) continue;
    left -= limit;
    claims.push({ name: lane.handler.name, limit, leaseSeconds: lane.leaseSeconds, since: lane.cursor.since });
  }
  return claims;
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}
