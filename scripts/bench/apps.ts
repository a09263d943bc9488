/**
 * How fast apps compile and load: `bun scripts/bench/apps.ts [--quick] [--write] [--only=largeSources]` (or another
 * part). Uses a real server with its own PostgreSQL in a temporary folder and its compiler process; every source is
 * different, so nothing comes from the cache.
 */
import { readdirSync, readFileSync } from "node:fs";
import { runLoop } from "./client.ts";
import type { Exchange } from "./operations.ts";
import { adminToken, startCorestead, temporaryFolder } from "./processes.ts";
import { number, publish, table, verdict, verdictTable, type Verdict } from "./report.ts";
import { median } from "./compare.ts";

const quick = process.argv.includes("--quick");
const rounds = quick ? 50 : 200;
const compiles = quick ? 100 : 1_000;
const only = process.argv.find((word) => word.startsWith("--only="))?.slice("--only=".length);
const server = await startCorestead(await temporaryFolder());
const origin = `http://127.0.0.1:${server.port}`;
const verdicts: Verdict[] = [];
const tables: string[] = [];
/** So that no source is compiled twice. */
let compiled = 1;

const counter = (n: number) => `<script>
  let count = $state(${n});
  let double = $derived(count * 2);
</script>
<main class="mx-auto max-w-md p-6">
  <h1 class="text-2xl font-bold">Counter</h1>
  <p class="mt-2 text-gray-600">Twice that is {double}.</p>
  <button class="mt-4 rounded bg-blue-500 px-4 py-2 text-white hover:bg-blue-600" onclick={() => count++}>{count}</button>
</main>`;
const component = (n: number) => `import { useState } from "react";
export default function App() {
  const [count, setCount] = useState(${n});
  return <button onClick={() => setCount(count + 1)}>{count}</button>;
}`;
const singleFile = (n: number) => `<script setup lang="ts">
import { ref } from "vue";
const count = ref<number>(${n});
</script>
<template><button @click="count++">{{ count }}</button></template>
<style scoped>button { color: red }</style>`;

try {
  for (const part of [compileTimes, largeSources, memory, loads, serving])
    if (only === undefined || part.name === only) await part();
  await publish("apps", [...tables, verdictTable(verdicts)].join("\n\n"), process.argv.includes("--write"));
} finally {
  await server.stop();
}
process.exit(0);

async function compileTimes(): Promise<void> {
  const kinds = [
    ["svelte", "tailwind", counter, 25],
    ["svelte", "none", counter, undefined],
    ["react", "none", component, 8],
    ["react", "tailwind", component, undefined],
    ["vue", "none", singleFile, undefined],
  ] as const;
  const rows: string[][] = [];
  for (const [engine, css, source, most] of kinds) {
    const id = await create(engine, css, source(0));
    const times: number[] = [];
    for (let n = 1; n <= rounds + 20; n++) times.push(await patch(id, source(n)));
    const warm = sorted(times.slice(20)); // the first twenty warm it up
    const middle = at(warm, 0.5);
    rows.push([`${engine} + ${css}`, number(middle, 2), number(at(warm, 0.99), 2)]);
    if (most !== undefined) verdicts.push(verdict(`${engine} + ${css}, median`, middle, { most }, "ms"));
  }
  tables.push(table(["warm compile over HTTP (PATCH)", "p50 ms", "p99 ms"], rows));
}

/**
 * Ten large compilations in a row, and their effect on other requests, of which there are half as many as the idle
 * server can answer. The machine is sometimes half as fast for about ten seconds, whatever runs on it, so idle time is
 * measured right before and after each queue.
 */
async function largeSources(): Promise<void> {
  const ids = await Promise.all(Array.from({ length: 10 }, (_, n) => create("svelte", "tailwind", counter(1000 + n))));
  const [first = ""] = ids;
  const single = await patch(first, large(0));
  await others(5); // warms them up
  const most = (await others(4)).length / 4;
  const rate = Math.round(most / 2);
  const last: number[] = [];
  const times = { idle: [] as number[], busy: [] as number[] };
  const ratios: number[] = [];
  for (let round = 0; round < 3; round++) {
    const idle = await others(2, rate);
    const state = { running: true };
    const queue = Promise.all(ids.map((id) => patch(id, large(compiled++))));
    const ended = queue.finally(() => (state.running = false));
    const busy: number[] = [];
    while (state.running) append(busy, await others(0.5, rate));
    last.push(Math.max(...(await ended)));
    append(idle, await others(2, rate));
    ratios.push(at(sorted(busy), 0.99) / at(sorted(idle), 0.99));
    append(times.idle, idle);
    append(times.busy, busy);
  }
  const rows = [["idle", sorted(times.idle)] as const, ["while they compile", sorted(times.busy)] as const].map(
    ([name, all]) => [name, number(at(all, 0.5), 2), number(at(all, 0.99), 2), number(all.length, 0)],
  );
  const title = `GET /core/prompts.json while ten of 200 kB compile, ${number(rate, 0)} a second`;
  tables.push(table([title, "p50 ms", "p99 ms", "requests"], rows));
  verdicts.push(verdict("200 kB of svelte", single / 1000, { most: 6 }, "s"));
  verdicts.push(verdict("ten of them, the last", Math.max(...last) / 1000, { most: 60 }, "s"));
  verdicts.push(verdict("p99 of others to its idle value, at half of the maximum", median(ratios), { most: 1.5 }));
}

function append(all: number[], further: readonly number[]): void {
  for (const one of further) all.push(one); // too many for spread arguments
}

function sorted(all: readonly number[]): readonly number[] {
  return all.toSorted((a, b) => a - b);
}

async function memory(): Promise<void> {
  const id = await create("svelte", "tailwind", counter(5000));
  const rows: string[][] = [];
  const held: number[] = [];
  for (let n = 0; n <= compiles; n++) {
    if (n > 0) await patch(id, counter(10_000 + n));
    if (n % (compiles / 5) !== 0) continue;
    const [own, children] = [
      residentOf(server.pid),
      childrenOf(server.pid).reduce((sum, pid) => sum + residentOf(pid), 0),
    ];
    rows.push([`${n}`, number(own, 0), number(children, 0)]);
    held.push(own + children);
  }
  tables.push(table(["compiles", "server MB", "compiler and esbuild MB"], rows));
  const [start = 0, end = 0] = [held[1], held.at(-1)];
  verdicts.push(
    verdict(`memory after ${compiles} compiles to that after ${compiles / 5}`, end / start, { most: 1.15 }),
  );
}

/** What a browser fetches, gzipped: everything for the first app, only what is new for a second. */
async function loads(): Promise<void> {
  const seen = new Set<string>();
  const sizes: number[] = [];
  for (const n of [20_001, 20_002]) {
    const id = await create("svelte", "tailwind", counter(n));
    sizes.push(await load(`/a/${id}`, seen));
  }
  const [first = 0, second = 0] = sizes;
  tables.push(
    table(
      ["load, gzip", "bytes"],
      [
        ["first app", number(first, 0)],
        ["second app", number(second, 0)],
      ],
    ),
  );
  verdicts.push(verdict("first load of the counter", first / 1000, { most: 60 }, "kB"));
  verdicts.push(verdict("a second app of the same engine", second / 1000, { most: 4 }, "kB"));
}

/** A public app's page, with a new token for each visitor, compared with static files of the same server. */
async function serving(): Promise<void> {
  const id = await create("svelte", "tailwind", counter(30_000));
  await send("PATCH", `/core/apps/${id}.json`, { public: true });
  const html = await (await fetch(`${origin}/a/${id}`)).text();
  const named = (ending: string) => new RegExp(`"(/[^"]+${ending})"`).exec(html)?.[1] ?? "";
  const paths = { page: `/a/${id}`, sdk: named("core\\.js"), styles: named("\\.css") };
  const sizes = await Promise.all(
    Object.values(paths).map(async (path) => (await fetch(`${origin}${path}`)).bytes().then(({ length }) => length)),
  );
  const rates: number[][] = Object.values(paths).map(() => []);
  for (let round = 0; round < 4; round++) {
    for (const [n, path] of Object.values(paths).entries()) {
      const rate = await perSecond(path);
      if (round > 0) rates[n]?.push(rate); // the first one warms them up up
    }
  }
  const [page = NaN, sdk = NaN, styles = NaN] = rates.map(median);
  const row = (name: string, n: number, rate: number) => [name, number(sizes[n] ?? NaN, 0), number(rate, 0)];
  tables.push(
    table(
      ["GET at 16 connections", "bytes", "requests/s"],
      [
        row("a public app's page", 0, page),
        row("the SDK, a static file", 1, sdk),
        row("the app's styles, a static file", 2, styles),
      ],
    ),
  );
  verdicts.push(verdict("an app's page beside the SDK as a static file", page / sdk, { least: 0.8 }));
}

async function perSecond(path: string): Promise<number> {
  const request = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/html\r\n\r\n`;
  const exchange: Exchange = { request, status: 200, contains: "", verify: (body) => body !== "" };
  const loop = { port: server.port, connections: 16, seconds: quick ? 0.5 : 2, maxRequests: 200_000 };
  const { requests, seconds } = await runLoop({ ...loop, next: () => exchange });
  return requests / seconds;
}

async function load(path: string, seen: Set<string>): Promise<number> {
  const headers = { authorization: `Bearer ${adminToken}`, accept: "text/html", "accept-encoding": "gzip" };
  const page = await fetch(`${origin}${path}`, { headers });
  const html = await page.text();
  let bytes = Bun.gzipSync(html).length;
  const named = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].flatMap(([, address]) => address ?? []);
  for (const address of new Set(named)) {
    if (seen.has(address)) continue;
    seen.add(address);
    const answer = await fetch(`${origin}${address}`, { headers, decompress: false });
    if (answer.status !== 200) throw new Error(`${address}: ${answer.status}`);
    const body = await answer.bytes();
    bytes += answer.headers.get("content-encoding") === "gzip" ? body.length : Bun.gzipSync(body).length;
  }
  return bytes;
}

/** The latencies of other requests at 16 connections, sorted. */
async function others(seconds: number, rate?: number): Promise<number[]> {
  const head = ["GET /core/prompts.json HTTP/1.1", "host: 127.0.0.1", `authorization: Bearer ${adminToken}`];
  const exchange: Exchange = {
    request: `${head.join("\r\n")}\r\n\r\n`,
    status: 200,
    contains: "[",
    verify: (text) => Array.isArray(JSON.parse(text)),
  };
  const loop = {
    port: server.port,
    connections: 16,
    seconds,
    maxRequests: 200_000,
    next: () => exchange,
    perSecond: rate,
  };
  return [...(await runLoop(loop)).latencies];
}

function large(n: number): string {
  let text = `<script>let n = $state(${n});</script>\n`;
  for (let item = 0; text.length < 199_800; item++)
    text += `<div class="p-${item % 20} text-red-${(item % 9) + 1}00"><b onclick={() => n++}>item ${item} {n + ${item}}</b></div>\n`;
  return text;
}

async function create(engine: string, css: string, source: string): Promise<string> {
  const app = { name: `${engine} ${crypto.randomUUID()}`, app_engine: engine, css_engine: css, source_code: source };
  const answer = await send("POST", "/core/apps.json", app);
  const { id }: { id: string } = JSON.parse(answer);
  return id;
}

/** Milliseconds. */
async function patch(id: string, source: string): Promise<number> {
  const began = performance.now();
  await send("PATCH", `/core/apps/${id}.json`, { source_code: source });
  return performance.now() - began;
}

async function send(method: string, path: string, app: object): Promise<string> {
  const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };
  const answer = await fetch(`${origin}${path}`, { method, headers, body: JSON.stringify({ app }) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 200)}`);
  return text;
}

function at(all: readonly number[], share: number): number {
  return all[Math.floor((all.length - 1) * share)] ?? NaN;
}

/** Megabytes. */
function residentOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes ?? 0) / 1000;
}

/** The compiler process and its children, without PostgreSQL. */
function childrenOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const status = readFileSync(`/proc/${name}/status`, "utf8");
      if (/^Name:\s+postgres/m.test(status)) continue;
      parents.set(Number(name), Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]));
    } catch {
      // The process has ended meanwhile.
    }
  }
  const below = (of: number): number[] =>
    [...parents].flatMap(([child, parent]) => (parent === of ? [child, ...below(child)] : []));
  return below(pid);
}
