/**
 * Time until the server is ready, on an empty folder and on a used one, and the memory of its process:
 * `bun scripts/bench/start.ts [--quick] [--write]`. Also measures `dist/corestead` if it has been built, and the floor:
 * an executable of Bun that only answers, and the start of PostgreSQL alone.
 */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { openPool } from "../../runtime/db.ts";
import { createLog } from "../../runtime/log.ts";
import { startEmbeddedPostgres } from "../../runtime/postgres/embedded-postgres.ts";
import { median } from "./compare.ts";
import { operationNames } from "./operations.ts";
import {
  adminToken,
  fromSource,
  memoryOf,
  postgresOf,
  startCorestead,
  startLoadGenerator,
  temporaryFolder,
} from "./processes.ts";
import { number, publish, table, verdict, verdictTable } from "./report.ts";
import { seedCorestead } from "./seed.ts";

const { values: options } = parseArgs({
  options: { quick: { type: "boolean", default: false }, write: { type: "boolean", default: false } },
});
const runs = options.quick ? 2 : 5;
const binary = resolve(import.meta.dir, "../../dist/corestead");
const targets = {
  "from source": { empty: 1500, used: 600, idle: 100 },
  "dist/corestead": { empty: 600, used: 150, idle: 64 },
};
const programs: { name: keyof typeof targets; command: readonly string[] }[] = [
  { name: "from source", command: fromSource },
];
const isBuilt = existsSync(binary);
if (isBuilt) programs.push({ name: "dist/corestead", command: [binary, "serve"] });

const floor = await measureFloor();
const results = [];
for (const { name, command } of programs) {
  const folder = await temporaryFolder();
  const empty: number[] = [];
  const used: number[] = [];
  for (let run = 0; run < runs; run++) {
    const dataDir = join(folder, `${run}`);
    empty.push(await readyAfter(command, dataDir));
    used.push(await readyAfter(command, dataDir));
  }
  results.push({ name, empty: median(empty), used: median(used), ...(await memory(command)) });
}

const text = [
  `Medians of ${runs} starts, PostgreSQL included; memory is that of the server process.`,
  table(
    ["", "empty folder, ms", "used folder, ms", "idle, MB", "under load, MB"],
    results.map(({ name, empty, used, idle, loaded }) => [
      name,
      ...[empty, used, idle, loaded].map((n) => number(n, 0)),
    ]),
  ),
  `The floor: an executable of Bun that only answers is ready after ${number(floor.readyMs, 0)} ms, has ${number(floor.idle, 0)} MB idle and is ${number(floor.megabytes, 0)} MB large; PostgreSQL alone answers on a used folder after ${number(floor.postgresMs, 0)} ms.`,
  ...(isBuilt ? [await sizes()] : []),
  verdictTable([
    ...results.flatMap(({ name, empty, used, idle, loaded }) => [
      verdict(`${name}: ready on an empty folder`, empty, { most: targets[name].empty }, "ms"),
      verdict(`${name}: ready on a used folder`, used, { most: targets[name].used }, "ms"),
      verdict(`${name}: idle`, idle, { most: targets[name].idle }, "MB"),
      verdict(`${name}: under load`, loaded, { most: 250 }, "MB"),
    ]),
    ...(isBuilt ? [verdict("dist/corestead: size", Bun.file(binary).size / 1e6, { most: 120 }, "MB")] : []),
  ]),
];
await publish("start", text.join("\n\n"), options.write);

async function readyAfter(command: readonly string[], dataDir: string): Promise<number> {
  const server = await startCorestead(dataDir, {}, command);
  await server.stop();
  return server.readyMs;
}

async function measureFloor() {
  const folder = await temporaryFolder();
  const [source, program] = [join(folder, "empty.ts"), join(folder, "empty")];
  const listens = "const { port } = Bun.serve({ port: 0, fetch: () => new Response() });";
  await Bun.write(source, `${listens}\nconsole.log(\`serves on http://127.0.0.1:\${port}\`);\n`);
  await Bun.build({
    entrypoints: [source],
    target: "bun",
    format: "esm",
    bytecode: true,
    compile: { outfile: program },
  });
  const server = await startCorestead(folder, {}, [program]);
  await Bun.sleep(3000);
  const idle = memoryOf(server.pid).now;
  await server.stop();
  const ready: number[] = [];
  const postgres: number[] = [];
  for (let run = 0; run < runs; run++) {
    ready.push(await readyAfter([program], folder));
    postgres.push(await postgresAfter(join(folder, "data")));
  }
  return { readyMs: median(ready), idle, megabytes: Bun.file(program).size / 1e6, postgresMs: median(postgres) };
}

/** Milliseconds until the embedded server answers the first statement, on a folder that has been used. */
async function postgresAfter(dataDir: string): Promise<number> {
  const log = createLog("error");
  await (await startEmbeddedPostgres({ dataDir, log })).stop();
  const begun = performance.now();
  const { target, stop } = await startEmbeddedPostgres({ dataDir, log });
  const sql = openPool(target, { max: 1 });
  await sql`select 1`;
  const ms = performance.now() - begun;
  await sql.end();
  await stop();
  return ms;
}

/** What the executable is made of. */
async function sizes(): Promise<string> {
  const dist = resolve(import.meta.dir, "../../dist");
  const files = async (folder: string) =>
    (await readdir(join(dist, folder), { recursive: true })).map((name) => Bun.file(join(dist, folder, name)));
  const megabytes = (of: readonly Bun.BunFile[]) => of.reduce((sum, { size }) => sum + size, 0) / 1e6;
  const parts = (await files("parts")).toSorted((one, other) => other.lastModified - one.lastModified);
  /** The newest: what earlier builds packed may be there too, and what tests packed less. */
  const packed = (pattern: RegExp) => megabytes(parts.filter(({ name }) => pattern.test(name ?? "")).slice(0, 1));
  /** The executable holds no file that it holds compressed. */
  const forBrowsers = async (folder: string) =>
    megabytes((await files(folder)).filter(({ name }) => /\.(br|gz)$/.test(name ?? "")));
  const known: [string, number][] = [
    ["Bun", floor.megabytes],
    ["PostgreSQL, packed", packed(/-19\/pg-[^/]*$/)],
    ["the cluster with a migrated database, packed", packed(/-19\/cluster-[^/]*$/)],
    ["esbuild, packed", packed(/\/esbuild-[^/]*$/)],
    ["the Studio's files", await forBrowsers("studio")],
    ["what apps import in browsers", await forBrowsers("runtimes")],
  ];
  const whole = Bun.file(binary).size / 1e6;
  const rest = whole - known.reduce((sum, [, size]) => sum + size, 0);
  const rows: [string, number][] = [
    ...known,
    ["our code and its libraries with their bytecode, codecs of pictures, pictures of the demo", rest],
    ["together", whole],
  ];
  return table(
    ["in dist/corestead", "MB"],
    rows.map(([name, size]) => [name, number(size, 1)]),
  );
}

/** Idle a few seconds after the start, and the peak while every operation ran at 64 connections. */
async function memory(command: readonly string[]): Promise<{ idle: number; loaded: number }> {
  const dataDir = await temporaryFolder();
  const server = await startCorestead(dataDir, {}, command);
  await Bun.sleep(3000);
  const idle = memoryOf(server.pid).now;
  const sql = openPool((await postgresOf(dataDir)).target, { max: 2 });
  await seedCorestead(server, sql, "contacts", 5_000);
  await sql.end();
  const load = startLoadGenerator();
  const target = {
    kind: "corestead",
    port: server.port,
    token: adminToken,
    path: "/core/dbs/contacts",
    total: 5_000,
  } as const;
  const seconds = options.quick ? 1 : 4;
  for (const operation of operationNames)
    await load.run({ operation, target, connections: 64, seconds, maxRequests: 200_000, seed: 1 });
  load.stop();
  const loaded = memoryOf(server.pid).peak;
  await server.stop();
  return { idle, loaded };
}
