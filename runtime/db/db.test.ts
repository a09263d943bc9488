import { afterAll, beforeAll, expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { afterCommit, databaseFault, openPool, savepoint, type Sql, transaction } from "./db.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../operations/postgres/embedded-postgres.ts";
import { createLog } from "../system/log.ts";

// Servers are started and killed here: a busy machine may take its time.
setDefaultTimeout(600_000);

let folder: string;
let server: EmbeddedPostgres;
let sql: Sql;
let restarted = Promise.withResolvers<void>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "corestead-db-"));
  const log = createLog("error", () => {});
  server = await startEmbeddedPostgres({ dataDir: folder, log, onRestart: () => restarted.resolve() });
  sql = openPool(server.target);
  await sql`create table notes (id bigint primary key, body text, backend int, transaction_id text)`;
});

afterAll(async () => {
  await sql.end({ timeout: 5 });
  await server.stop();
  await rm(folder, { recursive: true });
});

const socketPath = () => ("socketDir" in server.target ? `${server.target.socketDir}/.s.PGSQL.5432` : "");
const where = () =>
  sql<
    { backend: number; transactionId: string }[]
  >`select pg_backend_pid() as backend, txid_current()::text as transaction_id`;

test("column names are camelCase, keys inside jsonb stay as they are, and int8 is exact", async () => {
  const [row] =
    await sql`select 5::int8 as small_one, ${9_007_199_254_740_993n}::int8 as big_one, '{"a_b": {"c_d": 1}}'::jsonb as some_data, current_setting('TimeZone') as zone`;
  expect(row).toEqual({ smallOne: 5, bigOne: "9007199254740993", someData: { a_b: { c_d: 1 } }, zone: "UTC" });
});

test("a statement can ask for columns in binary formats, whether it is prepared or not, and its text ones stay", async () => {
  const text = "select $1::uuid as id, array_agg(n) as numbers from generate_series(1, 2) n";
  const id = "0196a5b4-0000-7000-8000-000000000001";
  for (const prepare of [true, true, false]) {
    const [row] = await sql.unsafe(text, [id], { binary: true, prepare }).raw();
    expect(row?.map((column) => column.toString("hex"))).toEqual([
      id.replaceAll("-", ""),
      "000000010000000000000017000000020000000100000004000000010000000400000002",
    ]);
    const plain = await sql.unsafe(text, [id], { prepare });
    expect(plain[0]?.["numbers"]).toEqual([1, 2]);
  }
});

test("a transaction returns what its function returns and tells afterCommit in order, after the commit", async () => {
  const seen: string[] = [];
  const result = await transaction(sql, async (tx) => {
    afterCommit(tx, () => seen.push("first"));
    await tx`insert into notes (id) values (-1)`;
    await savepoint(tx, async (inner) => afterCommit(inner, () => seen.push("inside a savepoint")));
    await savepoint(tx, async (inner) => {
      afterCommit(inner, () => seen.push("undone"));
      throw new Error("only this part");
    }).catch(() => {});
    afterCommit(tx, () => {
      throw new Error("a callback that fails");
    });
    afterCommit(tx, () => seen.push("last"));
    expect(seen).toEqual([]);
    return [Promise.resolve(1), 2];
  });
  expect(result).toHaveLength(2);
  expect(seen).toEqual(["first", "inside a savepoint", "last"]);
  expect(await sql`select id from notes where id = -1`).toHaveLength(1);
});

test("a transaction that throws leaves nothing behind and tells nobody", async () => {
  const seen: string[] = [];
  const failing = transaction(sql, async (tx) => {
    afterCommit(tx, () => seen.push("committed"));
    await tx`insert into notes (id) values (-2)`;
    throw new Error("no");
  });
  expect(await failing.catch(String)).toBe("Error: no");
  expect(seen).toEqual([]);
  expect(await sql`select id from notes where id = -2`).toHaveLength(0);
  // @ts-expect-error the pool is no transaction
  expect(() => afterCommit(sql, () => {})).toThrow("needs a transaction");
});

test("1,000 transactions and 5,000 statements at once on 10 connections lose nothing and never mix", async () => {
  const acknowledged: number[] = [];
  let strangers = 0;
  const inTransaction = async (id: number) => {
    await transaction(sql, async (tx) => {
      const [begun] = await tx`select pg_backend_pid() as backend, txid_current()::text as transaction_id`;
      await tx`insert into notes (id, backend, transaction_id) values (${id}, pg_backend_pid(), txid_current()::text)`;
      const [ended] =
        await tx`select backend, transaction_id from notes where id = ${id} and backend = pg_backend_pid() and transaction_id = txid_current()::text`;
      if (!Bun.deepEquals({ ...begun }, { ...ended })) strangers++;
    });
    acknowledged.push(id);
  };
  const alone = async (id: number) => {
    // `execute` so that it takes its place in the order below; `await` alone would let every BEGIN overtake it.
    const [row] = await sql`insert into notes (id) values (${id}) returning id`.execute();
    if (row?.["id"] !== id) strangers++;
    acknowledged.push(id);
  };
  // Prepared on each connection, so that pipelines could fill; then each block would fill them to the driver's limit of
  // 100 and put a BEGIN right there.
  await Promise.all(Array.from({ length: 10 }, () => where()));
  await Promise.all(Array.from({ length: 10 }, (_, index) => alone(6_000 + index)));
  acknowledged.length = 0;
  const work = Array.from({ length: 6_000 }, (_, id) => (id % 1_200 < 1_000 ? alone(id) : inTransaction(id)));
  await Promise.all(work);
  const rows = await sql<{ id: number }[]>`select id from notes where id between 0 and 5999 order by id`;
  expect(rows.map(({ id }) => id)).toEqual(acknowledged.toSorted((a, b) => a - b));
  expect(acknowledged).toHaveLength(6_000);
  expect(strangers).toBe(0);
  // No two transactions shared one, and no statement was swept into somebody else's.
  const [{ distinct } = { distinct: 0 }] = await sql<
    { distinct: number }[]
  >`select count(distinct transaction_id)::int as distinct from notes where id between 0 and 5999`;
  expect(distinct).toBe(1_000);
  const open = await sql`select 1 from pg_stat_activity where state like 'idle in transaction%'`;
  expect(open).toHaveLength(0);
});

test.each([0, 1, 2, 100])(
  "the patched driver keeps BEGIN's connection to itself with pipelines of %d",
  async (limit) => {
    const options = { path: socketPath(), user: "corestead", database: "corestead", max: 2, max_pipeline: limit };
    const driver = postgres({ ...options, onnotice: () => {} });
    try {
      // Fill both connections so that the transactions come to stand at the limit.
      const fill = Array.from({ length: 2 * limit + 3 }, () => driver`select pg_sleep(0.01)`.execute());
      const begun = Array.from({ length: 20 }, (_, index) =>
        driver.begin(async (tx) => {
          const [before] = await tx`select txid_current()::text as id`;
          const [after] = await tx`select txid_current()::text as id, ${index}::int as index`;
          expect(after).toEqual({ ...before, index });
          return before?.["id"];
        }),
      );
      const between = Array.from({ length: 20 }, async () => {
        const [row] = await driver`select txid_current()::text as id`;
        return row?.["id"];
      });
      const ids = await Promise.all([...begun, ...between]);
      expect(new Set(ids).size).toBe(40);
      await Promise.all(fill);
    } finally {
      await driver.end({ timeout: 5 });
    }
  },
);

test("a pool of which some connections are always free stays as quick as at its start", async () => {
  const pool = openPool(server.target, { max: 4, laneMax: 2 });
  const lane = pool.lane("a");
  await Promise.all(Array.from({ length: 4 }, () => pool`select pg_sleep(0.05)`)); // all four are open from here on
  // Where postgres.js looks for a connection: an array that may not grow with every statement.
  const { indexOf } = Array.prototype;
  let longest = 0;
  const spy = spyOn(Array.prototype, "indexOf").mockImplementation(function (this: unknown[], wanted, from = 0) {
    if (Object(wanted).execute !== undefined) longest = Math.max(longest, this.length);
    return indexOf.call(this, wanted, from);
  });
  for (let n = 0; n < 500; n++) await lane`select 1`;
  spy.mockRestore();
  expect(longest).toBeGreaterThan(0);
  expect(longest).toBeLessThan(70);
  await pool.end({ timeout: 5 });
});

test("no lane of a pool takes its last connections, and none keeps a place that it has left", async () => {
  const pool = openPool(server.target, { max: 4, laneMax: 3, waitTimeoutMs: 60_000 });
  const lanes = ["a", "b", "c"].map((name) => pool.lane(name));
  const busy: Record<number, number> = {};
  const most: Record<number, number> = {};
  const work = Array.from({ length: 600 }, async (_, n) => {
    const lane = lanes[n % 3] ?? pool;
    if (n % 5 === 0) return lane`select from nowhere`.catch(() => {});
    if (n % 7 === 0) return lane`select ${undefined}`.catch(() => {});
    if (n % 11 === 0) return lane`select pg_terminate_backend(pg_backend_pid())`.catch(() => {});
    await transaction(lane, async (tx) => {
      busy[n % 3] = (busy[n % 3] ?? 0) + 1;
      most[n % 3] = Math.max(most[n % 3] ?? 0, busy[n % 3] ?? 0);
      await tx`select pg_sleep(0.001)`;
      busy[n % 3] = (busy[n % 3] ?? 0) - 1;
    });
    await lane`select 1`;
  });
  const failed = (await Promise.allSettled(work)).filter(({ status }) => status === "rejected");
  expect(failed).toEqual([]);
  expect(Math.max(...Object.values(most))).toBeLessThanOrEqual(3);
  // All three places of each lane are there again: a fourth user of it waits, and one of another lane does not.
  for (const [n, lane] of lanes.entries()) {
    const [all, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let begun = 0;
    const users = Array.from({ length: 4 }, () =>
      lane.begin(async () => {
        if (++begun === 3) all.resolve();
        await end.promise;
      }),
    );
    await all.promise;
    await lanes[(n + 1) % 3]?.begin(async (tx) => tx`select 1`);
    expect(begun).toBe(3);
    end.resolve();
    await Promise.all(users);
    expect(begun).toBe(4);
  }
  await pool.end();
});

test("a statement that cannot be built fails alone, though others share its connection", async () => {
  const options = { path: socketPath(), user: "corestead", database: "corestead", max: 1, max_pipeline: 100 };
  const driver = postgres({ ...options, onnotice: () => {} });
  try {
    await driver`select ${1}::int as n`;
    const missing: string | undefined = JSON.parse("{}").missing;
    const answers = Array.from({ length: 30 }, async (_, n) => {
      // @ts-expect-error undefined is no parameter
      if (n % 3 === 1) return driver`select ${missing}::text as n`.catch((error: Error) => error.message);
      const [row] = await driver`select ${n}::int as n`;
      return row?.["n"];
    });
    const expected = Array.from({ length: 30 }, (_, n) =>
      n % 3 === 1 ? "UNDEFINED_VALUE: Undefined values are not allowed" : n,
    );
    expect(await Promise.all(answers)).toEqual(expected);
  } finally {
    await driver.end({ timeout: 5 });
  }
});

test("a statement after the end of its transaction is refused", async () => {
  const late = Promise.withResolvers<unknown>();
  const tx = await transaction(sql, async (inner) => ({ inner }));
  tx.inner`insert into notes (id) values (-3)`.then(late.resolve, late.resolve);
  expect(String(await late.promise)).toContain("TRANSACTION_ENDED");
  expect(await sql`select id from notes where id = -3`).toHaveLength(0);
});

test("PostgreSQL killed under load: whatever was asked settles, what was acknowledged is there, service resumes", async () => {
  const acknowledged: number[] = [];
  const faults = new Set<unknown>();
  let next = 10_000;
  const stopping = new AbortController();
  const write = async (id: number) => {
    const body = "x".repeat(id % 7 === 0 ? 100_000 : 10);
    if (id % 2) await sql`insert into notes (id, body) values (${id}, ${body})`;
    else
      await transaction(sql, async (tx) => {
        await Promise.all([tx`insert into notes (id, body) values (${id}, ${body})`, tx`select 1`, tx`select 2`]);
        await tx`select 3`;
      });
    acknowledged.push(id);
  };
  const writer = async () => {
    while (!stopping.signal.aborted) {
      const error = await write(next++).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (error === undefined) continue;
      faults.add(databaseFault(error) ?? error);
      await Bun.sleep(1);
    }
  };
  const writers = Array.from({ length: 64 }, writer);
  const moreThan = async (count: number) => {
    while (acknowledged.length < count) await Bun.sleep(1);
  };
  for (const signal of ["SIGKILL", "SIGINT", "SIGQUIT"] as const) {
    await moreThan(acknowledged.length + 200);
    restarted = Promise.withResolvers();
    process.kill(server.pid() ?? 0, signal);
    await restarted.promise;
    await moreThan(acknowledged.length + 200);
  }
  stopping.abort();
  await Promise.all(writers); // nothing hangs
  expect([...faults]).toEqual(["unavailable"]);
  const rows = await sql<{ id: number }[]>`select id from notes where id >= 10000`;
  const stored = new Set(rows.map(({ id }) => id));
  expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
});

test("what waits inside a transaction is told when its connection is lost, and cannot go on on another", async () => {
  const lost = transaction(sql, async (tx) => {
    const [row] = await tx`select pg_backend_pid() as backend`;
    const all = Promise.allSettled([tx`select pg_sleep(60)`, tx`select 1`, tx`select 2`]);
    await untilBusy(Number(row?.["backend"]));
    await sql`select pg_terminate_backend(${Number(row?.["backend"])})`;
    const settled = await all;
    const afterwards = await Promise.allSettled([tx`insert into notes (id) values (-4)`]);
    return [...settled, ...afterwards].map(({ status }) => status);
  });
  const inside = lost.catch((error: unknown) => databaseFault(error));
  expect(await inside).toBe("unavailable");
  await Promise.all(Array.from({ length: 30 }, () => where()));
  expect(await sql`select id from notes where id = -4`).toHaveLength(0);
});

async function untilBusy(backend: number): Promise<void> {
  const busy = async () =>
    sql`select 1 from pg_stat_activity where pid = ${backend} and query like '%pg_sleep(60)%' and state = 'active'`;
  while ((await busy()).length === 0) await Bun.sleep(1);
}

test.each([
  ["unique", () => sql`insert into notes (id) select 1 from generate_series(1, 2)`],
  ["bad-input", () => sql`select ${"x"}::int`],
  ["out-of-range", () => sql`select ${"99999999999"}::int`],
  ["bad-input", () => sql`select ${"2026-02-30"}::text::date`],
  ["bad-input", () => sql`select ${"soon"}::text::timestamptz`],
  ["bad-input", () => sql`select ${"a\0b"}::text`],
  ["bad-input", () => sql`select ${'{"a":"\\u0000"}'}::text::jsonb ->> 'a'`],
  ["bad-input", () => sql`select ${"[".repeat(100_000)}::text::jsonb`],
  ["unavailable", () => sql.begin((tx) => tx`set local statement_timeout = 1`.then(() => tx`select pg_sleep(60)`))],
  [undefined, () => sql`select from nowhere`],
] as const)("a failed statement is told as %p", async (fault, run) => {
  const error = await run().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Error);
  expect(databaseFault(error)).toBe(fault);
});

test("a server that is not there is unavailable at once, for all who wait", async () => {
  const nowhere = openPool({ socketDir: folder, port: 1, database: "x", user: "x" });
  const asked = Array.from({ length: 200 }, () => nowhere`select 1`.catch((error: unknown) => databaseFault(error)));
  expect(new Set(await Promise.all(asked))).toEqual(new Set(["unavailable"]));
  const tx = transaction(nowhere, async (inner) => inner`select 1`);
  expect(await tx.catch((error: unknown) => databaseFault(error))).toBe("unavailable");
  await nowhere.end();
  expect(await nowhere`select 1`.catch((error: unknown) => databaseFault(error))).toBe("unavailable");
});

test("with several hosts in the address the next is tried, and none of them is told as unavailable", async () => {
  const proxy = createServer((client) => {
    const upstream = connect(socketPath());
    client.pipe(upstream).pipe(client);
    for (const end of [client, upstream]) end.on("error", () => client.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = proxy.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const both = openPool({ url: `postgres://corestead@127.0.0.1:1,127.0.0.1:${port}/corestead` }, { max: 3 });
  const rows = await Promise.all(Array.from({ length: 10 }, () => both`select 1 as one`));
  expect(rows.map(([row]) => row?.["one"])).toEqual(Array(10).fill(1));
  await both.end();
  const neither = openPool({ url: "postgres://corestead@127.0.0.1:1,127.0.0.1:2/corestead" });
  expect(await neither`select 1`.catch((error: unknown) => databaseFault(error))).toBe("unavailable");
  await neither.end();
  proxy.close();
});
