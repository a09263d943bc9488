/**
 * How fast webhooks are delivered: `bun scripts/bench/webhooks.ts`. The server, its PostgreSQL and the receiver (this
 * process) share the processors.
 */
import { openPool } from "../../runtime/db.ts";
import { adminToken, cpuOf, cpuOfPostgres, postgresOf, startCorestead, temporaryFolder } from "./processes.ts";

const deliveries = 20_000;
const rows: [measure: string, value: string][] = [];
/** When each path's requests came, Unix milliseconds, with the time of the change that the record carries. */
const arrivals = new Map<string, { at: number; changedAt: number }[]>();

const receiver = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    const at = performance.timeOrigin + performance.now();
    const { pathname } = new URL(request.url);
    const { created_at: changedAt } = await request.json();
    const seen = arrivals.get(pathname) ?? [];
    arrivals.set(pathname, seen);
    seen.push({ at, changedAt: Date.parse(changedAt) });
    if (pathname.startsWith("/hang")) return new Promise<Response>(() => {});
    return new Response("ok");
  },
});
const dataDir = await temporaryFolder();
const server = await startCorestead(dataDir, { OUTBOUND_ALLOW: "127.0.0.1" });
const { target, pid: postgresPid } = await postgresOf(dataDir);
const sql = openPool(target, { max: 2 });
await post("/core/dbs.json", { db: { name: "Bench", code: "bench" } });

await idleLatency();
await throughput(1, 10);
await throughput(1, 50);
await throughput(10, 10);
await besideHanging();

for (const [measure, value] of rows) process.stdout.write(`| ${measure.padEnd(72)} | ${value.padStart(26)} |\n`);
await sql.end({ timeout: 5 });
await server.stop();
await receiver.stop(true);
process.exit();

/** Sequential changes with pauses between them. The time of a change is taken before it is written. */
async function idleLatency() {
  const hook = await webhook("create", "/idle");
  for (let n = 0; n < 50; n++) await changed(n);
  await until(() => arrivals.get("/idle")?.length === 50);
  arrivals.delete("/idle");
  for (let n = 0; n < 500; n++) {
    await changed(n);
    await Bun.sleep(5 + Math.random() * 10);
  }
  await until(() => arrivals.get("/idle")?.length === 500);
  rows.push(["from before the insert to the receiver, idle, p50 / p99", latencies("/idle")]);
  await remove(hook);
}

/** Events that wait already, from the first arrival to the last. */
async function throughput(hooks: number, concurrency: number) {
  const kind = `bulk${hooks}x${concurrency}`;
  const source = "Bench::Thing";
  const paths = Array.from({ length: hooks }, (_, n) => `/${kind}/${n}`);
  const made = await Promise.all(
    paths.map((path) => webhook(kind, path, { source_type: source, filter: null, concurrency })),
  );
  const events = deliveries / hooks;
  const data = {
    id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e0f",
    created_at: new Date().toISOString(),
    note: "x".repeat(200),
  };
  const before = { server: cpuOf(server.pid), postgres: cpuOfPostgres(postgresPid), receiver: cpuOf(process.pid) };
  const payload = JSON.stringify({ accountId: 1, sourceType: source, kind, id: data.id, data });
  await sql`
    insert into jobs (name, run_at, created_at, payload)
    select 'event:core.model.changed:webhooks', now() + n * interval '1 microsecond', now(), ${payload}::text::json
    from generate_series(1, ${events}::integer) n`;
  await until(() => paths.every((path) => arrivals.get(path)?.length === events));
  const times = paths.flatMap((path) => arrivals.get(path) ?? []).map(({ at }) => at);
  const seconds = (max(times) - min(times)) / 1000;
  const milliseconds = (used: number) => ((used / deliveries) * 1000).toFixed(3);
  const ofServer = milliseconds(cpuOf(server.pid) - before.server);
  const ofPostgres = milliseconds(cpuOfPostgres(postgresPid) - before.postgres);
  const ofReceiver = milliseconds(cpuOf(process.pid) - before.receiver);
  rows.push(
    [
      `deliveries/s of ${events} events to ${hooks} webhook(s), ${concurrency} at once each`,
      Math.round(deliveries / seconds).toLocaleString("en"),
    ],
    ["  processor ms per delivery: server, PostgreSQL, receiver", `${ofServer} + ${ofPostgres} + ${ofReceiver}`],
  );
  await Promise.all(made.map(remove));
}

async function besideHanging() {
  for (const hanging of [0, 1, 20]) {
    const healthy = `/healthy${hanging}`;
    const made = [await webhook("create", healthy)];
    for (let n = 0; n < hanging; n++) made.push(await webhook("create", `/hang${hanging}/${n}`));
    const start = performance.now();
    const sent: Promise<unknown>[] = [];
    for (let n = 0; n < 500; n++) {
      await Bun.sleep(start + n * 20 - performance.now());
      sent.push(changed(n));
    }
    await Promise.all(sent);
    await until(() => arrivals.get(healthy)?.length === 500);
    rows.push([`a healthy receiver beside ${hanging} that hang, 50 changes/s, p50 / p99`, latencies(healthy)]);
    await Promise.all(made.map(remove));
  }
}

async function changed(n: number) {
  await post("/core/dbs/bench/records.json", { record: { data: { n } } });
}

async function webhook(kind: string, path: string, fields: object = {}): Promise<number> {
  const url = `http://127.0.0.1:${receiver.port}${path}`;
  const given = { source_type: "Core::Record", kind, url, filter: { db_code: "bench" }, ...fields };
  return (await post("/account/webhooks.json", { webhook: given })).id;
}

async function remove(id: number) {
  await fetch(`http://127.0.0.1:${server.port}/account/webhooks/${id}.json`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${adminToken}` },
  });
}

async function post(path: string, body: object) {
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

async function until(check: () => boolean) {
  const end = performance.now() + 120_000;
  while (!check()) {
    if (performance.now() > end)
      throw new Error(
        `deliveries are missing: ${JSON.stringify([...arrivals].map(([path, all]) => [path, all.length]))} ${JSON.stringify([await sql`select count(*) from jobs`, await sql`select status, count(*), min(error), max(attempts), min(next_attempt_at) from webhook_deliveries group by 1`, await sql`select count(*), min(due_at), max(due_at), count(worker) as w, now() from webhook_queue`])}`,
      );
    await Bun.sleep(10);
  }
}

function latencies(path: string): string {
  const sorted = (arrivals.get(path) ?? []).map(({ at, changedAt }) => at - changedAt).toSorted((a, b) => a - b);
  const at = (p: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? NaN).toFixed(1);
  return `${at(0.5)} / ${at(0.99)} ms`;
}

function max(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b), -Infinity);
}

function min(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b), Infinity);
}
