/** One replica: whether it may be asked, and the reads that it answers. */
import { databaseFault, laneOf, type Sql } from "../db.ts";
import type { Log } from "../log.ts";
import { wordAt, type Position, type Watched } from "./primary.ts";
import { createProgress } from "./progress.ts";

/** `ready`, or why it is not asked. */
export type ReplicaState =
  | "ready"
  | "it does not answer"
  | "it is a primary"
  | "it leads through a pooler"
  | "it does not follow this primary"
  | "it is behind";

export interface ReplicaFacts {
  readonly name: string;
  readonly state: ReplicaState;
  readonly lagBytes: number;
  readonly lagSeconds: number;
  readonly reads: number;
}

interface Needed {
  readonly name: string;
  /** Opens the pool for reads; it calls `onClose` after each of its connections has closed. */
  readonly open: (onClose: () => void) => Sql;
  /** Opens a pool of one connection, which asks how far it is. */
  readonly openWatcher: (onClose: () => void) => Sql;
  /** Asks for a look at it, at once. */
  readonly lookSoon: () => void;
  readonly log: Log;
  /** How long a read waits for it to be up to date. */
  readonly waitMs: number;
}

export type Replica = ReturnType<typeof createReplica>;

export function createReplica({ name, open, openWatcher, lookSoon, log, waitMs }: Needed) {
  const closed = () => {
    progress.reset();
    followed = undefined;
    if (state === "ready") lookSoon();
  };
  const watcher = openWatcher(() => closed());
  const progress = createProgress(watcher);
  const reads = createReads(open(() => closed()));
  let state: ReplicaState = "it does not answer";
  /** The timeline of the primary whose word has arrived here. */
  let followed: string | undefined;
  /** What a read waited for in vain: none waits again before it is there. */
  let missed = -1;
  let lag = { bytes: 0, seconds: 0 };

  const become = (next: ReplicaState, error?: unknown) => {
    if (next === state) return;
    state = next;
    const facts = { replica: name, ...(error !== undefined && { error }) };
    if (next === "ready") log.info("reads go to the replica", facts);
    else log.warn(`no reads go to the replica: ${next}`, facts);
  };
  const leave = (error: unknown) => {
    become("it does not answer", error);
    closed();
    reads.abandon();
  };
  const judge = async ({ isStandby, isPooled }: Looked, primary: Watched): Promise<ReplicaState> => {
    if (!isStandby) return "it is a primary";
    if (isPooled) return "it leads through a pooler";
    if (followed !== primary.timeline) {
      missed = -1;
      if (!(await progress.arrives(primary.lsn, waitMs))) return "it is behind";
      if ((await wordAt(watcher)) !== primary.word) return "it does not follow this primary";
      followed = primary.timeline;
    }
    return progress.has(missed) ? "ready" : "it is behind";
  };

  return {
    isReady: () => state === "ready",
    follows: ({ timeline }: Position) => state === "ready" && followed === timeline,
    has: progress.has,
    facts: (): ReplicaFacts => ({ name, state, lagBytes: lag.bytes, lagSeconds: lag.seconds, reads: reads.count() }),

    /** Waits until it has replayed what the primary had written up to there; false if that takes too long. */
    async reaches(lsn: number): Promise<boolean> {
      if (await progress.arrives(lsn, waitMs)) return true;
      missed = Math.max(missed, lsn);
      if (state === "ready") become("it is behind");
      return false;
    },

    /** Undefined if it could not answer: ask the primary. */
    async read<T>(lane: string, run: (sql: Sql) => Promise<T>): Promise<{ readonly value: T } | undefined> {
      const before = progress.resets();
      try {
        const value = await reads.run(lane, run);
        // One that was restarted meanwhile may not have had what it had before.
        return before === progress.resets() ? { value } : undefined;
      } catch (error) {
        const kind = state === "it does not answer" ? "gone" : faultOf(error);
        if (kind === "its own") throw error;
        log.debug("a read failed at the replica", { replica: name, error });
        if (kind === "gone") leave(error);
        return undefined;
      }
    },

    /** Looks whether it may be asked; `primary` is what was seen there just before. */
    async look(primary: Watched): Promise<void> {
      try {
        const looked = await lookAt(watcher);
        await progress.look();
        const bytes = progress.behind(primary.lsn);
        lag = { bytes, seconds: bytes === 0 ? 0 : looked.seconds };
        become(await judge(looked, primary));
      } catch (error) {
        leave(error);
      }
    },

    async stop(): Promise<void> {
      await Promise.all([reads.stop(), watcher.end({ timeout: 0 })]);
    },
  };
}

/** The reads under way, each in the lane of its plugin. */
function createReads(pool: Sql) {
  const lanes = new Map<string, Sql>();
  const underWay = new Set<(reason: Error) => void>();
  let count = 0;
  return {
    count: () => count,
    async run<T>(lane: string, run: (sql: Sql) => Promise<T>): Promise<T> {
      const sql = lanes.get(lane) ?? laneOf(pool, lane);
      lanes.set(lane, sql);
      const abandoned = Promise.withResolvers<never>();
      underWay.add(abandoned.reject);
      try {
        const value = await Promise.race([run(sql), abandoned.promise]);
        count += 1;
        return value;
      } finally {
        underWay.delete(abandoned.reject);
      }
    },
    /** A server that stands still would keep them waiting. */
    abandon(): void {
      for (const reject of underWay) reject(new Error("the replica does not answer"));
    },
    stop: () => pool.end({ timeout: 2 }),
  };
}

interface Looked {
  readonly isStandby: boolean;
  /** Its sessions outlive the server behind it. */
  readonly isPooled: boolean;
  readonly seconds: number;
}

async function lookAt(sql: Sql): Promise<Looked> {
  const rows = await sql<{ isStandby: boolean; pid: number; seconds: number }[]>`
    select pg_is_in_recovery() as is_standby, pg_backend_pid() as pid,
      coalesce(greatest(extract(epoch from now() - pg_last_xact_replay_timestamp()), 0), 0)::float8 as seconds`;
  const [row] = rows;
  if (!row) throw new Error("the replica does not say what it is");
  return { ...row, isPooled: row.pid !== rows.state.pid };
}

/** They concern one read and not the next: what it looked at was removed, there were too many, or it wrote. */
const passing = new Set(["40001", "40P01", "25006", "53200", "POOL_TIMEOUT", "POOL_FULL"]);
/** It took longer than a statement may: so it would at the primary. */
const timeLimit = "57014";

/** Whether the read itself is at fault, or the replica: this once, or since it is gone. */
function faultOf(error: unknown): "its own" | "passing" | "gone" {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (databaseFault(error) !== "unavailable" || code === timeLimit) return "its own";
  return passing.has(code) ? "passing" : "gone";
}
