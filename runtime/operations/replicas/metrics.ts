import type { Metrics } from "../../system/metrics.ts";
import type { ReplicaFacts } from "./replica.ts";
import type { Replicas } from "./replicas.ts";

/** Metrics of reads on replicas. */
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
