/**
 * What of the reads leaves the primary when a replica answers them (`DATABASE_READ_URL`):
 * `bun scripts/bench/replicas.ts [--quick] [--write]`. One server, a primary and a synchronous standby of Debian's
 * PostgreSQL and the load generator share this machine, so the processor time is what tells, not the rate.
 */
import { parseArgs } from "node:util";
import { eventually } from "../../runtime/authors/test-client.ts";
import { openPool } from "../../runtime/db.ts";
import { startCluster } from "../../tests/cluster/postgres.ts";

import { median } from "./compare.ts";
import type { OperationName, Target } from "./operations.ts";
import { adminToken, cpuOf, cpuOfPostgres, startCorestead, startLoadGenerator, temporaryFolder } from "./processes.ts";
import { measuredWith, number, publish, table, versionOf } from "./report.ts";
import { seedCorestead } from "./seed.ts";

const { values: options } = parseArgs({
  options: { quick: { type: "boolean", default: false }, write: { type: "boolean", default: false } },
});
const rounds = options.quick ? 2 : 5;
const seconds = options.quick ? 1 : 4;
const total = options.quick ? 10_000 : 100_000;
const connections = 16;
const operations = ["get", "list", "search"] as const satisfies readonly OperationName[];

interface Round {
  readonly perSecond: number;
  /** Processor milliseconds a request. */
  readonly server: number;
  readonly primary: number;
  readonly standby: number;
}

const results = new Map<string, Round[]>();
const load = startLoadGenerator();
const cluster = await startCluster();
let version = "";
for (const reads of ["the primary", "a replica"]) await measure(reads);
load.stop();
await cluster.stop();

const columns = ["perSecond", "server", "primary", "standby"] as const;
const rows = [...results].map(([name, measured]) => [
  ...name.split(": "),
  ...columns.map((column) => number(median(measured.map((round) => round[column])), column === "perSecond" ? 0 : 3)),
]);
const text = [
  measuredWith(version),
  `${number(total, 0)} records, ${connections} connections, medians of ${rounds} rounds of ${seconds} s. Processor time is in ms a request.`,
  table(["operation", "reads go to", "requests/s", "server", "primary", "replica"], rows),
];
await publish("replicas", text.join("\n\n"), options.write);

async function measure(reads: string): Promise<void> {
  const { primaryUrl, standbyUrl, pids } = cluster;
  const isOn = reads === "a replica";
  const env = { DATABASE_URL: primaryUrl, ...(isOn && { DATABASE_READ_URL: standbyUrl }) };
  const server = await startCorestead(await temporaryFolder(), env);
  if (isOn) await eventually(() => isReady(server.port), "the replica");
  else await seed(server);
  const target: Target = { kind: "corestead", port: server.port, token: adminToken, path: "/core/dbs/contacts", total };
  const used = () => ({
    server: cpuOf(server.pid),
    primary: cpuOfPostgres(pids.primary),
    standby: cpuOfPostgres(pids.standby),
  });
  for (const operation of operations) {
    await load.run({ operation, target, connections, seconds: 1, maxRequests: 20_000, seed: 1 });
    for (let round = 0; round < rounds; round++) {
      const before = used();
      const run = await load.run({ operation, target, connections, seconds, maxRequests: 200_000, seed: round + 10 });
      const after = used();
      const each = (part: keyof typeof after) => ((after[part] - before[part]) / run.requests) * 1000;
      const name = `${operation}: ${reads}`;
      const one = {
        perSecond: run.requests / run.seconds,
        server: each("server"),
        primary: each("primary"),
        standby: each("standby"),
      };
      results.set(name, [...(results.get(name) ?? []), one]);
    }
  }
  await server.stop();
}

async function seed(server: Awaited<ReturnType<typeof startCorestead>>): Promise<void> {
  const sql = openPool({ url: cluster.primaryUrl }, { max: 1, statementTimeoutMs: 0 });
  await seedCorestead(server, sql, "contacts", total);
  version = await versionOf(sql);
  await sql.end();
}

async function isReady(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/ready`);
  const { replicas } = (await answer.json()) as { replicas?: { ready: number } };
  return replicas?.ready === 1;
}
