/**
 * Time until the server is ready, on an empty folder and on a used one, and the memory of its process:
 * `bun scripts/bench/start.ts [--quick] [--write]`. Also measures `dist/corestead` if it has been built.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { openPool } from "../../runtime/db.ts";
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
const programs = [{ name: "from source", command: fromSource }];
if (existsSync(binary)) programs.push({ name: "dist/corestead", command: [binary, "serve"] });

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
  verdictTable(
    results.flatMap(({ name, empty, used, idle, loaded }) => [
      verdict(`${name}: ready on an empty folder`, empty, { most: 1500 }, "ms"),
      verdict(`${name}: ready on a used folder`, used, { most: 600 }, "ms"),
      verdict(`${name}: idle`, idle, { most: 100 }, "MB"),
      verdict(`${name}: under load`, loaded, { most: 250 }, "MB"),
    ]),
  ),
];
await publish("start", text.join("\n\n"), options.write);

async function readyAfter(command: readonly string[], dataDir: string): Promise<number> {
  const server = await startCorestead(dataDir, {}, command);
  await server.stop();
  return server.readyMs;
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
