/**
 * Runs jobs in this process: the poller finds what is due, the claimer claims it, runs execute it, and the settler
 * writes how it ended.
 */
import type { Log } from "../system/log.ts";
import type { HandleOptions, Run } from "./job.ts";
import { createClaimer } from "./job-claimer.ts";
import { createPoller } from "./job-poller.ts";
import { createRuns, defaultLeaseSeconds } from "./job-runs.ts";
import { createSettler } from "./job-settler.ts";
import type { JobStore, OrderKey } from "./job-store.ts";
import { createTimers } from "./job-timers.ts";
import { lookingFrom, markedDue, startCursor, type Handler, type Lane } from "./lane.ts";
import { nothingHeld, noTurns } from "./shares.ts";

export interface Needed {
  readonly jobStore: JobStore;
  readonly log: Log;
  /** Tells every process that jobs of this name may be due. */
  readonly wake: (name: string) => void;
  /** The maximum number of concurrent runs in this process, over all names. */
  readonly concurrency: number;
  readonly pollMs: number;
  /** How long `stop` waits for running jobs. */
  readonly graceMs: number;
}

/** Counts of this process since its start. */
export interface Counters {
  readonly running: number;
  readonly done: number;
  readonly failed: number;
  readonly retried: number;
}

const defaultConcurrency = 20;

export function createRunner({ jobStore, log, wake, concurrency, pollMs, graceMs }: Needed) {
  const lanes = new Map<string, Lane>();
  const unsettled = new Set<Run>();
  const counts = { done: 0, failed: 0, retried: 0 };
  let state: "idle" | "started" | "stopping" = "idle";
  const active = () => state === "started";

  const timers = createTimers(pollMs);
  const settled = (run: Run) => unsettled.delete(run);
  const settler = createSettler({ jobStore, log, wake, soon: timers.arm, counts, settled });
  const runs = createRuns({ jobStore, log, settler, runs: unsettled });
  const claimer = createClaimer({ jobStore, log, lanes, runs, settler, concurrency, active });
  const { poll } = createPoller({ jobStore, log, lanes, timers, claimer, active });

  return {
    names: () => [...lanes.keys()],
    counters: (): Counters => ({ running: runs.running(), ...counts }),
    handle(handler: Handler, options: HandleOptions): () => void {
      const { name } = handler;
      if (lanes.has(name)) throw new Error(`job "${name}" has a handler already`);
      const { concurrency: most = defaultConcurrency, leaseSeconds = defaultLeaseSeconds } = options;
      const lane: Lane = {
        handler,
        options,
        concurrency: most,
        leaseSeconds,
        held: nothingHeld(),
        turns: noTurns(),
        cursor: startCursor,
      };
      lanes.set(name, lane);
      timers.heartbeatWithin((leaseSeconds * 1000) / 4);
      claimer.claim();
      return () => lanes.get(name) === lane && lanes.delete(name);
    },
    wake(name: string) {
      const lane = lanes.get(name);
      if (lane) lane.cursor = markedDue(lane.cursor);
      claimer.claim();
    },
    lookFrom(name: string, at: Date) {
      const lane = lanes.get(name);
      if (lane) lane.cursor = lookingFrom(lane.cursor, at);
    },
    poll,
    promote: (keys: readonly OrderKey[]) => settler.promote(keys),
    start() {
      state = "started";
      timers.start({ poll, heartbeat: () => void runs.extendLeases() });
      poll();
    },
    async stop() {
      if (active()) {
        state = "stopping";
        await runs.stop(graceMs, claimer.underWay);
      }
      timers.stop();
      await settler.stop();
    },
  };
}
