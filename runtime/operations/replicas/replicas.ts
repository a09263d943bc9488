/**
 * Reads on replicas (`DATABASE_READ_URL`). A read asks the primary how far it has written, and goes to a replica that has
 * replayed that much: so it sees every write that was acknowledged before it began, whoever made it and wherever. If no
 * replica gets there in time, the primary answers.
 *
 *     const replicas = openReplicas({ config, target, sql, log });
 *     const rows = await replicas.read("notes", sql, (on) => on`select body from notes`);
 */
import type { Config } from "../../settings/config.ts";
import { openPool, type DatabaseTarget, type PoolOptions, type Read, type Sql } from "../../db/db.ts";
import type { Log } from "../../system/log.ts";
import { replicaAddresses } from "../../settings/replica-addresses.ts";
import { followPrimary, type Position } from "./primary.ts";
import { createReplica, type Replica, type ReplicaFacts } from "./replica.ts";
import type { Metrics } from "../../system/metrics.ts";

interface ReplicasOptions {
  readonly config: Config;
  /** Of the primary. */
  readonly target: DatabaseTarget;
  readonly sql: Sql;
  readonly log: Log;
  /** As the primary's pool has them. */
  readonly limits: PoolOptions;
}

/** Why a read went to the primary. */
export type Fallback = "none" | "behind" | "failed";

export interface Replicas {
  /** `run` on a replica as the user `lane`, else at the primary: it may be called twice. */
  readonly read: <T>(lane: string, onPrimary: Read, run: Parameters<typeof onPrimary<T>>[0]) => Promise<T>;
  readonly facts: () => ReplicaFacts[];
  /** Reads that went to the primary, by the reason. */
  readonly fallbacks: () => Readonly<Record<Fallback, number>>;
  /** Reads that waited for a replica. */
  readonly waits: () => number;
  readonly stop: () => Promise<void>;
}

const lookEveryMs = 1_000;
/** A connection that asks how far a server is gets its answer at once, or the server is stuck. */
const silenceMs = 2_000;
const pageBytes = 8192;

export function openReplicas({ config, target, sql, log, limits }: ReplicasOptions): Replicas {
  const { databaseReadUrl, databaseReadWaitMs: waitMs, databasePrepare: prepare } = config;
  const single: PoolOptions = {
    max: 1,
    prepare,
    pooled: true,
    connectTimeoutMs: Math.min(silenceMs, config.databaseConnectSeconds * 1000),
    silenceTimeoutMs: silenceMs,
    applicationName: "corestead position",
  };
  const own = openPool(target, { ...single, connectTimeoutMs: config.databaseConnectSeconds * 1000 });
  const primary = followPrimary(sql, own);
  let waits = 0;
  const onWait = (lsn: number) => {
    waits += 1;
    if (lsn % pageBytes === 0) primary.completeRecord();
  };
  const replicas = replicaAddresses(databaseReadUrl).map(({ name, url }) => {
    const reading = { ...limits, prepare, waitTimeoutMs: silenceMs, applicationName: "corestead read" };
    const open = (on: PoolOptions) => openPool({ url }, { ...reading, ...on });
    const openWatcher = (on: PoolOptions) => openPool({ url }, { ...single, ...on });
    return createReplica({ name, open, openWatcher, lookSoon: () => watching.soon(), log, waitMs, onWait });
  });
  const fallbacks = { none: 0, behind: 0, failed: 0 };
  let turn = 0;
  const watching = watch(async () => {
    const seen = await primary.watch();
    await Promise.all(replicas.map((replica) => replica.look(seen)));
  }, log);

  /** In turn, of those that are up to date, else of all. */
  const chosen = (position: Position): Replica | undefined => {
    const ready = replicas.filter((replica) => replica.follows(position));
    const there = ready.filter((replica) => replica.has(position.lsn));
    turn += 1;
    return there.length > 0 ? there[turn % there.length] : ready[turn % ready.length];
  };

  return {
    async read(lane, onPrimary, run) {
      let reason: Fallback = "none";
      if (replicas.some((replica) => replica.isReady())) {
        const position = await primary.position().catch(() => undefined);
        const now = sql`${position?.now ?? ""}::text::timestamptz`;
        const answer = await (position && chosen(position)?.read(lane, position, (on) => run(on, now)));
        if (typeof answer === "object") return answer.value;
        reason = answer ?? "behind";
      }
      fallbacks[reason] += 1;
      return onPrimary(run);
    },
    facts: () => replicas.map((replica) => replica.facts()),
    fallbacks: () => fallbacks,
    waits: () => waits,
    async stop() {
      watching.stop();
      await Promise.all([own.end({ timeout: 0 }), ...replicas.map((replica) => replica.stop())]);
    },
  };
}

/** Looks at once and then every second, one look after the other. */
function watch(look: () => Promise<void>, log: Log) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isWanted = false;
  let isStopped = false;
  const again = async () => {
    timer = undefined;
    isWanted = false;
    await look().catch((error: unknown) => log.debug("nobody knows how far the replicas are", { error }));
    if (!isStopped) timer = setTimeout(() => void again(), isWanted ? 0 : lookEveryMs);
  };
  void again();
  return {
    soon(): void {
      isWanted = true;
      if (timer === undefined || isStopped) return;
      clearTimeout(timer);
      void again();
    },
    stop(): void {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

export function replicaMetrics(metrics: Metrics, { facts, fallbacks, waits }: Replicas): void {
  const each = (value: (replica: ReplicaFacts) => number) => () =>
    Object.fromEntries(facts().map((replica) => [replica.name, value(replica)]));
  const [label, name] = ["replica", "corestead_replica"];
  const isReady = each(({ state }) => Number(state === "ready"));
  metrics.gauges(`${name}_ready`, "1 if reads go to the replica", label, isReady);
  const bytes = each(({ lagBytes }) => lagBytes);
  metrics.gauges(`${name}_lag_bytes`, "What the replica has not replayed, a second ago at most", label, bytes);
  const seconds = each(({ lagSeconds }) => lagSeconds);
  metrics.gauges(`${name}_lag_seconds`, "The age of the last commit that the replica has replayed", label, seconds);
  const reads = each(({ reads: count }) => count);
  metrics.counters(`${name}_reads_total`, "Reads that the replica answered", label, reads);
  const reasons = "Reads that the primary answered: no replica was ready, none was up to date in time, or it failed";
  metrics.counters("corestead_primary_reads_total", reasons, "reason", fallbacks);
  metrics.counter("corestead_replica_waits_total", "Reads that waited for a replica", waits);
}
