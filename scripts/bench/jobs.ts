/**
 * How fast the job queue is: `bun scripts/bench/jobs.ts [--quick] [--write]`. It starts an embedded PostgreSQL in a
 * temporary folder; `DATABASE_URL` uses another (empty!) database instead.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createBroadcast } from "../../runtime/events/broadcast.ts";
import { afterCommit, openPool, transaction, type DatabaseTarget, type Sql } from "../../runtime/db.ts";
import { startEmbeddedPostgres } from "../../runtime/postgres/embedded-postgres.ts";
import { createQueue, type Queue } from "../../runtime/jobs/jobs.ts";
import { createLog } from "../../runtime/log.ts";
import { runtimeMigrations } from "../../runtime/postgres/runtime-migrations.ts";
import { job } from "../../runtime/references.ts";
import { measuredWith, number, publish, table, verdict, verdictTable, versionOf, type Verdict } from "./report.ts";

const { values: options } = parseArgs({
  options: { quick: { type: "boolean", default: false }, write: { type: "boolean", default: false } },
});
/** A tenth of everything. */
const scale = options.quick ? 0.1 : 1;
const waitingCounts = options.quick ? [1000, 100_000] : [1000, 100_000, 1_000_000];
const verdicts: Verdict[] = [];
const log = createLog("warn");
const noop = job<{ n: number }>("bench.noop");
const parked = job<{ n: number }>("bench.nobody");
const rows: [measure: string, value: string][] = [];

const folder = await mkdtemp(join(tmpdir(), "corestead-bench-"));
const url = Bun.env["DATABASE_URL"];
const server = url ? undefined : await startEmbeddedPostgres({ dataDir: folder, log });
const target: DatabaseTarget = server ? server.target : { url: url ?? "" };
const sql = openPool(target, { max: 10 });
const migration = runtimeMigrations.map((one) => one.sql).join("\n");
await sql.unsafe(migration);
const broadcast = createBroadcast({
  sql,
  listen: () => openPool(target, { max: 1 }),
  processId: "bench",
  log,
  solo: true,
});
await broadcast.start();

await enqueueing();
await processing(20);
await processing(100);
await latency();
const claims = await claiming();

const report = [
  measuredWith(await versionOf(sql)),
  table(["job queue", "measured"], rows),
  claims,
  verdictTable(verdicts),
];
await broadcast.stop();
await sql.end({ timeout: 5 });
await server?.stop();
await rm(folder, { recursive: true, force: true });
await publish("jobs", report.join("\n\n"), options.write);

function newQueue(): Queue {
  return createQueue({ sql, broadcast, log, processId: `bench-${crypto.randomUUID()}` });
}

async function enqueueing() {
  const queue = newQueue();
  await concurrently(16, 2000 * scale, (n) => queue.enqueue(parked, { n }));
  const count = 10_000 * scale;
  const single = await timed(() => concurrently(16, 2 * count, (n) => queue.enqueue(parked, { n })));
  rows.push(["enqueue, one statement each, 16 concurrent", `${rate(2 * count, single)}/s`]);
  const inTransaction = await timed(() =>
    concurrently(16, count, (n) => transaction(sql, (tx) => queue.enqueue(parked, { n }, { tx }))),
  );
  rows.push(["enqueue, in a transaction each, 16 concurrent", `${rate(count, inTransaction)}/s`]);
  const batch = Array.from({ length: 1000 }, (_, n) => ({ n }));
  const batches = 200 * scale;
  const batched = await timed(() => concurrently(4, batches, () => queue.enqueueMany(parked, batch)));
  rows.push(["enqueueMany, 1000 each, 4 concurrent", `${rate(1000 * batches, batched)}/s`]);
  await sql`truncate jobs`;
}

async function processing(concurrency: number) {
  const total = 100_000 * scale;
  for (const when of ["waiting already", "enqueued meanwhile, 100 at a time"]) {
    const queue = newQueue();
    const { promise, resolve } = Promise.withResolvers<void>();
    let done = 0;
    queue.handle(noop, async () => void (++done === total && resolve()), { concurrency });
    const batch = Array.from({ length: 100 }, (_, n) => ({ n }));
    const fill = () => concurrently(4, total / 100, () => queue.enqueueMany(noop, batch));
    if (when === "waiting already") await fill();
    const ms = await timed(async () => {
      await queue.start();
      if (when !== "waiting already") await fill();
      await promise;
      await queue.stop();
    });
    rows.push([`processed, concurrency ${concurrency}, ${when}`, `${rate(total, ms)}/s`]);
    await sql`truncate job_history`;
  }
}

async function latency() {
  for (const perSecond of [20, 500]) {
    const queue = newQueue();
    const starts: number[] = [];
    const committed = new Map<number, number>();
    const count = perSecond * (options.quick ? 2 : 8);
    const { promise, resolve } = Promise.withResolvers<void>();
    queue.handle(noop, async ({ n }) => {
      starts.push(performance.now() - (committed.get(n) ?? NaN));
      if (starts.length === count) resolve();
    });
    await queue.start();
    const begin = performance.now();
    await Promise.all(
      Array.from({ length: count }, async (_, n) => {
        await Bun.sleep(begin + (n * 1000) / perSecond - performance.now());
        await transaction(sql, async (tx) => {
          // Registered first, so it is called after the commit and before the queue wakes.
          afterCommit(tx, () => void committed.set(n, performance.now()));
          await queue.enqueue(noop, { n }, { tx });
        });
      }),
    );
    await promise;
    await queue.stop();
    starts.sort((a, b) => a - b);
    rows.push([
      `start after the commit, ${perSecond} jobs/s, p50 / p99`,
      `${percentile(starts, 0.5)} / ${percentile(starts, 0.99)} ms`,
    ]);
  }
}

/** Claims one job among others that are not due or not ours, alternating between tables of different sizes. */
async function claiming(): Promise<string> {
  const tables = [];
  for (const waiting of waitingCounts) tables.push({ waiting, on: await tableOf(waiting), times: [] as number[] });
  for (let round = 0; round < 300; round++) {
    for (const { on, times } of tables) {
      const start = performance.now();
      await on`select id from claim_jobs(${["bench.noop"]}, ${[1]}, ${[30]}, array['-infinity'::timestamptz], 'bench', null)`;
      // The first claims read the catalogue.
      if (round >= 50) times.push(performance.now() - start);
    }
  }
  for (const { on } of tables) await on.end({ timeout: 5 });
  const results = tables.map(({ waiting, times }) => {
    times.sort((a, b) => a - b);
    return { waiting, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
  });
  const [least, ...more] = results;
  for (const { waiting, p50 } of more) {
    const what = `claim with ${number(waiting, 0)} waiting, p50 by that with 1,000`;
    verdicts.push(verdict(what, Number(p50) / Number(least?.p50), { most: 1.5 }));
  }
  return table(
    ["claim of one, jobs waiting", "p50 ms", "p99 ms"],
    results.map(({ waiting, p50, p99 }) => [number(waiting, 0), p50, p99]),
  );
}

/**
 * A queue in a schema of its own, on one connection. A third of its jobs is due, a third is due tomorrow, and a third
 * has other names.
 */
async function tableOf(waiting: number): Promise<Sql> {
  const on = openPool(target, { max: 1 });
  await on.unsafe(`create schema waiting_${waiting}; set search_path to waiting_${waiting}; ${migration}`);
  await on`
    insert into jobs (name, run_at, created_at, payload)
    select case when n % 3 = 2 then 'bench.other' || n % 10 else 'bench.noop' end,
      now() + case when n % 3 = 1 then interval '1 day' else interval '-1 minute' end, now(), '{"n":1}'
    from generate_series(1, ${waiting}::integer) n`;
  return on;
}

async function concurrently(width: number, count: number, run: (n: number) => Promise<unknown>) {
  let next = 0;
  const worker = async () => {
    while (next < count) await run(next++);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

function rate(count: number, ms: number): string {
  return Math.round(count / (ms / 1000)).toLocaleString("en");
}

function percentile(sorted: readonly number[], p: number): string {
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? NaN).toFixed(2);
}
