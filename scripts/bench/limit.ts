/**
 * What PostgreSQL alone can do of the same work: `bun scripts/bench/limit.ts [--quick] [--write]`. Reads the server's own
 * statements from PostgreSQL's log, lets pgbench (Debian: postgresql-contrib) repeat them as prepared statements on the
 * same server, and compares that with the same operations over HTTP, by turns.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openPool, type SocketTarget } from "../../runtime/db.ts";
import { median } from "./compare.ts";
import { narrowSchema } from "./contacts.ts";
import { operationNames, type OperationName, type Target } from "./operations.ts";
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
import { pgbenchScripts, statementsIn } from "./statements.ts";

const { values: options } = parseArgs({
  options: { quick: { type: "boolean", default: false }, write: { type: "boolean", default: false } },
});
const rounds = options.quick ? 3 : 5;
const seconds = options.quick ? 2 : 4;
const total = options.quick ? 20_000 : 100_000;
const connections = 16;
/** As many scripts as pgbench takes are 128; it picks one of them for each transaction. */
const samples = 100;

const pgbench = Bun.which("pgbench");
if (!pgbench) throw new Error("pgbench is not installed: it is in Debian's package postgresql-contrib");

const dataDir = await temporaryFolder();
const server = await startCorestead(dataDir);
const postgres = await postgresOf(dataDir);
if (!("socketDir" in postgres.target)) throw new Error("the server has no PostgreSQL of its own");
const socket: SocketTarget = postgres.target;
const sql = openPool(socket, { max: 1, statementTimeoutMs: 0 });
await seedCorestead(server, sql, "contacts", total, { schema: narrowSchema });
const load = startLoadGenerator();
const target: Target = {
  kind: "corestead",
  port: server.port,
  token: adminToken,
  path: "/core/dbs/contacts",
  total,
  work: "narrow",
};

const rows: string[][] = [];
for (const operation of operationNames) rows.push(await measured(operation));
const version = await versionOf(sql);
load.stop();
await sql.end();
await server.stop();

const text = [
  measuredWith(version),
  `${number(total, 0)} records, ${connections} connections, medians of ${rounds} interleaved rounds of ${seconds} s. pgbench runs the server's own statement, prepared, with one client process; processor time is in ms a request. The share is what PostgreSQL's own limit leaves of the requests.`,
  table(["operation", "requests/s", "pgbench/s", "share", "PostgreSQL", "for pgbench", "server", "load"], rows),
];
await publish("limit", text.join("\n\n"), options.write);

async function measured(operation: OperationName): Promise<string[]> {
  await load.run({ operation, target, connections, seconds: 2, maxRequests: 20_000, seed: 1 });
  const files = await scriptsOf(operation);
  const http: Round[] = [];
  const alone: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    http.push(await overHttp(operation, round + 10));
    alone.push(await byPgbench(files));
  }
  const of = (list: readonly Round[], value: (round: Round) => number) => median(list.map(value));
  return [
    operation,
    number(
      of(http, ({ perSecond }) => perSecond),
      0,
    ),
    number(
      of(alone, ({ perSecond }) => perSecond),
      0,
    ),
    number(median(http.map(({ perSecond }, at) => perSecond / (alone[at]?.perSecond ?? NaN))), 2),
    ...[of(http, (one) => one.postgresMs), of(alone, (one) => one.postgresMs)].map((ms) => number(ms, 3)),
    ...[of(http, (one) => one.serverMs), of(http, (one) => one.clientMs)].map((ms) => number(ms, 3)),
  ];
}

/** Processor milliseconds are of one request. */
interface Round {
  readonly perSecond: number;
  readonly postgresMs: number;
  readonly serverMs: number;
  readonly clientMs: number;
}

async function overHttp(operation: OperationName, seed: number): Promise<Round> {
  const before = { server: cpuOf(server.pid), postgres: cpuOfPostgres(postgres.pid) };
  const run = await load.run({ operation, target, connections, seconds, maxRequests: 200_000, seed });
  const each = (cpuSeconds: number) => (cpuSeconds / run.requests) * 1000;
  return {
    perSecond: run.requests / run.seconds,
    postgresMs: each(cpuOfPostgres(postgres.pid) - before.postgres),
    serverMs: each(cpuOf(server.pid) - before.server),
    clientMs: each(run.clientCpu),
  };
}

async function byPgbench(files: readonly string[]): Promise<Round> {
  const before = cpuOfPostgres(postgres.pid);
  const place = ["-h", socket.socketDir, "-p", `${socket.port}`, "-U", socket.user, socket.database];
  const how = ["-n", "-M", "simple", "-D", "prepared=0", "-c", `${connections}`, "-j", "1", "-T", `${seconds}`];
  const child = Bun.spawn([pgbench ?? "", ...how, ...files.flatMap((file) => ["-f", file]), ...place], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const [said, complaint] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const requests = Number(/transactions actually processed: (\d+)/.exec(said)?.[1]);
  const perSecond = Number(/tps = ([\d.]+)/.exec(said)?.[1]);
  if ((await child.exited) !== 0 || !(requests > 0)) throw new Error(`pgbench failed: ${complaint}`);
  const postgresMs = ((cpuOfPostgres(postgres.pid) - before) / requests) * 1000;
  return { perSecond, postgresMs, serverMs: 0, clientMs: 0 };
}

/** The statement of the operation with the values of so many requests, a file for each. */
async function scriptsOf(operation: OperationName): Promise<string[]> {
  const readLog = () => Bun.file(join(dataDir, "postgres.log")).text();
  const { length } = await readLog();
  await logStatements("0");
  await load.run({ operation, target, connections: 1, seconds: 30, maxRequests: samples, seed: 2 });
  await logStatements("-1");
  const statements = statementsIn((await readLog()).slice(length));
  const folder = join(dataDir, "pgbench", operation);
  await mkdir(folder, { recursive: true });
  const scripts = pgbenchScripts(statements, { newId: operation === "create" }).slice(0, samples);
  if (scripts.length < samples / 2) throw new Error(`only ${scripts.length} statements of ${operation} were logged`);
  return Promise.all(
    scripts.map(async (script, at) => {
      const file = join(folder, `${at}.sql`);
      await Bun.write(file, script);
      return file;
    }),
  );
}

async function logStatements(fromMs: "0" | "-1"): Promise<void> {
  await sql.unsafe(`alter system set log_min_duration_statement = ${fromMs}`);
  await sql`select pg_reload_conf()`;
  // Each backend reads the settings again when it next waits for a statement.
  await Bun.sleep(500);
}
