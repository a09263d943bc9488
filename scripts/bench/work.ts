/**
 * The server's own work: `bun scripts/bench/work.ts [--quick] [--only queue,webhooks,messages,inbox,flows,apps]`. How fast the queue of
 * jobs is, how soon a webhook arrives and whether receivers that hang delay others, messages that start flows, an inbox of 100,000 questions, runs of flows and actions of
 * apps, and how long apps take to compile.
 */
import { readdirSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { afterCommit, openPool, transaction } from "../../runtime/db/db.ts";
import { createBroadcast } from "../../runtime/broadcast/broadcast.ts";
import { createQueue } from "../../runtime/jobs/jobs.ts";
import { createLog } from "../../runtime/system/log.ts";
import { job } from "../../runtime/base/references.ts";
import * as harness from "./harness.ts";
import { adminToken, median, number, percentile, timed } from "./harness.ts";
import { runLoop, send, summaryOf, type Exchange } from "./load.ts";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", default: "queue,webhooks,messages,inbox,flows,apps" },
  },
});
/** A tenth of everything. */
const scale = options.quick ? 0.1 : 1;
const dataDir = await harness.temporaryFolder();
const server = await harness.startCorestead(dataDir, {
  RATE_LIMIT_ACTIONS: "1000000000",
  RATE_LIMIT_REQUESTS: "1000000000",
});
const { target } = await harness.postgresOf(dataDir);
const sql = openPool(target, { max: 10 });
await harness.printMeasuredWith(sql);
for (const part of [queue, webhooks, messages, inbox, flows, apps])
  if (options.only.split(",").includes(part.name)) await part();
await sql.end({ timeout: 5 });
await server.stop();
process.exit();

/** Queues of this process in the database of the idle server, whose own names are others. */
async function queue(): Promise<void> {
  const log = createLog("warn");
  const listen = () => openPool(target, { max: 1 });
  const broadcast = createBroadcast({ sql, listen, processId: "bench", log });
  await broadcast.start();
  const newQueue = () => createQueue({ sql, broadcast, log, processId: `bench-${crypto.randomUUID()}` });
  const noop = job<{ n: number }>("bench.noop");
  const parked = job<{ n: number }>("bench.parked");
  const batch = Array.from({ length: 1000 }, (_, n) => ({ n }));
  const count = 20_000 * scale;
  const rows: string[][] = [];
  const rate = (what: string, jobs: number, ms: number) => rows.push([what, `${number((jobs / ms) * 1000)}/s`]);

  const writer = newQueue();
  const later = { runAt: new Date(Date.now() + 86_400_000) };
  const single = () => concurrently(16, count, (n) => writer.enqueue(parked, { n }, later));
  rate("enqueue, one statement each, 16 at once", count, await timed(single));
  const many = 1000 * scale; // a million with those before
  rate(
    "add, 1,000 each, 4 at once",
    many * 1000,
    await timed(() =>
      concurrently(4, many, () => writer.add(batch.map((payload) => ({ name: parked.id, payload, ...later })))),
    ),
  );
  for (const concurrency of [20, 100]) {
    const worker = newQueue();
    const { promise, resolve } = Promise.withResolvers<void>();
    let done = 0;
    worker.handle(noop, async () => void (++done === count && resolve()), { concurrency });
    await concurrently(4, count / 1000, () => worker.add(batch.map((payload) => ({ name: noop.id, payload }))));
    const ms = await timed(async () => {
      await worker.start();
      await promise;
    });
    await worker.stop();
    rate(`processed, ${concurrency} at once, beside a million that wait for tomorrow`, count, ms);
  }
  for (const perSecond of [20, 500]) {
    const worker = newQueue();
    const waits: number[] = [];
    const committed = new Map<number, number>();
    const total = perSecond * (options.quick ? 2 : 8);
    worker.handle(noop, async ({ n }) => void waits.push(performance.now() - (committed.get(n) ?? NaN)));
    await worker.start();
    await paced(total, perSecond, (n) =>
      transaction(sql, async (tx) => {
        // Registered first, so it is called after the commit and before the queue wakes.
        afterCommit(tx, () => void committed.set(n, performance.now()));
        await worker.enqueue(noop, { n }, { tx });
      }),
    );
    await until(() => waits.length === total, "jobs");
    await worker.stop();
    const shown = [0.5, 0.99].map((share) => number(percentile(waits, share), 2));
    rows.push([`start after the commit, ${perSecond} jobs/s, p50 / p99`, `${shown.join(" / ")} ms`]);
  }
  await broadcast.stop();
  harness.printTable(["job queue", "measured"], rows);
}

/** From before a record's insert to the receiver, with the commit. Throughput is measured by records.ts. */
async function webhooks(): Promise<void> {
  const arrivals = new Map<string, number[]>();
  const receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const at = performance.timeOrigin + performance.now();
      const { pathname } = new URL(request.url);
      const { created_at: changedAt } = await request.json();
      arrivals.set(pathname, [...(arrivals.get(pathname) ?? []), at - Date.parse(changedAt)]);
      return pathname.startsWith("/hang") ? new Promise<Response>(() => {}) : new Response("ok");
    },
  });
  await harness.api(server, "POST", "/core/dbs.json", { db: { name: "Bench", code: "bench" } });
  const hook = async (path: string): Promise<number> => {
    const url = `http://127.0.0.1:${receiver.port}${path}`;
    const webhook = { source_type: "Core::Record", kind: "create", url, filter: { db_code: "bench" } };
    return (await harness.api(server, "POST", "/account/webhooks.json", { webhook })).id;
  };
  /** Latencies at 50 changes a second, beside 20 other webhooks. */
  const beside = async (others: string, round: number) => {
    const path = `/healthy/${others}/${round}`;
    const hooks = [await hook(path)];
    for (let n = 0; n < (others === "none" ? 0 : 20); n++) hooks.push(await hook(`/${others}/${round}/${n}`));
    const changes = options.quick ? 100 : 250;
    const create = (n: number) =>
      harness.api(server, "POST", "/core/dbs/bench/records.json", { record: { data: { n } } });
    await paced(changes, 50, create);
    await until(() => arrivals.get(path)?.length === changes, "deliveries");
    await Promise.all(hooks.map((id) => harness.api(server, "DELETE", `/account/webhooks/${id}.json`)));
    return arrivals.get(path) ?? [];
  };
  await beside("none", -1); // warms it up
  const rows: string[][] = [];
  const p99s = new Map<string, number>();
  for (const others of ["none", "answer", "hang"]) {
    const rounds: number[][] = [];
    for (let round = 0; round < (options.quick ? 1 : 3); round++) rounds.push(await beside(others, round));
    const [p50, p99] = [0.5, 0.99].map((share) => median(rounds.map((one) => percentile(one, share))));
    p99s.set(others, p99 ?? NaN);
    rows.push([others === "none" ? "alone" : `20 that ${others}`, number(p50 ?? NaN, 1), number(p99 ?? NaN, 1)]);
  }
  await receiver.stop(true);
  harness.printTable(["from change to receiver, 50/s, beside", "p50 ms", "p99 ms"], rows);
  harness.bound("p99 alone", p99s.get("none") ?? NaN, { most: 30 }, " ms");
  const ratio = (p99s.get("hang") ?? NaN) / (p99s.get("answer") ?? NaN);
  harness.bound("p99 beside 20 that hang, by that beside 20 that answer", ratio, { most: 2 });
}

/** Signed messages of other services: how many are taken in a second, and until the last of them has started its flow. */
async function messages(): Promise<void> {
  const flow = { name: "taken", code: "taken", fields: { program: [{ type: "return", value: "{{ body }}" }] } };
  await harness.api(server, "POST", "/connect/flows.json", { flow });
  const hook = { name: "taken", flow_code: "taken", scheme: "github", secret: "bench" };
  const { id, url } = await harness.api(server, "POST", "/connect/hooks.json", { hook });
  const body = { order: 1, text: "x".repeat(500) };
  const signature = new Bun.CryptoHasher("sha256", "bench").update(JSON.stringify(body)).digest("hex");
  let n = 0;
  const next = () => {
    const signed = `X-Hub-Signature-256: sha256=${signature}\r\nX-GitHub-Delivery: ${++n}\r\n`;
    const request = send({ token: "" }, "POST", new URL(url).pathname, body);
    return { request: request.replace(/Authorization.*\r\n/, signed), status: 200, contains: '"id"' };
  };
  const rows: string[][] = [];
  for (const connections of [16, 64]) {
    const measured = summaryOf(await runLoop({ port: server.port, connections, seconds: options.quick ? 2 : 8, next }));
    const waiting = async () =>
      (await sql`select 1 from hook_arrivals where hook_id = ${id} and status = 'waiting' limit 1`).length > 0;
    const ms = await timed(async () => {
      while (await waiting()) await Bun.sleep(50);
    });
    const perSecond = measured.requests / measured.seconds;
    const started = measured.requests / (measured.seconds + ms / 1000);
    rows.push([`${connections}`, ...[perSecond, started].map((one) => number(one)), number(measured.p99, 1)]);
    if (connections === 64) harness.bound("messages/s taken", perSecond, { least: 2000 });
  }
  harness.printTable(["messages at once", "taken a second", "started a second", "p99 ms"], rows);
}

/** The questions of one person, half of them theirs by their role. */
async function inbox(): Promise<void> {
  const count = 100_000 * scale;
  await sql`
    insert into asks (account_id, id, process_id, flow_code, people, title, text, choices, fields, expires_at)
    select 1, gen_random_uuid(), gen_random_uuid(), 'bench',
      array[case when n % 2 = 0 then '1/user:1' else '1/role:admin' end], 'Approve order ' || n || '?', repeat('x', 200),
      '[{"value":"approve"},{"value":"decline"}]', '{}', now() + interval '30 days'
    from generate_series(1, ${count}) n`;
  await sql`analyze asks`;
  const times: number[] = [];
  for (let run = 0; run < 15; run++)
    times.push(await timed(() => harness.api(server, "GET", "/core/inbox.json?limit=200&open=true")));
  harness.printTable(["questions that wait", "the newest 200, ms"], [[number(count), number(median(times), 1)]]);
  harness.bound("an inbox", median(times), { most: 300 }, " ms");
}

/** A run is one request, answered when the process has ended and is stored with all its steps. */
async function flows(): Promise<void> {
  const advice = { advice: "Take a hat, {{ name }}" };
  const computing = [
    { type: "mutation", set: { temp: "{{ temp }}" } },
    { type: "mutation", set: { fahrenheit: "{{ temp | times: 1.8 | plus: 32 }}" } },
    // oxlint-disable-next-line unicorn/no-thenable -- a step's field has this name
    { type: "if", condition: "temp > 20", then: [{ type: "mutation", set: advice }] },
    { type: "return", value: { advice: "{{ advice }}", fahrenheit: "{{ fahrenheit }}" } },
  ];
  const scripted = [{ type: "script", source: "return input.n * 2", input: { n: "{{ temp }}" } }];
  for (const [code, program] of Object.entries({ computing, scripted, short: [{ type: "return", value: advice }] }))
    await harness.api(server, "POST", "/connect/flows.json", { flow: { name: code, code, fields: { program } } });
  const actions = [{ action: "computing", flow_code: "short", public: true }];
  const app = { name: "Bench", app_engine: "html", source_code: "<p>Bench</p>", public: true, actions };
  const { id } = await harness.api(server, "POST", "/core/apps.json", { app });
  const body = { temp: 24, name: "Ewa" };
  const run = send({ token: adminToken }, "POST", "/connect/flows/computing/run.json", body);
  const script = send({ token: adminToken }, "POST", "/connect/flows/scripted/run.json?wait=20", body);
  const action = send({ token: adminToken }, "POST", `/core/apps/${id}/action/computing`, body);
  const finished = '"finished"';
  const requests: Record<string, Exchange> = {
    "a flow of five steps": { request: run, status: 201, contains: finished },
    "a script": { request: script, status: 201, contains: finished },
    "an app's action": { request: action, status: 200, contains: finished },
    "the same by a visitor": { request: action.replace(/Authorization.*\r\n/, ""), status: 200, contains: finished },
  };
  const rows: string[][] = [];
  for (const [what, exchange] of Object.entries(requests)) {
    await loop(exchange, 16, 8 * scale + 2); // until the engine and Liquid are compiled
    for (const connections of [1, 16]) {
      const measured = await loop(exchange, connections, options.quick ? 1 : 4);
      const perSecond = measured.requests / measured.seconds;
      rows.push([what, `${connections}`, number(perSecond), number(measured.p50, 2), number(measured.p99, 2)]);
      if (what === "a flow of five steps" && connections === 16)
        harness.bound("runs/s of a flow of five steps, to beat Node-RED", perSecond, { least: 2681 });
    }
  }
  harness.printTable(["run", "at once", "a second", "p50 ms", "p99 ms"], rows);
}

/** Every source is different, so nothing comes from the cache of builds. */
async function apps(): Promise<void> {
  const kinds = [
    ["svelte", "tailwind", svelte, 25],
    ["svelte", "none", svelte, 15],
    ["react", "none", react, 8],
    ["vue", "none", vue, 20],
  ] as const;
  const rows: string[][] = [];
  const ids: string[] = [];
  let size = 0;
  for (const [engine, css, source, most] of kinds) {
    const app = { name: engine, app_engine: engine, css_engine: css, source_code: source(0), public: true };
    const { id } = await harness.api(server, "POST", "/core/apps.json", { app });
    const times: number[] = [];
    for (let n = 1; n <= 200 * scale + 20; n++) times.push(await saved(id, source(n)));
    const warm = times.slice(20);
    rows.push([`${engine} + ${css}`, number(median(warm), 2), number(percentile(warm, 0.99), 2)]);
    harness.bound(`${engine} + ${css}, median`, median(warm), { most }, " ms");
    ids.push(id);
    if (size === 0) size = await firstLoad(id);
  }
  harness.printTable(["an app saved, compiled anew", "p50 ms", "p99 ms"], rows);
  harness.bound("first load of a Svelte app, gzip", size / 1000, { most: 60 }, " kB");

  const [id = ""] = ids;
  const large = (n: number) => svelte(n) + "<p class='p-4 text-red-500'>{count}</p>\n".repeat(4_400);
  const head = `GET /core/prompts.json HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${adminToken}`;
  const list = { request: `${head}\r\n\r\n`, status: 200, contains: "[" };
  const idle = await loop(list, 4, 3);
  const compiling = (async () => {
    const times: number[] = [];
    for (let n = 0; n < 10; n++) times.push(await saved(id, large(n)));
    return times;
  })();
  const busy = await loop(list, 4, 3);
  const ofLarge = median(await compiling);
  harness.printTable(
    ["GET /core/prompts.json", "p50 ms", "p99 ms"],
    Object.entries({ idle, "while 200 kB compile": busy }).map(([when, one]) => [
      when,
      ...[one.p50, one.p99].map((ms) => number(ms, 2)),
    ]),
  );
  harness.bound("200 kB of Svelte", ofLarge / 1000, { most: 6 }, " s");
  harness.bound("p99 of others by its idle value", busy.p99 / idle.p99, { most: 4 });
  const before = treeMemory();
  for (let n = 0; n < 1000 * scale; n++) await saved(id, svelte(10_000 + n));
  const grown = treeMemory() / before;
  harness.bound(`memory after ${1000 * scale} more compilations by that before`, grown, { most: 1.15 });
}

function saved(id: string, source: string): Promise<number> {
  return timed(() => harness.api(server, "PATCH", `/core/apps/${id}.json`, { app: { source_code: source } }));
}

/** Bytes after gzip of an app's page with all that it names. */
async function firstLoad(id: string): Promise<number> {
  const origin = `http://127.0.0.1:${server.port}`;
  const html = await (await fetch(`${origin}/a/${id}`, { headers: { accept: "text/html" } })).text();
  let bytes = Bun.gzipSync(html).length;
  for (const path of new Set([...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, one = ""]) => one)))
    bytes += Bun.gzipSync(await (await fetch(origin + path)).bytes()).length;
  return bytes;
}

/** Megabytes of the server and of the compiler's processes. */
function treeMemory(): number {
  const parents = readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const status = readFileSync(`/proc/${name}/status`, "utf8");
      const parent = Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]);
      return /^Name:\s+postgres/m.test(status) ? [] : [{ pid: Number(name), parent }];
    } catch {
      return []; // it has ended
    }
  });
  const below = (pid: number): number[] =>
    parents.flatMap((one) => (one.parent === pid ? [one.pid, ...below(one.pid)] : []));
  return [server.pid, ...below(server.pid)].reduce((sum, pid) => sum + harness.memoryOf(pid).now, 0);
}

function svelte(n: number): string {
  return `<script>
  let count = $state(${n});
  let double = $derived(count * 2);
</script>
<main class="mx-auto max-w-md p-6">
  <h1 class="text-2xl font-bold">Counter</h1>
  <button class="rounded bg-blue-500 px-4 py-2 text-white" onclick={() => count++}>{count}, twice {double}</button>
</main>
`;
}

function react(n: number): string {
  return `import { useState } from "react";
export default function App() {
  const [count, setCount] = useState(${n});
  return <button onClick={() => setCount(count + 1)}>{count}</button>;
}`;
}

function vue(n: number): string {
  return `<script setup lang="ts">
import { ref } from "vue";
const count = ref<number>(${n});
</script>
<template><button @click="count++">{{ count }}</button></template>
<style scoped>button { color: red }</style>`;
}

async function loop(exchange: Exchange, connections: number, seconds: number) {
  return summaryOf(await runLoop({ port: server.port, connections, seconds, next: () => exchange }));
}

async function concurrently(width: number, count: number, run: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await run(next++);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

/** Begins so many a second, whether those before have ended or not. */
async function paced(count: number, perSecond: number, run: (n: number) => Promise<unknown>): Promise<void> {
  const begin = performance.now();
  const one = async (n: number) => {
    await Bun.sleep(begin + (n * 1000) / perSecond - performance.now());
    await run(n);
  };
  await Promise.all(Array.from({ length: count }, (_, n) => one(n)));
}

async function until(check: () => boolean, what: string): Promise<void> {
  const end = performance.now() + 60_000;
  while (!check()) {
    if (performance.now() > end) throw new Error(`${what} are missing`);
    await Bun.sleep(10);
  }
}
