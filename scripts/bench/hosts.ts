/**
 * The server under Deno beside the same under Bun: `bun scripts/bench/hosts.ts [--quick] [--write]`. Deno must be
 * installed: `scripts/start --deno version`.
 */
import { parseArgs } from "node:util";
import { openPool } from "../../runtime/db.ts";
import { denoEnv, fromSourceByDeno } from "../../tests/deno-process.ts";
import { compare, warmUp, type Comparison, type Pair, type Side } from "./compare.ts";
import type { Target } from "./operations.ts";
import {
  adminToken,
  fromSource,
  memoryOf,
  postgresOf,
  startCorestead,
  startLoadGenerator,
  temporaryFolder,
} from "./processes.ts";
import { measuredWith, number, publish, table, versionOf } from "./report.ts";
import { seedCorestead } from "./seed.ts";
import * as site from "./site-seed.ts";

const { values: options } = parseArgs({
  options: { quick: { type: "boolean", default: false }, write: { type: "boolean", default: false } },
});
const total = options.quick ? 5_000 : 20_000;
const rounds = options.quick ? 3 : 7;
const seconds = options.quick ? 0.7 : 2;
const connections = 16;

interface Running {
  readonly side: Side;
  readonly idleMegabytes: number;
  readonly version: string;
  readonly stop: () => Promise<void>;
}

const bun = await start(fromSource, {});
const deno = await start([...fromSourceByDeno(), "serve"], denoEnv);
const load = startLoadGenerator();
const names = { get: "get by id", list: "list", site: "a page from the cache" };
const asked = { get: "/core/dbs/contacts", list: "/core/dbs/contacts", site: "small.test/little" };
const results: Comparison<keyof typeof names>[] = [];
for (const operation of ["get", "list", "site"] as const) {
  const [one, other] = [bun, deno].map(({ side }) => ({ ...side, target: { ...side.target, path: asked[operation] } }));
  if (!one || !other) continue;
  // Deno is compared with Bun: what it reaches, by what Bun reaches.
  const pair: Pair = { corestead: other, ceiling: one, postgresPid: one.postgresPid ?? 0, load };
  for (const each of [one, other]) await warmUp(pair, each, operation, options.quick ? 1 : 4);
  results.push(await compare(pair, { operation, connections, rounds, seconds }));
}
const loaded = [bun, deno].map(({ side }) => memoryOf(side.server.pid).now);
const speeds = results.map(({ operation, ceiling, corestead, ratio, cpuRatio }) => [
  names[operation],
  number(ceiling.perSecond, 0),
  number(corestead.perSecond, 0),
  number(ratio, 2),
  number(cpuRatio, 2),
]);
const [bunLoaded = NaN, denoLoaded = NaN] = loaded;
const rest = [
  ["ready, ms", bun.side.server.readyMs, deno.side.server.readyMs],
  ["memory idle, MB", bun.idleMegabytes, deno.idleMegabytes],
  ["memory after the load, MB", bunLoaded, denoLoaded],
] as const;
const text = [
  measuredWith(bun.version),
  `Requests per second at ${connections} connections, ${number(total, 0)} records; medians of ${rounds} interleaved rounds of ${seconds} s.`,
  table(["", "Bun", "Deno", "ratio", "processor time, ratio"], speeds),
  table(
    ["", "Bun", "Deno", "ratio"],
    rest.map(([what, a, b]) => [what, number(a, 0), number(b, 0), number(b / a, 2)]),
  ),
];
await publish("hosts", text.join("\n\n"), options.write);
load.stop();
await Promise.all([bun.stop(), deno.stop()]);

/** Its memory is read before it has anything to do; then it is filled. */
async function start(command: readonly string[], env: Record<string, string>): Promise<Running> {
  const dataDir = await temporaryFolder();
  // The first start fills the folder, and Deno's cache.
  await (await startCorestead(dataDir, env, command)).stop();
  const server = await startCorestead(dataDir, env, command);
  await Bun.sleep(3000);
  const idleMegabytes = memoryOf(server.pid).now;
  const postgres = await postgresOf(dataDir);
  const sql = openPool(postgres.target, { max: 2 });
  await seedCorestead(server, sql, "contacts", total);
  await site.seedSite(server, sql, "small", 100);
  const page = { site_code: "small", layout_code: "small-layout", code: "little", path: "little", name: "Little" };
  await site.post(server, "page", { ...page, content: "<h1>{{ title }}</h1>", fields: { title: "T" } });
  const target: Target = { kind: "corestead", port: server.port, token: adminToken, path: "", total };
  const stop = async () => {
    await sql.end();
    await server.stop();
  };
  const side = { server, target, postgresPid: postgres.pid };
  return { side, idleMegabytes, version: await versionOf(sql), stop };
}
