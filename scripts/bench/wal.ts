/**
 * What BACKUP_WAL costs: `bun scripts/bench/wal.ts [--rounds 7] [--seconds 2] [--only patch,create] [--write]`. Two
 * servers, each with its own PostgreSQL, one with archiving and one without, do the same requests by turns. Archiving
 * comes in bursts, which the medians of rounds do not have: so the processor time of each server is summed over all
 * rounds, until everything is archived. Then both are left alone for a while.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { archiveFacts } from "../../runtime/backups/wal-store.ts";
import { openPool } from "../../runtime/db.ts";
import { compare, warmUp, type Comparison, type Pair, type Side } from "./compare.ts";
import {
  adminToken,
  cpuOf,
  cpuOfPostgres,
  postgresOf,
  startCorestead,
  startLoadGenerator,
  temporaryFolder,
} from "./processes.ts";
import { comparisonTables, measuredWith, number, publish, table, versionOf } from "./report.ts";
import { seedCorestead } from "./seed.ts";

const { values: options } = parseArgs({
  options: {
    write: { type: "boolean", default: false },
    only: { type: "string", default: "patch,create" },
    connections: { type: "string", default: "16" },
    rounds: { type: "string", default: "7" },
    seconds: { type: "string", default: "2" },
    total: { type: "string", default: "20000" },
    idle: { type: "string", default: "30" },
  },
});
const connections = Number(options.connections);
const total = Number(options.total);
const [rounds, seconds, idleSeconds] = [Number(options.rounds), Number(options.seconds), Number(options.idle)];
const operationNames = (["patch", "create"] as const).filter((name) => options.only.split(",").includes(name));

const store = await temporaryFolder();
const key = "a key of the benchmark with 32 characters";
const archiving = await openSide({ BACKUP_WAL: "on", BACKUP_DIR: store, BACKUP_KEY: key });
const plain = await openSide({});
const sides = [archiving, plain];
const load = startLoadGenerator();
const pair: Pair = { corestead: archiving.side, ceiling: plain.side, postgresPid: plain.side.postgresPid, load };
const comparisons: Comparison[] = [];
await archived();
const before = await Promise.all(sides.map((side) => side.spent()));
for (const operation of operationNames) {
  for (const one of [pair.corestead, pair.ceiling]) await warmUp(pair, one, operation, 2);
  comparisons.push(await compare(pair, { operation, connections, rounds, seconds }));
}
load.stop();
await archived();
const after = await Promise.all(sides.map((side) => side.spent()));
await Bun.sleep(idleSeconds * 1000);
const idle = await Promise.all(sides.map((side) => side.spent()));
const version = await versionOf(plain.sql);
const stored = readdirSync(store, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
const storedBytes = stored.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
for (const side of sides) await side.stop();

type Spent = Awaited<ReturnType<typeof archiving.spent>>;
const each = (of: (spent: Spent) => number, digits: number, scale = 1) =>
  sides.map((_, i) => {
    const [from, to] = [before[i], after[i]];
    return from && to ? number(((of(to) - of(from)) / (to.changes - from.changes)) * scale, digits) : "";
  });
const left = (of: (spent: Spent) => number, scale = 1) =>
  sides.map((_, i) => {
    const [from, to] = [after[i], idle[i]];
    return from && to ? number((of(to) - of(from)) * scale, 0) : "";
  });
await publish(
  "wal",
  [
    measuredWith(version),
    `\`BACKUP_WAL=on\` beside \`off\`, other work on the machine; ${number(total, 0)} records each; medians of ${rounds} interleaved rounds of ${seconds} s.`,
    comparisonTables(comparisons, "off"),
    "Sums over all rounds, until everything was archived:",
    table(
      ["of each change", "on", "off"],
      [
        ["processor time of the server, ms", ...each(({ server }) => server, 3, 1000)],
        ["processor time of PostgreSQL, ms", ...each(({ postgres }) => postgres, 3, 1000)],
        ["WAL, bytes", ...each(({ wal }) => wal, 0)],
      ],
    ),
    table(
      [`left alone for ${idleSeconds} s`, "on", "off"],
      [
        ["processor time of both, ms", ...left(({ server, postgres }) => server + postgres, 1000)],
        ["WAL, bytes", ...left(({ wal }) => wal)],
      ],
    ),
    `Stored: ${stored.length} files, ${number(storedBytes / 1e6, 1)} MB.`,
  ].join("\n\n"),
  options.write,
);

async function openSide(env: Record<string, string>) {
  const dataDir = await temporaryFolder();
  const server = await startCorestead(dataDir, env);
  const { target, pid } = await postgresOf(dataDir);
  const sql = openPool(target, { max: 2 });
  await seedCorestead(server, sql, "contacts", total);
  const asked = { kind: "corestead", port: server.port, token: adminToken, path: "/core/dbs/contacts", total } as const;
  const spent = async () => {
    await Bun.sleep(1_500); // until the connections have reported what they did
    const [row] = await sql<{ wal: number; changes: number }[]>`
      select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal,
        (select (n_tup_ins + n_tup_upd)::float8 from pg_stat_user_tables where relname = 'records') as changes`;
    const { wal = NaN, changes = NaN } = row ?? {};
    return { wal, changes, server: cpuOf(server.pid), postgres: cpuOfPostgres(pid) };
  };
  const stop = async () => {
    await sql.end();
    await server.stop();
  };
  return { side: { server, target: asked, postgresPid: pid } satisfies Side, sql, spent, stop };
}

/** Waits until there is a base, and next to nothing is waiting: once a minute. */
async function archived(): Promise<void> {
  const { sql } = archiving;
  const bases = () => sql`select 1 from backup_runs where kind = 'base' and ended_at is not null`;
  while ((await bases()).length === 0) await Bun.sleep(500);
  while ((await archiveFacts(sql)).bytes > 500_000) await Bun.sleep(500);
}
