import { type JobInfo } from "./job.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { startProcess, startTestDatabase, until, type TestDatabase } from "../../tests/job-fixtures.ts";
import { transaction, type Sql } from "../db/db.ts";

import * as jobStore from "./job-store.ts";
import { job, type JobRef } from "../base/references.ts";
import type { Queue } from "./jobs.ts";
import { noTurns, tookTurns } from "./shares.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
beforeEach(async () => {
  await database.sql`truncate jobs, job_history`;
});
afterAll(() => database.stop());

const count = job<{ n: number }>("test.count");

/** Many jobs in one statement. */
const enqueueMany = <T>(
  queue: Queue,
  { id: name }: JobRef<T>,
  payloads: readonly T[],
  { orderKey, ...rest }: { orderKey?: (payload: T) => string; accountId?: number; share?: string | undefined } = {},
) => queue.add(payloads.map((payload) => ({ name, payload, ...rest, orderKey: orderKey?.(payload) })));

const history = async () =>
  database.sql<{ id: number; outcome: string; attempt: number; error: string | null; payload: unknown }[]>`
    select id, outcome, attempt, error, payload from job_history order by id`;
const waiting = async () => [
  ...(await database.sql<{ id: number; state: string; attempt: number; forgiven: number }[]>`
    select id, state, attempt, forgiven from jobs order by id`),
];

test("a payload of any JSON arrives as it was, also in a batch, and a done job moves to the history", async () => {
  await using a = await startProcess(database.target);
  const ref = job<unknown>("test.any");
  const payloads = [
    { a: 1, b_c: null },
    [1, "x"],
    "text \u0000 \\ \" ' é 💡 \ud800",
    5,
    null,
    true,
    { d: new Date(0) },
  ];
  const seen: unknown[] = [];
  a.queue.handle(ref, async (payload) => void seen.push(payload), { concurrency: 1 });
  await a.queue.start();
  await a.queue.enqueue(ref, undefined);
  await enqueueMany(a.queue, ref, payloads);
  await until(async () => (await history()).length === payloads.length + 1);
  expect(seen).toEqual([null, ...payloads.slice(0, -1), { d: "1970-01-01T00:00:00.000Z" }]);
  expect((await history())[0]).toMatchObject({ outcome: "done", attempt: 1, error: null, payload: null });
  expect(await waiting()).toEqual([]);
});

test("a rolled back transaction writes nothing and wakes nobody", async () => {
  await using a = await startProcess(database.target);
  const woken: string[] = [];
  a.broadcast.on("jobs.due", (name) => woken.push(name));
  const seen: number[] = [];
  a.queue.handle(count, async ({ n }) => void seen.push(n));
  await a.queue.start();
  const failing = transaction(a.sql, async (tx) => {
    await a.queue.enqueue(count, { n: 1 }, { tx });
    throw new Error("taken back");
  });
  await failing.catch(() => {});
  expect(woken).toEqual([]);
  await transaction(a.sql, (tx) => a.queue.enqueue(count, { n: 2 }, { tx }));
  expect(woken).toEqual([count.id]);
  await until(() => seen.length > 0);
  expect(seen).toEqual([2]);
});

test("200 concurrent enqueues of one key write one job; a running one leaves its key free", async () => {
  await using a = await startProcess(database.target);
  const ids = await Promise.all(Array.from({ length: 200 }, (_, n) => a.queue.enqueue(count, { n }, { key: "k" })));
  expect(ids.filter((id) => id !== undefined)).toHaveLength(1);
  expect(await a.queue.enqueue(job("test.other"), 1, { key: "k" })).toBeNumber();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let runs = 0;
  a.queue.handle(count, async () => (runs++, released));
  await a.queue.start();
  await until(() => runs === 1);
  expect(await a.queue.enqueue(count, { n: 1 }, { key: "k", runAt: new Date(Date.now() + 3_600_000) })).toBeNumber();
  expect(await a.queue.enqueue(count, { n: 2 }, { key: "k" })).toBeUndefined();
  release();
});

test("a failed job keeps its key, but loses it to one that was enqueued meanwhile", async () => {
  await using a = await startProcess(database.target);
  const gate = Promise.withResolvers<void>();
  a.queue.handle(count, () => gate.promise, { retry: () => 3600 });
  await a.queue.start();
  const keyed = { key: "k", runAt: new Date() };
  for (const key of ["k", "free"]) await a.queue.enqueue(count, { n: 1 }, { key });
  await until(async () => (await waiting()).every(({ state }) => state === "running"));
  await a.queue.enqueue(count, { n: 2 }, { ...keyed, runAt: new Date(Date.now() + 3_600_000) });
  gate.reject(new Error("failed"));
  await until(async () => (await waiting()).every(({ state }) => state === "waiting"));
  const rows = await a.sql`select key, attempt from jobs order by id`;
  expect(rows.map(({ key, attempt }) => [key, attempt])).toEqual([
    [null, 1],
    ["free", 1],
    ["k", 0],
  ]);
});

test("a failing job is tried again and then given up, with its error and payload in the history", async () => {
  await using a = await startProcess(database.target);
  const attempts: number[] = [];
  const fail = async (_: { n: number }, { attempt }: { attempt: number }) => {
    attempts.push(attempt);
    throw new Error(`attempt ${attempt}\0`);
  };
  a.queue.handle(count, fail, { retry: (attempt) => attempt * 0.01, maxAttempts: 3 });
  await a.queue.start();
  await a.queue.enqueue(count, { n: 1 });
  await until(async () => (await history()).length === 1);
  expect(attempts).toEqual([1, 2, 3]);
  expect((await history())[0]).toMatchObject({
    outcome: "failed",
    attempt: 3,
    error: "Error: attempt 3",
    payload: { n: 1 },
  });
  await a.queue.enqueue(count, { n: 2 }, { maxAttempts: 1 });
  await until(async () => (await history()).length === 2);
  expect((await a.queue.stats()).failed).toBe(2);
});

test("a job for later is not run before its time, and promptly then", async () => {
  // A poll comes too late to be what starts it.
  await using a = await startProcess(database.target, { pollMs: 60_000 });
  const early: boolean[] = [];
  const at = Date.now() + 150;
  a.queue.handle(count, async () => void early.push(Date.now() < at - 5));
  await a.queue.start();
  await a.queue.enqueue(count, { n: 1 }, { runAt: new Date(at) });
  await a.queue.enqueue(count, { n: 2 }, { runAt: new Date(at + 3_600_000) });
  await until(() => early.length === 1);
  expect(early).toEqual([false]);
});

test("two processes run each job once, and leave names without a handler alone", async () => {
  await using a = await startProcess(database.target);
  await using b = await startProcess(database.target);
  const seen: number[] = [];
  for (const one of [a, b]) {
    one.queue.handle(count, async ({ n }) => (await Bun.sleep(1), void seen.push(n)));
    await one.queue.start();
  }
  await a.queue.enqueue(job("test.nobody"), {});
  const payloads = Array.from({ length: 1000 }, (_, n) => ({ n }));
  await Promise.all([enqueueMany(a.queue, count, payloads), ...payloads.map((p) => b.queue.enqueue(count, p))]);
  await until(() => seen.length >= 2000);
  await until(async () => (await waiting()).length === 1);
  expect(seen).toHaveLength(2000);
  expect(new Set(seen).size).toBe(1000);
  // Which process gets how many is a race; between them they did each once.
  const [ofA, ofB] = await Promise.all([a.queue.stats(), b.queue.stats()]);
  expect(ofA.done + ofB.done).toBe(2000);
  expect(ofA.names).toContainEqual({ name: "test.nobody", waiting: 1, oldestDueSeconds: expect.any(Number) });
  expect(ofA.handled).not.toContain("test.nobody");
});

test("jobs of one order key run one after another in order, over two processes and failures", async () => {
  await using a = await startProcess(database.target);
  await using b = await startProcess(database.target);
  const seen = new Map<string, number[]>();
  const busy = new Set<string>();
  const overlaps: string[] = [];
  const ref = job<{ key: string; n: number }>("test.ordered");
  for (const one of [a, b]) {
    const run = async ({ key, n }: { key: string; n: number }, { attempt }: { attempt: number }) => {
      if (busy.has(key)) overlaps.push(key);
      busy.add(key);
      await Bun.sleep(1);
      busy.delete(key);
      if (n % 5 === 0 && attempt === 1) throw new Error("once more");
      seen.set(key, [...(seen.get(key) ?? []), n]);
    };
    one.queue.handle(ref, run, { retry: () => 0.005 });
    await one.queue.start();
  }
  const keys = ["x", "y", "z"];
  const payloads = Array.from({ length: 20 }, (_, n) => keys.map((key) => ({ key, n }))).flat();
  await enqueueMany(a.queue, ref, payloads.slice(0, 30), { orderKey: ({ key }) => key });
  for (const payload of payloads.slice(30)) await b.queue.enqueue(ref, payload, { orderKey: payload.key });
  await until(async () => (await history()).length === 60);
  expect(overlaps).toEqual([]);
  for (const key of keys) expect(seen.get(key)).toEqual(Array.from({ length: 20 }, (_, n) => n));
});

test("a job of an order key that was committed late waits for the one that runs already", async () => {
  await using a = await startProcess(database.target);
  const gate = Promise.withResolvers<void>();
  const started: number[] = [];
  a.queue.handle(count, async ({ n }) => (started.push(n), gate.promise));
  await a.queue.start();
  await transaction(a.sql, async (tx) => {
    await a.queue.enqueue(count, { n: 1 }, { tx, orderKey: "k" });
    await a.queue.enqueue(count, { n: 2 }, { orderKey: "k" });
    await until(() => started.length === 1);
  });
  // Its turn was asked for with the first of these, which is done when the second one runs.
  for (const n of [3, 4]) {
    await a.queue.enqueue(count, { n }, { orderKey: `other ${n}` });
    await until(() => started.includes(n));
  }
  expect(started).toEqual([2, 3, 4]);
  gate.resolve();
  await until(() => started.length === 4);
});

test("an order key whose process died before letting the next one go is picked up at the start", async () => {
  await using a = await startProcess(database.target);
  await a.sql`
    insert into jobs (name, state, run_at, created_at, order_key, payload)
    select 'test.count', 'parked', now(), now(), k, json_build_object('n', n) from unnest(array['x', 'y']) k, generate_series(1, 3) n`;
  const seen: number[] = [];
  a.queue.handle(count, async ({ n }) => void seen.push(n));
  await a.queue.start();
  await until(() => seen.length === 6);
});

test("what a dead process held is taken up at the start where no other process can be, whatever its lease", async () => {
  const [held] = await database.sql`
    insert into jobs (name, state, run_at, created_at, attempt, worker, payload)
    values ('test.count', 'running', now() + interval '1 hour', now(), 1, 'dead', '{"n": 1}') returning id`;
  await using other = await startProcess(database.target);
  other.queue.handle(count, async () => expect.unreachable());
  await other.queue.start();
  expect(await waiting()).toEqual([expect.objectContaining({ id: held?.["id"], state: "running" })]);
  await other.stop();
  await using alone = await startProcess(database.target, { alone: true });
  const seen: JobInfo[] = [];
  alone.queue.handle(count, async (_, info) => void seen.push(info));
  await alone.queue.start();
  await until(() => seen.length === 1);
  expect(seen[0]?.attempt).toBe(2);
});

test("a worker whose lease has expired can neither finish nor fail the job", async () => {
  const later = () => new Date(Date.now() + 60_000);
  await using slow = await startProcess(database.target);
  await using next = await startProcess(database.target, { clock: later });
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const started: number[] = [];
  const run = (_: unknown, { id, attempt }: { id: number; attempt: number }) => {
    started.push(id);
    return gates[attempt - 1]?.promise ?? Promise.resolve();
  };
  slow.queue.handle(count, run);
  await slow.queue.start();
  const ids = await enqueueMany(slow.queue, count, [{ n: 1 }, { n: 2 }]);
  await until(() => started.length === 2);
  next.queue.handle(count, run);
  await next.queue.start();
  await until(() => started.length === 4);
  gates[0]?.resolve();
  await until(async () => (await slow.queue.stats()).done === 2);
  await slow.queue.stop();
  expect(await waiting()).toMatchObject(ids.map((id) => ({ id, state: "running", attempt: 2 })));
  gates[1]?.resolve();
  await until(async () => (await history()).length === 2);
  expect(await history()).toMatchObject(ids.map((id) => ({ id, outcome: "done", attempt: 2 })));
});

test("a heartbeat keeps a job that takes longer than its lease, and a lost lease aborts the signal", async () => {
  await using a = await startProcess(database.target);
  await using b = await startProcess(database.target);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let runs = 0;
  let aborted = false;
  const run = async (_: unknown, { signal }: { signal: AbortSignal }) => {
    runs++;
    signal.addEventListener("abort", () => (aborted = true));
    await released;
  };
  for (const one of [a, b]) {
    one.queue.handle(count, run, { leaseSeconds: 1 });
    await one.queue.start();
  }
  const id = await a.queue.enqueue(count, { n: 1 });
  const leases = new Set<number>();
  await until(async () => {
    const [row] = await a.sql<{ runAt: Date }[]>`select run_at from jobs`;
    if (row) leases.add(row.runAt.getTime());
    return leases.size > 6;
  });
  expect([runs, aborted]).toEqual([1, false]);
  await a.sql`update jobs set attempt = attempt + 1 where id = ${id ?? 0}`;
  await until(() => aborted);
  release();
});

test("a process that was killed in the middle of a job loses it to another, also when it keeps killing", async () => {
  await using a = await startProcess(database.target);
  await a.queue.enqueue(count, { n: 1 }, { maxAttempts: 2 });
  for (const attempt of [1, 2]) {
    const script = new URL("../../tests/job-victim.ts", import.meta.url).pathname;
    const child = Bun.spawn([process.execPath, script, JSON.stringify(database.target), count.id], { stdout: "pipe" });
    const reader = child.stdout.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain(`running attempt ${attempt}`);
    child.kill("SIGKILL");
    await child.exited;
  }
  let runs = 0;
  a.queue.handle(count, async () => void runs++);
  await a.queue.start();
  await until(async () => (await history()).length === 1);
  expect(runs).toBe(0);
  expect((await history())[0]).toMatchObject({ outcome: "failed", attempt: 3, error: expect.stringContaining("died") });
});

test("stop waits for what runs, and gives back what takes too long without counting the attempt", async () => {
  const a = await startProcess(database.target, { graceMs: 50 });
  const never = Promise.withResolvers<void>();
  const signals: AbortSignal[] = [];
  a.queue.handle(count, async ({ n }, { signal }) => {
    signals.push(signal);
    if (n === 1) return Bun.sleep(10);
    if (n === 2) return never.promise;
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  await a.queue.start();
  const [, ...unfinished] = await enqueueMany(a.queue, count, [{ n: 1 }, { n: 2 }, { n: 3 }]);
  await until(() => signals.length === 3);
  await a.stop();
  expect(await history()).toHaveLength(1);
  expect(await waiting()).toEqual(unfinished.map((id) => ({ id, state: "waiting", attempt: 1, forgiven: 1 })));
  never.resolve();
  await using b = await startProcess(database.target);
  const attempts: number[] = [];
  b.queue.handle(count, async (_, { attempt }) => void attempts.push(attempt));
  await b.queue.start();
  await until(() => attempts.length === 2);
  expect(attempts).toEqual([1, 1]);
});

test("a lost connection to PostgreSQL only delays jobs", async () => {
  await using a = await startProcess(database.target);
  const seen = new Set<number>();
  a.queue.handle(count, async ({ n }) => (await Bun.sleep(1), void seen.add(n)), { retry: () => 0 });
  await a.queue.start();
  await enqueueMany(
    a.queue,
    count,
    Array.from({ length: 500 }, (_, n) => ({ n })),
  );
  for (let i = 0; i < 5; i++) {
    await database.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'corestead' and pid <> pg_backend_pid()
        and query like '%\_jobs(%'`;
    await Bun.sleep(5);
  }
  await a.queue.enqueue(count, { n: 500 }).catch(() => a.queue.enqueue(count, { n: 500 }));
  await until(() => seen.size === 501);
});

test("old history is forgotten in pieces", async () => {
  await database.sql`
    insert into job_history (id, name, outcome, attempt, created_at, finished_at)
    select n, 'x', 'done', 1, now(), now() - interval '1 day' * (n % 10) - interval '1 hour' from generate_series(1, 12000) n`;
  await using a = await startProcess(database.target);
  await a.queue.start();
  await until(async () => (await history()).length === 8400);
});

test("a claim that was planned on a tiny table does not scan one of 100,000 jobs", async () => {
  await database.sql.begin(async (tx) => {
    const claim = () =>
      tx`select id from claim_jobs_by_turns(array['a', 'a'], array[100, 100], array[30, 30],
        array['-infinity'::timestamptz, '-infinity'], array[0, 100], array[0, 0::bigint], array['a'], array[2::bigint],
        array['x'], array['a'], array[1::bigint], array[null::text], 1000, 'w', null)`;
    const scans = async () => {
      const [row] = await tx<{ scans: number }[]>`select pg_stat_get_xact_numscans('jobs'::regclass) as scans`;
      return row?.scans;
    };
    await tx`insert into jobs (name, run_at, created_at, payload) values ('a', now(), now(), '1')`;
    await tx`analyze jobs`;
    for (let i = 0; i < 8; i++) await claim();
    await tx`
      insert into jobs (name, run_at, created_at, payload)
      select case when n % 2 = 0 then 'a' else 'b' end,
        now() + case when n % 2 = 0 then 1 else -1 end * interval '1 day', now(), '1'
      from generate_series(1, 100000) n`;
    const before = await scans();
    expect(await claim()).toHaveLength(0);
    expect(await scans()).toBe(before ?? NaN);
  });
});

test("a claim for others takes a few steps of the index, whatever waits for those who are full", async () => {
  await database.sql`
    insert into jobs (name, account_id, share, run_at, created_at, payload)
    select 'a', 1 + n % 2, case when n % 2 = 0 then 'hangs' end, now() - interval '1 hour', now(), '1'
    from generate_series(1, 100000) n`;
  const [free] = await database.sql`
    insert into jobs (name, account_id, share, run_at, created_at, payload)
    select 'a', o.account, o.share, now() - o.age * interval '1 second', now(), '1'
    from (values (1, 'other', 1), (3, null, 2), (null, null, 3)) o (account, share, age) returning id`;
  await database.sql`vacuum analyze jobs`;
  await database.sql.begin(async (tx) => {
    const table = { sql: tx as unknown as Sql, worker: "w" }; // a transaction answers as a pool does
    const full = [
      { accountId: 1, share: "hangs" },
      { accountId: 2, share: null },
    ];
    const turns = { last: 0, shares: new Map(), each: 1, full };
    const claim = { name: "a", limit: 100, leaseSeconds: 30, since: new Date(0), turns };
    const ids = (await jobStore.claim(table, [claim])).map(({ id }) => id).toSorted((a, b) => a - b);
    const first: number = free?.["id"];
    expect(ids).toEqual([first, first + 1, first + 2]);
    const [row] = await tx<{ reads: number }[]>`
      select (pg_stat_get_xact_tuples_returned('jobs'::regclass) + pg_stat_get_xact_tuples_returned('jobs_due'::regclass)
        + pg_stat_get_xact_tuples_returned('jobs_shares'::regclass))::int as reads`;
    expect(row?.reads).toBeLessThan(50);
  });
});

test("what hangs for one share or account keeps no place of another", async () => {
  await using a = await startProcess(database.target);
  const release = Promise.withResolvers<void>();
  const started: number[] = [];
  const run = async ({ n }: { n: number }) => (started.push(n), n < 100_000 ? release.promise : undefined);
  a.queue.handle(count, run, { concurrency: 20 });
  await a.queue.start();
  const hangs = async (accountId: number, share: string | undefined, most: number) => {
    const before = started.length;
    const payloads = Array.from({ length: 200 }, (_, n) => ({ n }));
    await enqueueMany(a.queue, count, payloads, { accountId, share });
    await until(() => started.length === before + most);
  };
  await hangs(1, "a", 20);
  await hangs(1, "b", 10);
  await hangs(2, undefined, 13);
  await hangs(3, undefined, 10);
  for (const [n, by] of [
    [1, { accountId: 1, share: "c" }],
    [2, { accountId: 2, share: "x" }],
    [3, { accountId: 4 }],
    [4, {}],
  ] as const) {
    await a.queue.enqueue(count, { n: 100_000 + n }, by);
    await until(() => started.includes(100_000 + n));
  }
  expect(started.filter((n) => n < 100_000)).toHaveLength(53);
  await database.sql`delete from jobs where state = 'waiting'`;
  release.resolve();
  await until(async () => (await waiting()).length === 0);
});

test("many that hang leave a place to who comes next", async () => {
  await using a = await startProcess(database.target);
  const release = Promise.withResolvers<void>();
  const started = new Set<number>();
  a.queue.handle(count, ({ n }) => (started.add(n), release.promise), { concurrency: 20 });
  await a.queue.start();
  for (let n = 1; n <= 25; n++) {
    await enqueueMany(
      a.queue,
      count,
      Array.from({ length: 50 }, () => ({ n })),
      { accountId: n, share: `s${n % 3}` },
    );
    await until(() => started.has(n));
  }
  await database.sql`delete from jobs where state = 'waiting'`;
  release.resolve();
  await until(async () => (await waiting()).length === 0);
});

test("a backlog of quick jobs lets in who comes next, and shares of it their turns", async () => {
  await using a = await startProcess(database.target);
  const order: string[] = [];
  const named = job<{ by: string }>("test.named");
  a.queue.handle(named, async ({ by }) => void order.push(by), { concurrency: 20 });
  const backlog = async (accountId: number, share: string | null, most: number) =>
    database.sql`
      insert into jobs (name, account_id, share, run_at, created_at, payload, bytes)
      select 'test.named', ${accountId}, ${share}, now() - interval '1 hour' + n * interval '1 microsecond', now(),
        json_build_object('by', ${`${accountId}${share ?? ""}`}::text), 20
      from generate_series(1, ${most}::integer) n`;
  await backlog(1, null, 20_000);
  await a.queue.start();
  await until(() => order.length > 500);
  const before = order.length;
  await enqueueMany(
    a.queue,
    named,
    Array.from({ length: 40 }, () => ({ by: "2" })),
    { accountId: 2 },
  );
  await until(() => order.filter((by) => by === "2").length === 40);
  expect(order.length - before).toBeLessThan(5000);
  // Thousands of rows are not to be read again and again.
  await until(() => order.length === 20_040);
  await until(async () => (await waiting()).length === 0);
});

test("claims by turns go round the accounts, and round the shares of each", async () => {
  const rows = [1, 1, 1, 2, 2, 3].map((account, n) => ({ account, share: n < 5 ? `s${n % 3}` : null, n }));
  for (const { account, share } of rows)
    await database.sql`
      insert into jobs (name, account_id, share, run_at, created_at, payload)
      select 'a', ${account}, ${share}, now() - interval '1 hour', now(), '1' from generate_series(1, 9)`;
  const table = { sql: database.sql, worker: "w" };
  const turns = noTurns();
  const got: string[] = [];
  for (let n = 0; n < 9; n++) {
    const full = [{ accountId: 3, share: "other" }];
    const claim = { name: "a", limit: 2, leaseSeconds: 30, since: new Date(0), turns: { ...turns, each: 1, full } };
    const jobs = await jobStore.claim(table, [claim]);
    tookTurns(turns, jobs);
    got.push(...jobs.map(({ accountId, share }) => `${accountId}${share ?? ""}`));
  }
  const times = Map.groupBy(got, (one) => one);
  expect(Object.fromEntries([...times].map(([one, all]) => [one, all.length]))).toEqual({
    "1s0": 2,
    "1s1": 2,
    "1s2": 2,
    "2s0": 3,
    "2s1": 3,
    3: 6,
  });
});

test("claims read no more than their bytes, and large payloads take several places", async () => {
  await using a = await startProcess(database.target);
  const release = Promise.withResolvers<void>();
  const held: number[] = [];
  const large = job<{ n: number; text: string }>("test.large");
  a.queue.handle(large, async ({ n }) => (held.push(n), release.promise), { concurrency: 20 });
  await enqueueMany(
    a.queue,
    large,
    Array.from({ length: 12 }, (_, n) => ({ n, text: "x".repeat(3_000_000) })),
  );
  const table = { sql: database.sql, worker: "other" };
  expect(
    await jobStore.claim(table, [{ name: large.id, limit: 100, leaseSeconds: 30, since: new Date(0) }]),
  ).toHaveLength(1);
  await a.queue.start();
  await until(() => held.length === 2);
  release.resolve();
  await until(async () => (await a.queue.stats()).done === 11);
});

test("a job that was made while the clock was a day ahead runs when the clock is right again", async () => {
  let ahead = 86_400_000;
  const clock = () => new Date(Date.now() + ahead);
  const seen: number[] = [];
  await using before = await startProcess(database.target, { clock });
  await before.queue.enqueue(count, { n: 1 });
  await before.queue.enqueue(count, { n: 2 }, { orderKey: "a" });
  await before.stop();
  ahead = 0;
  await using after = await startProcess(database.target, { clock });
  after.queue.handle(count, async ({ n }) => void seen.push(n));
  await after.queue.start();
  await until(() => seen.length === 2);
  expect(new Set(seen)).toEqual(new Set([1, 2]));
});

test.each([
  ["is tried again after its own pause", {}],
  ["and is ordered goes on, and so does the one behind it", { orderKey: "a" }],
])("a job that failed while the clock was a day ahead %s when it is right again", async (_, options) => {
  let ahead = 0;
  const clock = () => new Date(Date.now() + ahead);
  const failed = Promise.withResolvers<void>();
  await using before = await startProcess(database.target, { clock });
  await before.queue.enqueue(count, { n: 1 }, options);
  await before.queue.enqueue(count, { n: 2 }, { ...options, runAt: new Date(Date.now() + 1) });
  ahead = 86_400_000;
  const attempted = new Set<number>();
  before.queue.handle(
    count,
    async ({ n }) => {
      attempted.add(n);
      if (attempted.size === ("orderKey" in options ? 1 : 2)) failed.resolve();
      throw new Error("not now");
    },
    { retry: () => 0.2, maxAttempts: 1000 },
  );
  await before.queue.start();
  await failed.promise;
  await before.stop();
  const [row] = await database.sql<{ ahead: boolean }[]>`
    select bool_or(run_at > now() + interval '23 hours') as ahead from jobs`;
  expect(row).toEqual({ ahead: true });
  ahead = 0;
  const seen = new Set<number>();
  await using after = await startProcess(database.target, { clock });
  after.queue.handle(count, async ({ n }) => void seen.add(n));
  await after.queue.start();
  await until(async () => (await history()).length === 2);
  expect((await history()).map(({ outcome }) => outcome)).toEqual(["done", "done"]);
  expect(seen).toEqual(new Set([1, 2]));
});
