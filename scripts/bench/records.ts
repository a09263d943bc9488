/**
 * Compares records with the ceiling: `bun scripts/bench/records.ts [--quick] [--write] [--only get,patch]
 * [--connections 16] [--rounds 3] [--seconds 2]`. README.md explains the numbers.
 */
import { parseArgs } from "node:util";
import { openPool } from "../../runtime/db.ts";
import { compare, warmUp, type Comparison, type Pair } from "./compare.ts";
import { operationNames, type OperationName, type Target } from "./operations.ts";
import {
  adminToken,
  memoryOf,
  postgresOf,
  startCeiling,
  startCorestead,
  startLoadGenerator,
  temporaryFolder,
  type Server,
} from "./processes.ts";
import {
  comparisonTables,
  measuredWith,
  number,
  publish,
  table,
  verdict,
  verdictTable,
  versionOf,
  type Verdict,
} from "./report.ts";
import { seedCeiling, seedCorestead } from "./seed.ts";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    only: { type: "string", default: operationNames.join(",") },
    connections: { type: "string" },
    rounds: { type: "string" },
    seconds: { type: "string" },
    total: { type: "string" },
  },
});
const rounds = Number(options.rounds ?? 3);
const seconds = Number(options.seconds ?? (options.quick ? 0.4 : 2));
const warmUpSeconds = options.quick ? 1 : 5;
const connectionCounts = (options.connections ?? (options.quick ? "16,64" : "1,16,64")).split(",").map(Number);
const total = Number(options.total ?? (options.quick ? 50_000 : 100_000));
const chosen = operationNames.filter((name) => options.only.split(",").includes(name));

const dataDir = await temporaryFolder();
const corestead = await startCorestead(dataDir);
const postgres = await postgresOf(dataDir);
const sql = openPool(postgres.target, { max: 2 });
await sql`create database ceiling`;
const ceilingTarget = { ...postgres.target, database: "ceiling" };
const ceilingSql = openPool(ceilingTarget, { max: 2 });
await seedCeiling(ceilingSql, total);
const ceiling = await startCeiling(ceilingTarget);
await seedCorestead(corestead, sql, "contacts", total);
const load = startLoadGenerator();

const target = (kind: Target["kind"], { port }: Server): Target => {
  return { kind, port, token: adminToken, path: "/core/dbs/contacts", total };
};
const pair: Pair = {
  corestead: { server: corestead, target: target("corestead", corestead) },
  ceiling: { server: ceiling, target: target("ceiling", ceiling) },
  postgresPid: postgres.pid,
  load,
};
const idle = { corestead: memoryOf(corestead.pid).now, ceiling: memoryOf(ceiling.pid).now };
const comparisons: Comparison[] = [];
for (const operation of chosen) {
  await warmUp(pair, pair.corestead, operation, warmUpSeconds);
  await warmUp(pair, pair.ceiling, operation, warmUpSeconds);
  for (const connections of connectionCounts) {
    comparisons.push(await compare(pair, { operation, connections, rounds, seconds }));
    process.stderr.write(
      `${operation} at ${connections} connections: ${number(comparisons.at(-1)?.ratio ?? NaN, 2)}\n`,
    );
  }
}
await publish("records", await report(), options.write);

load.stop();
await sql.end();
await ceilingSql.end();
await ceiling.stop();
await corestead.stop();

async function report(): Promise<string> {
  const memory = table(
    ["resident memory, MB", "before the load", "most"],
    [
      ["Corestead", number(idle.corestead, 0), number(memoryOf(corestead.pid).peak, 0)],
      ["ceiling", number(idle.ceiling, 0), number(memoryOf(ceiling.pid).peak, 0)],
    ],
  );
  const how = `${number(total, 0)} records each; medians of ${rounds} interleaved rounds of ${seconds} s after ${warmUpSeconds} s of warm-up.`;
  const parts = [measuredWith(await versionOf(sql)), how, comparisonTables(comparisons), memory];
  return [...parts, verdictTable(verdicts())].join("\n\n");
}

function verdicts(): Verdict[] {
  const least: Record<OperationName, number> = { get: 0.8, list: 0.8, patch: 0.75, create: 0.75, search: 0.85 };
  return comparisons.flatMap(({ operation, connections, ratio, p99Ratio, cpuRatio }) => {
    const at = `${operation} at ${connections}`;
    if (connections === 64) return verdict(`${at}, p99 by the ceiling's`, p99Ratio, { most: 1.5 });
    if (connections !== 16) return [];
    return [
      verdict(`${at}, requests/s by the ceiling's`, ratio, { least: least[operation] }),
      verdict(`${at}, processor time by the ceiling's`, cpuRatio, { most: 1.3 }),
    ];
  });
}
