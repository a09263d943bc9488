/**
 * What 1, 2 and 4 server processes on this machine serve, and which share of the processor time is PostgreSQL's:
 * `bun scripts/bench/scale.ts [--quick] [--write]`. The load generator runs on the same machine.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { openPool } from "../../runtime/db.ts";
import { median } from "./compare.ts";
import type { OperationName, Target } from "./operations.ts";
import {
  adminToken,
  cpuOf,
  cpuOfPostgres,
  postgresOf,
  startCorestead,
  startLoadGenerator,
  temporaryFolder,
} from "./processes.ts";
import { measuredWith, number, publish, table, versionOf } from "./report.ts";
import { seedCorestead } from "./seed.ts";

const { values: options } = parseArgs({
  options: { quick: { type: "boolean", default: false }, write: { type: "boolean", default: false } },
});
const rounds = options.quick ? 2 : 5;
const seconds = options.quick ? 1 : 4;
const total = options.quick ? 10_000 : 100_000;
const connections = 64;
const counts = [1, 2, 4];
const operations = ["get", "list", "search", "patch", "create"] as const satisfies readonly OperationName[];

interface Round {
  readonly perSecond: number;
  /** Processor milliseconds a request. */
  readonly server: number;
  readonly postgres: number;
}

const load = startLoadGenerator();
const results = new Map<string, Round[]>();
let version = "";
for (const count of counts) await measure(count);
load.stop();

const of = (name: string, value: (round: Round) => number) => median((results.get(name) ?? []).map(value));
const rows = operations.flatMap((operation) =>
  counts.map((count) => {
    const name = `${operation} ${count}`;
    const [perSecond, alone] = [name, `${operation} 1`].map((one) => of(one, (round) => round.perSecond));
    const [server, postgres] = [of(name, (round) => round.server), of(name, (round) => round.postgres)];
    return [
      operation,
      `${count}`,
      number(perSecond ?? NaN, 0),
      number((perSecond ?? NaN) / (alone ?? NaN), 2),
      number(server, 3),
      number(postgres, 3),
      number(postgres / (server + postgres), 2),
    ];
  }),
);
const text = [
  measuredWith(version),
  `${number(total, 0)} records, ${connections} connections, medians of ${rounds} rounds of ${seconds} s, on ${availableParallelism()} processors that the load generator shares. Processor time is in ms a request; the last column is PostgreSQL's share of it.`,
  table(["operation", "processes", "requests/s", "of one", "servers", "PostgreSQL", "share"], rows),
];
await publish("scale", text.join("\n\n"), options.write);

async function measure(count: number): Promise<void> {
  const dataDir = await temporaryFolder();
  const server = await startCorestead(dataDir, { WORKERS: `${count}` });
  const { target: database, pid } = await postgresOf(dataDir);
  const sql = openPool(database, { max: 1, statementTimeoutMs: 0 });
  await seedCorestead(server, sql, "contacts", total);
  version = await versionOf(sql);
  await sql.end();
  const target: Target = { kind: "corestead", port: server.port, token: adminToken, path: "/core/dbs/contacts", total };
  // With several processes the first one only watches the others, which are its children as PostgreSQL is.
  const ofServers = () => (count === 1 ? cpuOf(server.pid) : cpuOfPostgres(server.pid) - cpuOf(pid));
  for (const operation of operations) {
    await load.run({ operation, target, connections, seconds: 1, maxRequests: 20_000, seed: 1 });
    for (let round = 0; round < rounds; round++) {
      const before = { server: ofServers(), postgres: cpuOfPostgres(pid) };
      const run = await load.run({ operation, target, connections, seconds, maxRequests: 200_000, seed: round + 10 });
      const each = (used: number) => (used / run.requests) * 1000;
      const name = `${operation} ${count}`;
      results.set(name, [
        ...(results.get(name) ?? []),
        {
          perSecond: run.requests / run.seconds,
          server: each(ofServers() - before.server),
          postgres: each(cpuOfPostgres(pid) - before.postgres),
        },
      ]);
    }
  }
  await server.stop();
}
