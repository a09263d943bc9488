/**
 * Claims due jobs and starts them. One claim is under way at a time and asks for all names that may have due jobs, so
 * the busier this process is, the larger its batches.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../system/log.ts";
import type { Runs } from "./job-runs.ts";
import type { Settler } from "./job-settler.ts";
import type { Claim, ClaimedJob, JobStore } from "./job-store.ts";
import { chooseClaims, claimed, claiming, freed, markedDue, type Lane } from "./lane.ts";
import { tookTurns } from "./shares.ts";
import { readBounds } from "../base/read-bounds.ts";

interface Needed {
  readonly jobStore: Pick<JobStore, "claim">;
  readonly log: Log;
  readonly lanes: ReadonlyMap<string, Lane>;
  readonly runs: Pick<Runs, "running" | "start">;
  readonly settler: Pick<Settler, "unwritten">;
  /** The maximum number of concurrent runs in this process, over all names. */
  readonly concurrency: number;
  /** Whether this process may claim. */
  readonly active: () => boolean;
}

export type Claimer = ReturnType<typeof createClaimer>;

// No more claims while this many ends are unwritten: the database is slow or unavailable.
const maxUnwritten = 1000;
const pauseAfterErrorMs = 500;

export function createClaimer({ jobStore, log, lanes, runs, settler, concurrency, active }: Needed) {
  let underWay = false;
  let queued = false;
  let turn = 0;

  const claim = async () => {
    queued = false;
    if (underWay || !active() || settler.unwritten() >= maxUnwritten) return;
    const claims = chooseClaims([...lanes.values()], concurrency - runs.running(), turn++);
    if (claims.length === 0) return;
    underWay = true;
    for (const given of claims) change(lanes.get(given.name), (cursor) => claiming(cursor, given));
    try {
      startAll(await jobStore.claim(claims), claims);
    } catch (error) {
      log.warn("claiming jobs failed, trying again", { error });
      for (const { name } of claims) change(lanes.get(name), markedDue);
      await sleep(pauseAfterErrorMs);
    }
    underWay = false;
    claimSoon();
  };
  /** Jobs that end in the same tick cause one claim. */
  const claimSoon = () => {
    if (queued || underWay) return;
    queued = true;
    setImmediate(() => void claim());
  };
  const startAll = (jobs: readonly ClaimedJob[], claims: readonly Claim[]) => {
    const cut = jobs.reduce((sum, { bytes }) => sum + bytes, 0) >= readBounds.pageBytes;
    for (const given of claims) {
      const own = jobs.filter(({ name }) => name === given.name);
      const lane = lanes.get(given.name);
      change(lane, (cursor) => claimed(cursor, given, own, cut));
      if (lane && given.turns) tookTurns(lane.turns, own);
      else if (lane) lane.turns.recent = new Set(own.map(({ accountId }) => accountId ?? 0));
    }
    for (const job of jobs)
      void runs.start(job, lanes.get(job.name)).then(() => {
        change(lanes.get(job.name), freed);
        claimSoon();
      });
  };

  return { claim: () => void claim(), underWay: () => underWay };
}

/** A lane may be gone: its handler has been removed meanwhile. */
function change(lane: Lane | undefined, to: (cursor: Lane["cursor"]) => Lane["cursor"]): void {
  if (lane) lane.cursor = to(lane.cursor);
}
