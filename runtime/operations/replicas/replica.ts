/** One replica: whether it may be asked, and the reads that it answers. */
import { codeOf } from "../../base/values.ts";
import { databaseFault, serverName, type Reader, type Sql, type PoolOptions, type Tx } from "../../db/db.ts";
import type { Log } from "../../system/log.ts";
import { wordAt, wordKey, type Position, type Watched } from "./primary.ts";
import { createProgress, longestPauseMs } from "./progress.ts";

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

interface ReplicaOptions {
  readonly name: string;
  /** Opens the pool for reads. */
  readonly open: (on: OnConnections) => Sql;
  /** Opens a pool of one connection, which asks how far it is. */
  readonly openWatcher: (on: OnConnections) => Sql;
  /** Asks for a look at it, at once. */
  readonly lookSoon: () => void;
  readonly log: Log;
  /** How long a read waits for it to be up to date. */
  readonly waitMs: number;
  /** Called for each read that waits for what the primary had written up to there. */
  readonly onWait: (lsn: number) => void;
}

export type Replica = ReturnType<typeof createReplica>;

export function createReplica({ name, open, openWatcher, lookSoon, log, waitMs, onWait }: ReplicaOptions) {
  const forget = () => {
    progress.reset();
    followed = undefined;
    if (state === "ready") lookSoon();
  };
  const servers = createServers(forget);
  const watcher = openWatcher(servers.on);
  const progress = createProgress(watcher);
  const reads = createReads(() => open(servers.on));
  const several = createSeveral();
  let state: ReplicaState = "it does not answer";
  /** The primary whose word has arrived here. */
  let followed: Watched | undefined;
  /** What a read waited for in vain: none waits again before it is there. */
  let missed = -1;
  let lag = { bytes: 0, seconds: 0 };
  let count = 0;

  const become = (next: ReplicaState, error?: unknown) => {
    if (next === state) return;
    state = next;
    const facts = { replica: name, ...(error !== undefined && { error }) };
    if (next === "ready") log.info("reads go to the replica", facts);
    else log.warn(`no reads go to the replica: ${next}`, facts);
    if (next !== "ready" && next !== "it is behind") void reads.renew();
  };
  const leave = (error: unknown) => {
    become("it does not answer", error);
    forget();
    reads.abandon();
  };
  const judge = async ({ isStandby, isPooled }: ReplicaStatus, primary: Watched): Promise<ReplicaState> => {
    if (isPooled) return "it leads through a pooler";
    if (servers.areSeveral()) {
      // Each read looks where it has come to.
      followed = primary;
      return "ready";
    }
    if (!isStandby) return "it is a primary";
    if (followed?.timeline !== primary.timeline) {
      missed = -1;
      if (!(await progress.arrives(primary.lsn, waitMs))) return "it is behind";
      if ((await wordAt(watcher)) !== primary.word) return "it does not follow this primary";
      followed = primary;
    }
    return progress.has(missed) ? "ready" : "it is behind";
  };
  /** Waits until it has replayed what the primary had written up to there; false if that takes too long. */
  const reaches = async (lsn: number): Promise<boolean> => {
    if (progress.has(lsn)) return true;
    onWait(lsn);
    if (await progress.arrives(lsn, waitMs)) return true;
    missed = Math.max(missed, lsn);
    if (state === "ready") become("it is behind");
    return false;
  };
  const readAtOne = async <T>(lane: string, { lsn }: Position, run: (on: Reader) => Promise<T>) => {
    if (!(await reaches(lsn))) return "behind";
    if (servers.areSeveral()) return "failed";
    const before = progress.resets();
    const value = await reads.run(lane, run);
    // One that was restarted meanwhile may not have had what it had before.
    return before === progress.resets() ? { value } : "failed";
  };
  const readAtSeveral = async <T>(lane: string, { lsn }: Position, run: (on: Reader) => Promise<T>) => {
    const target = { lsn, word: followed?.word ?? "", withinMs: waitMs, onWait: () => onWait(lsn) };
    return reads.run(lane, (sql) => several.read(sql, target, run));
  };

  return {
    isReady: () => state === "ready",
    follows: ({ timeline }: Position) => state === "ready" && followed?.timeline === timeline,
    /** Whether it is not known to be behind. */
    has: (lsn: number) => progress.has(lsn) || servers.areSeveral(),
    facts: (): ReplicaFacts => ({ name, state, lagBytes: lag.bytes, lagSeconds: lag.seconds, reads: count }),

    /** Why, if it could not answer: ask the primary. */
    async read<T>(lane: string, position: Position, run: (on: Reader) => Promise<T>) {
      try {
        const read = servers.areSeveral() ? readAtSeveral : readAtOne;
        const answer = await read(lane, position, run);
        if (typeof answer === "object") count += 1;
        return answer;
      } catch (error) {
        const kind = state === "it does not answer" ? "gone" : faultOf(error);
        if (kind === "its own") throw error;
        log.debug("a read failed at the replica", { replica: name, error });
        // Of several servers the others may be there.
        if (kind === "gone" && !servers.areSeveral()) leave(error);
        return "failed";
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

interface ReplicaStatus {
  readonly isStandby: boolean;
  /** Its sessions outlive the server behind it. */
  readonly isPooled: boolean;
  readonly seconds: number;
}

async function lookAt(sql: Sql): Promise<ReplicaStatus> {
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
  const code = codeOf(error);
  if (databaseFault(error) !== "unavailable" || code === timeLimit) return "its own";
  return passing.has(code) ? "passing" : "gone";
}

/** To which servers the open connections of one address lead: a proxy, or a name of several hosts, leads to several. */
type OnConnections = Required<Pick<PoolOptions, "onClose" | "onServer">>;

/** `forget` what is known of the server: it may be another one now, or one of several. */
function createServers(forget: () => void) {
  const servers = new Map<number, string>();
  const areSeveral = () => new Set(servers.values()).size > 1;
  const on: OnConnections = {
    onServer(connection, server) {
      const wereSeveral = areSeveral();
      servers.set(connection, server);
      if (areSeveral() && !wereSeveral) forget();
    },
    onClose(connection) {
      servers.delete(connection);
      if (!areSeveral()) forget();
    },
  };
  return { on, areSeveral };
}

// The reads under way at a replica, each in the lane of its plugin.

const stopSeconds = 2;

function createReads(open: () => Sql) {
  const lanes = new Map<string, Sql>();
  let pool = open();
  const underWay = new Set<(reason: Error) => void>();
  return {
    async run<T>(lane: string, run: (sql: Sql) => Promise<T>): Promise<T> {
      const sql = lanes.get(lane) ?? pool.lane(lane);
      lanes.set(lane, sql);
      const abandoned = Promise.withResolvers<never>();
      underWay.add(abandoned.reject);
      try {
        return await Promise.race([run(sql), abandoned.promise]);
      } finally {
        underWay.delete(abandoned.reject);
      }
    },
    /** A server that stands still would keep them waiting. */
    abandon(): void {
      for (const reject of underWay) reject(new Error("the replica does not answer"));
    },
    /** Gives up its connections: nobody may need them for long, and a primary counts them. */
    async renew(): Promise<void> {
      const old = pool;
      pool = open();
      lanes.clear();
      await old.end({ timeout: stopSeconds });
    },
    stop: () => pool.end({ timeout: stopSeconds }),
  };
}

/*
 * Reads at an address that leads to several servers: how far one of them is says nothing of another. So each read is a
 * transaction, which asks its own server first.
 */

/** A server that is asked where it is answers at once, or it stands still. */
const silenceMs = 2_000;

interface ReadTarget {
  readonly lsn: number;
  /** Of the primary that the server must follow. */
  readonly word: string;
  readonly withinMs: number;
  /** Called once, if it is not there yet. */
  readonly onWait: () => void;
}

interface ServerPosition {
  readonly isStandby: boolean;
  readonly lsn: number;
  readonly word: string | null;
  readonly server: string;
}

function createSeveral() {
  /** What was waited for in vain, by server: nobody waits there again before it is there. */
  const missed = new Map<string, number>();

  const isThere = async (tx: Tx, { lsn, word, withinMs, onWait }: ReadTarget): Promise<boolean> => {
    const until = performance.now() + withinMs;
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const found = await look(tx);
      if (!found.isStandby) return false;
      if (found.lsn >= lsn) return found.word === word;
      if (pauseMs === 1) onWait();
      const isInVain = (missed.get(found.server) ?? -1) > found.lsn;
      if (isInVain || performance.now() >= until) {
        if (missed.size >= 100) missed.clear();
        missed.set(found.server, lsn);
        return false;
      }
      await new Promise((resolve) => void setTimeout(resolve, pauseMs));
    }
  };

  return {
    /** Why, if the server that it came to is not up to date in time, is no replica, or does not answer. */
    async read<T>(sql: Sql, target: ReadTarget, run: (tx: Tx) => Promise<T>) {
      const silence = Promise.withResolvers<"failed">();
      const timer = setTimeout(() => silence.resolve("failed"), target.withinMs + silenceMs);
      // Each statement must see what has been replayed before it.
      const read = sql.begin("isolation level read committed read only", async (tx) => {
        if (!(await isThere(tx, target))) return "behind" as const;
        clearTimeout(timer);
        return { value: await run(tx) };
      });
      return Promise.race([read, silence.promise]).finally(() => clearTimeout(timer));
    },
  };
}

async function look(tx: Tx): Promise<ServerPosition> {
  const [found] = await tx<ServerPosition[]>`
    select pg_is_in_recovery() as is_standby, coalesce(pg_last_wal_replay_lsn() - '0/0', 0)::bigint as lsn,
      (select value from runtime_state where key = ${wordKey}) as word, ${tx.unsafe(serverName)} as server`;
  if (!found) throw new Error("the server does not say how far it is");
  return found;
}
