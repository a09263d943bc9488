/**
 * Pages of sites: `bun scripts/bench/sites.ts [--quick] [--write] [--pages 100000]`. Compares cached pages with a
 * hand-written get by id, rendering with a bare rendering of the same templates, and a large site, with its sitemap,
 * with a small one.
 */
import { parseArgs } from "node:util";
import { openPool } from "../../runtime/db.ts";
import { median } from "./compare.ts";
import {
  cpuOf,
  cpuOfPostgres,
  memoryOf,
  postgresOf,
  startCeiling,
  startCorestead,
  startLoadGenerator,
  temporaryFolder,
  adminToken,
  type Server,
} from "./processes.ts";
import { measuredWith, number, publish, table, verdict, verdictTable } from "./report.ts";
import { seedCeiling } from "./seed.ts";
import { compareRendering } from "./site-rendering.ts";
import * as site from "./site-seed.ts";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    pages: { type: "string", default: "100000" },
  },
});
const pages = Number(options.pages);
const rounds = options.quick ? 2 : 3;
const seconds = options.quick ? 0.5 : 2;
const warmUpSeconds = options.quick ? 1 : 4;
const connections = 16;

const dataDir = await temporaryFolder();
const corestead = await startCorestead(dataDir);
const postgres = await postgresOf(dataDir);
const sql = openPool(postgres.target, { max: 2 });
await sql`create database ceiling`;
const ceilingTarget = { ...postgres.target, database: "ceiling" };
const ceilingSql = openPool(ceilingTarget, { max: 2 });
await seedCeiling(ceilingSql, 10_000);
await ceilingSql.end();
const ceiling = await startCeiling(ceilingTarget);

await site.seedSite(corestead, sql, "small", 100);
await site.seedSite(corestead, sql, "large", pages);
const big = { site_code: "small", layout_code: "small-layout", fields: site.fields, name: "Big" };
await site.post(corestead, "page", { ...big, code: "big", path: "big", content: site.content });
await site.post(corestead, "page", {
  ...big,
  code: "big-anew",
  path: "big-anew",
  content: site.content + site.uncached,
});
await site.post(corestead, "page", {
  ...big,
  code: "little",
  path: "little",
  content: "<h1>{{ title }}</h1>",
  fields: { title: "T" },
});

const load = startLoadGenerator();

interface Speed {
  readonly perSecond: number;
  readonly p99: number;
  /** Processor milliseconds of the server per request. */
  readonly cpu: number;
}

/** In turn, round by round, so that other load on the machine affects all of them. */
async function compareAll<K extends string>(sides: Record<K, { server: Server; path: string; total?: number }>) {
  const names = Object.keys(sides).filter((name): name is K => name in sides);
  const results = new Map<K, Speed[]>(names.map((name) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    for (const name of names) {
      const { server, path, total = 1 } = sides[name];
      const kind = path === "" ? "ceiling" : "corestead";
      const target = { kind, port: server.port, token: adminToken, path, total: path === "" ? 10_000 : total } as const;
      const operation = path === "" ? "get" : "site";
      const before = cpuOf(server.pid);
      const duration = round < 0 ? warmUpSeconds : seconds;
      const measured = await load.run({
        operation,
        target,
        connections,
        seconds: duration,
        maxRequests: 200_000,
        seed: round + 2,
      });
      const cpu = ((cpuOf(server.pid) - before) / measured.requests) * 1000;
      if (round >= 0)
        results.get(name)?.push({ perSecond: measured.requests / measured.seconds, p99: measured.p99, cpu });
    }
  }
  const speedOf = (name: K): Speed => {
    const all = results.get(name) ?? [];
    const of = (value: (one: Speed) => number) => median(all.map(value));
    return { perSecond: of((one) => one.perSecond), p99: of((one) => one.p99), cpu: of((one) => one.cpu) };
  };
  return { speedOf, rows: names.map((name) => row(name, speedOf(name))) };
}

function row(name: string, { perSecond, p99, cpu }: Speed): string[] {
  return [name, number(perSecond, 0), number(p99, 2), number(cpu, 3)];
}

const speeds = await compareAll({
  "the ceiling's get by id": { server: ceiling, path: "" },
  "a small page from the cache": { server: corestead, path: "small.test/little" },
  "a page of 31 kB from the cache": { server: corestead, path: "small.test/big" },
  "that page rendered anew": { server: corestead, path: "small.test/big-anew?r={r}" },
  "100 pages of a site of 100, rendered anew": { server: corestead, path: "small.test/p{n}?r={r}", total: 100 },
  [`100 pages of a site of ${number(pages, 0)}, rendered anew`]: {
    server: corestead,
    path: "large.test/p{n}?r={r}",
    total: 100,
  },
  [`any of its ${number(pages, 0)} pages, rendered anew`]: {
    server: corestead,
    path: "large.test/p{n}?r={r}",
    total: pages,
  },
});
const { speedOf } = speeds;
load.stop();

const rendering = await compareRendering(sql, options.quick ? 3 : 9, options.quick ? 60 : 150);
const sitemap = await readSitemap();
// With a single domain every page is at its canonical address and listed with its other languages.
for (const name of ["large.test", "en.large.test"]) await site.remove(corestead, "domain", name);
const withAlternates = await readSitemap();
const small = speedOf("100 pages of a site of 100, rendered anew");
const large = speedOf(`100 pages of a site of ${number(pages, 0)}, rendered anew`);
const get = speedOf("the ceiling's get by id");
const [version] = await sql<{ serverVersion: string }[]>`show server_version`;

const text = [
  measuredWith(version?.serverVersion ?? ""),
  `${connections} connections; medians of ${rounds} interleaved rounds of ${seconds} s.`,
  table(["", "requests/s", "p99 ms", "server CPU ms a request"], speeds.rows),
  "The page of 31 kB in processor time, one process, by turns:",
  table(
    ["", "ms", "share of it that is Liquid"],
    [
      ["a bare rendering of its two templates", number(rendering.bare, 2), ""],
      ["rendered anew, HTTP aside", number(rendering.anew, 2), percent(rendering.anewRatio)],
      ["the first after a change, with its four queries", number(rendering.first, 2), percent(rendering.firstRatio)],
    ],
  ),
  `The sitemap of ${number(pages, 0)} pages: ${said(sitemap)}.`,
  `With alternates: ${said(withAlternates)}.`,
  verdictTable([
    verdict(
      "a page from the cache, requests/s by the ceiling's get",
      speedOf("a small page from the cache").perSecond / get.perSecond,
      { least: 0.6 },
    ),
    verdict(
      "31 kB from the cache, requests/s by the ceiling's get",
      speedOf("a page of 31 kB from the cache").perSecond / get.perSecond,
      { least: 0.6 },
    ),
    verdict("a bare rendering by a page rendered anew, processor time", rendering.anewRatio, { least: 0.9 }),
    verdict("a page of a small site by one of a large site, processor time", small.cpu / large.cpu, { least: 0.9 }),
    verdict("the sitemap", sitemap.seconds, { most: 5 }, "s"),
    verdict("the sitemap with alternates", withAlternates.seconds, { most: 5 }, "s"),
  ]),
];
await publish("sites", text.join("\n\n"), options.write);
await sql.end();
await ceiling.stop();
await corestead.stop();

function percent(ratio: number): string {
  return `${number(ratio * 100, 0)} %`;
}

function said(of: Awaited<ReturnType<typeof readSitemap>>): string {
  const processor = `server ${number(of.cpuSeconds, 2)} s, PostgreSQL ${number(of.postgresSeconds, 2)} s`;
  const size = `${of.files} files of ${number(of.addresses, 0)} addresses, ${number(of.megabytes, 0)} MB`;
  const memory = `resident memory ${number(of.before, 0)} MB before, at most ${number(of.peak, 0)} MB`;
  return `${number(of.seconds, 2)} s (processor: ${processor}) for ${size}; the first byte after ${number(of.firstMs, 0)} ms; ${memory}`;
}

async function readSitemap() {
  const before = memoryOf(corestead.pid).now;
  const ask = (path: string) =>
    fetch(`http://127.0.0.1:${corestead.port}${path}`, { headers: { host: "all.large.test" } });
  const cpu = { server: cpuOf(corestead.pid), postgres: cpuOfPostgres(postgres.pid) };
  const all = {
    seconds: 0,
    cpuSeconds: NaN,
    postgresSeconds: NaN,
    files: 0,
    addresses: 0,
    megabytes: 0,
    firstMs: NaN,
    before,
    peak: before,
  };
  const read = async (path: string): Promise<string> => {
    const started = performance.now();
    const response = await ask(path);
    const chunks: string[] = [];
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      if (Number.isNaN(all.firstMs)) all.firstMs = performance.now() - started;
      chunks.push(decoder.decode(chunk, { stream: true }));
      all.peak = Math.max(all.peak, memoryOf(corestead.pid).now);
    }
    const body = chunks.join("");
    all.seconds += (performance.now() - started) / 1000;
    all.files++;
    all.megabytes += body.length / 1e6;
    all.addresses += body.split("<url>").length - 1;
    return body;
  };
  const first = await read("/sitemap.xml");
  for (const [, path = ""] of first.matchAll(/<loc>http:\/\/all\.large\.test(\/sitemap-\d+\.xml)<\/loc>/g))
    await read(path);
  all.cpuSeconds = cpuOf(corestead.pid) - cpu.server;
  all.postgresSeconds = cpuOfPostgres(postgres.pid) - cpu.postgres;
  return all;
}
