/**
 * Compares records with the ceilings: `bun scripts/bench/records.ts [--quick] [--write] [--only get,patch]
 * [--ceiling wide,narrow] [--connections 16] [--rounds 3] [--seconds 2]`. README.md explains the numbers.
 */
import { parseArgs } from "node:util";
import { openPool } from "../../runtime/db.ts";
import { compare, warmUp, type Comparison, type Pair } from "./compare.ts";
import { narrowSchema, schema } from "./contacts.ts";
import { operationNames, type OperationName, type Target } from "./operations.ts";
import {
  adminToken,
  memoryOf,
  postgresOf,
  startCeiling,
  startCorestead,
  startLoadGenerator,
  temporaryFolder,
  type CeilingName,
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
    ceiling: { type: "string", default: "wide,narrow" },
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

/** What must be reached beside each ceiling: requests by its requests, at 16 connections; p99 by its p99, at 64. */
const bounds: Record<CeilingName, { readonly least: Record<OperationName, number>; readonly p99: number }> = {
  wide: { least: { get: 0.8, list: 0.8, patch: 0.75, create: 0.75, search: 0.85 }, p99: 1.5 },
  narrow: { least: { get: 0.95, list: 0.9, patch: 0.9, create: 0.75, search: 0.95 }, p99: 1.3 },
};

for (const name of ["wide", "narrow"] as const) {
  if (options.ceiling.split(",").includes(name)) await beside(name);
}

/** Each with a data folder and a PostgreSQL of its own, so that the one's records are in no index of the other's. */
async function beside(name: CeilingName): Promise<void> {
  const dataDir = await temporaryFolder();
  const corestead = await startCorestead(dataDir);
  const postgres = await postgresOf(dataDir);
  const sql = openPool(postgres.target, { max: 2 });
  await sql`create database ceiling`;
  const ceilingTarget = { ...postgres.target, database: "ceiling", ceiling: name };
  const ceilingSql = openPool(ceilingTarget, { max: 2 });
  await seedCeiling(ceilingSql, total, name);
  const ceiling = await startCeiling(ceilingTarget);
  await seedCorestead(corestead, sql, "contacts", total, { schema: name === "wide" ? schema : narrowSchema });
  const load = startLoadGenerator();

  const target = (kind: Target["kind"], { port }: Server): Target => {
    return { kind, port, token: adminToken, path: "/core/dbs/contacts", total, work: name };
  };
  const pair: Pair = {
    corestead: { server: corestead, target: target("corestead", corestead) },
    ceiling: { server: ceiling, target: target("ceiling", ceiling) },
    postgresPid: postgres.pid,
    load,
  };
  const idle = { corestead: memoryOf(corestead.pid).now, ceiling: memoryOf(ceiling.pid).now };
  const comparisons = await compareAll(pair, name);
  const memory = table(
    ["resident memory, MB", "before the load", "most"],
    [
      ["Corestead", number(idle.corestead, 0), number(memoryOf(corestead.pid).peak, 0)],
      ["ceiling", number(idle.ceiling, 0), number(memoryOf(ceiling.pid).peak, 0)],
    ],
  );
  const how = `Beside the ${name} ceiling; ${number(total, 0)} records each; medians of ${rounds} interleaved rounds of ${seconds} s after ${warmUpSeconds} s of warm-up.`;
  const parts = [measuredWith(await versionOf(sql)), how, comparisonTables(comparisons), memory];
  const section = name === "wide" ? "records" : "records-narrow";
  await publish(section, [...parts, verdictTable(verdicts(comparisons, name))].join("\n\n"), options.write);

  load.stop();
  await sql.end();
  await ceilingSql.end();
  await ceiling.stop();
  await corestead.stop();
}

async function compareAll(pair: Pair, name: CeilingName): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const operation of chosen) {
    await warmUp(pair, pair.corestead, operation, warmUpSeconds);
    await warmUp(pair, pair.ceiling, operation, warmUpSeconds);
    for (const connections of connectionCounts) {
      const one = await compare(pair, { operation, connections, rounds, seconds });
      comparisons.push(one);
      process.stderr.write(`${name}: ${operation} at ${connections} connections: ${number(one.ratio, 2)}\n`);
    }
  }
  return comparisons;
}

function verdicts(comparisons: readonly Comparison[], name: CeilingName): Verdict[] {
  const { least, p99 } = bounds[name];
  return comparisons.flatMap(({ operation, connections, ratio, p99Ratio, cpuRatio }) => {
    const at = `${operation} at ${connections}`;
    if (connections === 64) return verdict(`${at}, p99 by the ceiling's`, p99Ratio, { most: p99 });
    if (connections !== 16) return [];
    const speed = verdict(`${at}, requests/s by the ceiling's`, ratio, { least: least[operation] });
    if (name === "narrow") return speed;
    return [speed, verdict(`${at}, processor time by the ceiling's`, cpuRatio, { most: 1.3 })];
  });
}
