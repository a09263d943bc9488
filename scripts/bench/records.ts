/**
 * Requests to this tree beside the same to something else, by turns, so that other load on the machine affects both:
 *
 *     bun run bench                                  beside servers written by hand (ceiling.ts), wide and narrow
 *     bun run bench --compare HEAD~20                beside another commit; fails if this tree is slower
 *     bun run bench --with WORKERS=2                 with a setting beside without it
 *     bun run bench --table link                     what a table may have beside without it: history, unique, link, expand, where
 *     bun run bench --deno                           under Deno beside under Bun
 *     bun run bench --beside-total 10000 --total 1000000 --only get,list,filter,search --connections 1
 *
 * `--only get,list,filter,search,patch,create,page,render,webhook`, `--connections 1,16`, `--rounds 5`, `--seconds 2`,
 * `--quick`. The server's statements of this tree fill the databases of both, so it works back to the last change of
 * their tables.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openPool } from "../../runtime/db/db.ts";
import { denoEnv, fromSourceByDeno } from "../../tests/deno-process.ts";
import { narrowSchema, schema, seedCeiling, seedCorestead, seedSite, tableRules } from "./contacts.ts";
import type { Ceiling, Grant } from "./contacts.ts";
import * as harness from "./harness.ts";
import { adminToken, median, number, root, type Server } from "./harness.ts";
import type { Load, Measured, Target } from "./load.ts";

const { values: options } = parseArgs({
  options: {
    compare: { type: "string" },
    with: { type: "string", multiple: true, default: [] },
    deno: { type: "boolean", default: false },
    table: { type: "string" },
    "beside-total": { type: "string" },
    only: { type: "string" },
    connections: { type: "string" },
    rounds: { type: "string" },
    seconds: { type: "string" },
    total: { type: "string" },
    quick: { type: "boolean", default: false },
  },
});
type Operation = Load["operation"] | "webhook";
const byHand = ["get", "list", "search", "patch", "create"] as const;
const operations: readonly Operation[] = [...byHand, "filter", "page", "render", "webhook"];
const rules = options.table === undefined ? undefined : tableRules[options.table];
if (options.table !== undefined && !rules) throw new Error(`--table is one of ${Object.keys(tableRules).join(", ")}`);
const isCompared = options.compare ?? options["beside-total"] ?? (rules || options.deno || options.with.length > 0);
const wanted = options.only?.split(",") ?? (rules && Object.keys(rules.least));
const chosen = wanted ? operations.filter((name) => wanted.includes(name)) : isCompared ? operations : byHand;
const connectionCounts = (options.connections ?? (options.quick || isCompared ? "16" : "1,16,64")).split(",");
const rounds = Number(options.rounds ?? (options.quick ? 3 : 5));
const seconds = Number(options.seconds ?? (options.quick ? 0.5 : 2));
const warmUpSeconds = options.quick ? 1 : 5;
const total = Number(options.total ?? (options.quick ? 20_000 : 100_000));
const settings = Object.fromEntries(options.with.map((one) => one.split(/=(.*)/s, 2)));

/** One of the two that are compared. */
interface Side {
  readonly name: string;
  readonly server: Server;
  readonly target: Target;
  readonly postmaster: number;
  readonly stop: () => Promise<void>;
}

/** Processor time is in ms a request. */
interface Round {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly server: number;
  readonly postgres: number;
}

/** Least requests by the ceiling's, at 16 connections. */
const leastBeside: Record<Ceiling, Readonly<Record<string, number>>> = {
  wide: { get: 0.8, list: 0.8, patch: 0.75, create: 0.75, search: 0.85 },
  narrow: { get: 0.95, list: 0.9, patch: 0.9, create: 0.75, search: 0.95 },
};

const load = harness.startLoadGenerator();
const receiver = startReceiver();
if (options.compare !== undefined) await besideCommit(options.compare);
else if (rules) {
  const { schema: own, plain, access, linksTo, query, least } = rules;
  const open = access?.map(({ to, may }) => ({ to, may }));
  const shared = { ...(linksTo !== undefined && { linksTo }) };
  await compare(
    await startSide("with", {
      ...shared,
      schema: own,
      ...(access && { access }),
      ...(query !== undefined && { query }),
    }),
    await startSide("without", { ...shared, schema: plain, ...(open && { access: open }) }),
    (operation) => least[operation],
  );
} else if (isCompared) await compare(await thisTree(), await startSide("without", { total: otherTotal() }));
else for (const ceiling of ["wide", "narrow"] as const) await besideCeiling(ceiling);
load.stop();
await receiver.stop();
process.exit();

function otherTotal(): number {
  return Number(options["beside-total"] ?? total);
}

function thisTree(): ReturnType<typeof startSide> {
  if (!options.deno) return startSide("this", { env: settings });
  return startSide("Deno", { env: { ...settings, ...denoEnv }, command: [...fromSourceByDeno(), "serve"] });
}

async function besideCommit(commit: string): Promise<void> {
  const tree = join(await harness.temporaryFolder(), "tree");
  await run(["git", "worktree", "add", "--detach", tree, commit], root);
  try {
    await run([process.execPath, "install", "--frozen-lockfile", "--silent"], tree);
    for (const script of ["scripts/runtimes.ts", "scripts/studio.ts"])
      if (existsSync(join(tree, script))) await run([process.execPath, script], tree);
    await compare(await thisTree(), await startSide(commit, { tree }), () => 0.85);
  } finally {
    await run(["git", "worktree", "remove", "--force", tree], root);
  }
}

/** Two processes on one PostgreSQL. */
async function besideCeiling(ceiling: Ceiling): Promise<void> {
  const narrow = ceiling === "narrow";
  const own = await startSide("this", { narrow });
  const database = { ...own.database, database: "ceiling" };
  await own.sql`create database ceiling`;
  const sql = openPool(database, { max: 2, statementTimeoutMs: 0 });
  await seedCeiling(sql, total, ceiling);
  await sql.end();
  const env = { CEILING_DATABASE: JSON.stringify({ ...database, ceiling }) };
  const server = await harness.startServer([process.execPath, "scripts/bench/ceiling.ts"], env);
  const target: Target = { kind: "ceiling", port: server.port, token: adminToken, total, narrow };
  const other = { name: `${ceiling} ceiling`, server, target, postmaster: own.postmaster, stop: server.stop };
  await compare(own, other, (operation) => leastBeside[ceiling][operation]);
}

interface SideOptions {
  readonly tree?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
  readonly total?: number;
  readonly narrow?: boolean;
  readonly schema?: object;
  /** For a person who may only read. */
  readonly access?: readonly Grant[];
  readonly linksTo?: string;
  readonly query?: string;
}

async function startSide(name: string, given: SideOptions) {
  const { tree = root, env = {}, command = harness.fromSource, narrow = false } = given;
  const count = given.total ?? total;
  const dataDir = await harness.temporaryFolder();
  const server = await harness.startCorestead(dataDir, env, command, tree);
  const { target: database, pid: postmaster } = await harness.postgresOf(dataDir);
  const sql = openPool(database, { max: 2, statementTimeoutMs: 0 });
  const companies = given.linksTo === undefined ? [] : await seedTargets(server, given.linksTo);
  const { access } = given;
  const fields = given.schema ?? (narrow ? narrowSchema : schema);
  await seedCorestead(server, sql, count, fields, { companies, ...(access && { access }) });
  if (chosen.includes("page") || chosen.includes("render")) await seedSite(server);
  if (chosen.includes("webhook")) await harness.api(server, "POST", "/core/dbs.json", { db: { name: "E", code: "e" } });
  const token = access ? await harness.tokenOfPerson(server, dataDir, tree) : adminToken;
  const [company] = companies;
  const more = {
    ...(company !== undefined && { data: { company } }),
    ...(given.query !== undefined && { query: given.query }),
  };
  const target: Target = { kind: "corestead", port: server.port, token, total: count, narrow, ...more };
  const stop = async () => {
    await sql.end();
    await server.stop();
  };
  return { name, server, target, postmaster, database, sql, stop };
}

/** A database with a hundred records, whose ids it gives back. */
async function seedTargets(server: Server, code: string): Promise<string[]> {
  const db = { name: code, code, schema: { fields: { name: "string" } } };
  await harness.api(server, "POST", "/core/dbs.json", { db });
  const ids: string[] = [];
  for (let n = 0; n < 100; n++) {
    const record = { data: { name: `Company ${n}` } };
    ids.push((await harness.api(server, "POST", `/core/dbs/${code}/records.json`, { record })).id);
  }
  return ids;
}

async function compare(
  own: Awaited<ReturnType<typeof startSide>>,
  other: Side,
  leastOf: (operation: Operation) => number | undefined = () => undefined,
): Promise<void> {
  await harness.printMeasuredWith(own.sql);
  const memory = [own, other].map(({ server }) => harness.memoryOf(server.pid).now);
  const rows: string[][] = [];
  const bounds: (() => void)[] = [];
  for (const operation of chosen)
    for (const connections of operation === "webhook" ? [10] : connectionCounts.map(Number)) {
      const pairs = await pairsOf(own, other, operation, connections);
      const ratio = (of: (round: Round) => number) => median(pairs.map(([a, b]) => of(a) / of(b)));
      const speed = ratio(({ perSecond }) => perSecond);
      const cpu = ratio((round) => round.server + round.postgres);
      rows.push([operation, `${connections}`, ...cells(pairs, speed), number(cpu, 2)]);
      process.stderr.write(`${rows.at(-1)?.join("  ")}\n`);
      const least = leastOf(operation);
      if (least !== undefined && (connections === 16 || operation === "webhook"))
        bounds.push(() => harness.bound(`${operation}, requests/s by those of ${other.name}`, speed, { least }));
    }
  const pair = (what: string) => [what, other.name];
  const head = ["operation", "at once", ...pair("requests/s"), "ratio", ...pair("p50 ms"), ...pair("p99 ms")];
  harness.printTable([...head, ...pair("server ms"), ...pair("PostgreSQL ms"), "CPU ratio"], rows);
  const peaks = [own, other].map(({ server }, at) => [memory[at] ?? NaN, harness.memoryOf(server.pid).peak]);
  const shown = peaks.map((both, at) => [at === 0 ? own.name : other.name, ...both.map((one) => number(one))]);
  harness.printTable(["resident memory, MB", "before", "most"], shown);
  for (const check of bounds) check();
  await other.stop();
  await own.stop();
}

async function pairsOf(own: Side, other: Side, operation: Operation, connections: number) {
  const pairs: [Round, Round][] = [];
  for (const side of [own, other]) await measure(side, operation, connections, warmUpSeconds, 0);
  for (let round = 1; round <= rounds; round++) {
    const seed = connections * 1000 + round;
    const first = await measure(own, operation, connections, seconds, seed);
    pairs.push([first, await measure(other, operation, connections, seconds, seed)]);
  }
  return pairs;
}

function cells(pairs: readonly (readonly [Round, Round])[], speed: number): string[] {
  const both = (of: (round: Round) => number, digits: number) =>
    [0, 1].map((side) => number(median(pairs.map((pair) => of(pair[side === 0 ? 0 : 1]))), digits));
  return [
    ...both(({ perSecond }) => perSecond, 0),
    number(speed, 2),
    ...both(({ p50 }) => p50, 2),
    ...both(({ p99 }) => p99, 2),
    ...both(({ server }) => server, 3),
    ...both(({ postgres }) => postgres, 3),
  ];
}

async function measure(side: Side, operation: Operation, connections: number, lasting: number, seed: number) {
  const before = harness.cpuOf(side.server.pid, side.postmaster);
  const measured =
    operation === "webhook"
      ? await deliver(side.server, lasting)
      : await load.run({ operation, target: side.target, connections, seconds: lasting, seed });
  const after = harness.cpuOf(side.server.pid, side.postmaster);
  const each = (name: "server" | "postgres") => ((after[name] - before[name]) / measured.requests) * 1000;
  const perSecond = measured.requests / measured.seconds;
  return { ...measured, perSecond, server: each("server"), postgres: each("postgres") };
}

/** Creates records in batches and waits for a webhook's delivery of each, ten at once. */
async function deliver(server: Server, lasting: number): Promise<Measured> {
  const count = Math.max(1, Math.round(lasting * 2)) * 1000;
  const path = `/${crypto.randomUUID()}`;
  const webhook = {
    source_type: "Core::Record",
    kind: "create",
    url: `http://127.0.0.1:${receiver.port}${path}`,
    filter: { db_code: "e" },
    concurrency: 10,
  };
  const { id } = await harness.api(server, "POST", "/account/webhooks.json", { webhook });
  const create = Array.from({ length: 1000 }, (_, n) => ({ op: "create", data: { n, text: "x".repeat(200) } }));
  const ms = await harness.timed(async () => {
    for (let sent = 0; sent < count; sent += 1000)
      await harness.api(server, "POST", "/core/dbs/e/batch.json", { operations: create });
    await receiver.until(path, count);
  });
  await harness.api(server, "DELETE", `/account/webhooks/${id}.json`);
  return { requests: count, seconds: ms / 1000, p50: NaN, p99: NaN };
}

/** Counts the requests to each path. */
function startReceiver() {
  const arrived = new Map<string, number>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname } = new URL(request.url);
      arrived.set(pathname, (arrived.get(pathname) ?? 0) + 1);
      return new Response("ok");
    },
  });
  const until = async (path: string, count: number) => {
    const end = performance.now() + 120_000;
    while ((arrived.get(path) ?? 0) < count) {
      if (performance.now() > end) throw new Error(`of ${count} deliveries ${arrived.get(path) ?? 0} arrived`);
      await Bun.sleep(5);
    }
  };
  return { port: server.port, until, stop: () => server.stop(true) };
}

async function run(command: readonly string[], cwd: string): Promise<void> {
  const child = Bun.spawn([...command], { cwd, stdout: "ignore", stderr: "inherit" });
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed`);
}
