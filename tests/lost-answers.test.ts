/**
 * Whichever answer of PostgreSQL is lost, a write is stored at most once, and what the caller is told is true: a success
 * is stored, 503 may be, and with an Idempotency-Key it can be sent again.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect, createServer, type Socket } from "node:net";
import { openPool, type Sql } from "../runtime/db/db.ts";
import { createDatabase, eventually, startTestApp, type Answer, type TestApp } from "./harness.ts";

/** A proxy before PostgreSQL that can swallow the end of an answer: what it answers is committed. */
interface Cutter {
  readonly port: number;
  /** The answer after so many others is lost with its connection; undefined = none. */
  after: number | undefined;
  close(): void;
}

let cutter: Cutter;
let direct: Sql;
let app: TestApp;
beforeAll(async () => {
  const target = await createDatabase();
  if ("url" in target) throw new Error("tests run on the embedded PostgreSQL");
  direct = openPool(target, { max: 2 });
  cutter = await startCutter(`${target.socketDir}/.s.PGSQL.${target.port}`);
  const url = `postgres://${target.user}@127.0.0.1:${cutter.port}/${target.database}`;
  app = await startTestApp({ target: { url }, env: { RATE_LIMIT_REQUESTS: "100000", RATE_LIMIT_CREATES: "100000" } });
  const fields = { key: "string", n: "integer" };
  const public_methods = { create: { allowed_fields: ["key", "n"] } };
  for (const code of ["quiet", "followed"]) {
    const schema = { fields, indexed_fields: ["key", "n"] };
    expect((await app.post("/core/dbs", { db: { name: code, code, schema, public_methods } })).status).toBe(201);
  }
  await direct`
    create table written (key text, op text);
    create function note_written() returns trigger language plpgsql as $$
      begin insert into written values (new.data ->> 'key', tg_op); return null; end $$;
    create trigger note_written after insert or update on records for each row execute function note_written()`.simple();
  await direct`update dbs set live = true where code = 'followed'`;
});
afterAll(async () => {
  cutter.after = undefined;
  await app.stop();
  await direct.end();
  cutter.close();
});

type Write = (code: string, key: string, headers: Record<string, string>) => Promise<Answer>;
const json = (method: "post" | "patch", path: string, body: object, headers: Record<string, string>) =>
  app[method](path, body, { headers });
const create: Write = (code, key, headers) =>
  json("post", `/core/dbs/${code}/records.json`, { record: { data: { key } } }, headers);
/** How many rows each of them writes: all or none. */
const writes: readonly (readonly [name: string, rows: number, op: "INSERT" | "UPDATE", write: Write])[] = [
  ["a create", 1, "INSERT", create],
  [
    "a batch",
    3,
    "INSERT",
    (code, key, headers) => {
      const operations = [1, 2, 3].map((n) => ({ op: "create", data: { key, n } }));
      return json("post", `/core/dbs/${code}/batch.json`, { operations }, headers);
    },
  ],
  [
    "an import",
    3,
    "INSERT",
    (code, key, headers) =>
      json("post", `/core/dbs/${code}/import`, [1, 2, 3].map((n) => ({ key, n })) as object, headers),
  ],
  [
    "a public action",
    1,
    "INSERT",
    (code, key, headers) => app.post(`/core/db/${code}/create`, { data: { key, n: 1 } }, { token: null, headers }),
  ],
  [
    "a patch",
    1,
    "UPDATE",
    async (code, key, headers) => {
      const [row] = await direct<{ id: string }[]>`select id from records where data ->> 'key' = ${key}`;
      return json("patch", `/core/dbs/${code}/records/${row?.id}.json`, { record: { data: { n: 2 } } }, headers);
    },
  ],
];

const countOf = async (key: string, op: string): Promise<number> => {
  const [row] = await direct<{ n: number }[]>`select count(*)::int as n from written where key = ${key} and op = ${op}`;
  return row?.n ?? NaN;
};

/** Answers of 503: there would be none if nothing were lost. */
let unclear = 0;

/** Whoever listens for changes may have been cut off too. */
const settled = () =>
  eventually(async () => (await app.get("/core/dbs/quiet/records.json?limit=1")).status === 200, "the server");

const cases = writes.flatMap((write) =>
  (["quiet", "followed"] as const).flatMap((code) =>
    (write[2] === "UPDATE" ? [false] : [false, true]).map(
      (keyed) => [write[0], write[1], write[2], code, keyed, write[3]] as const,
    ),
  ),
);
test.each(cases)("%s of %d rows (%s) in a %s database, with a key: %p", async (name, rows, op, code, keyed, write) => {
  // Statements of something else count too: so not the first one that nothing is lost of is the end.
  let whole = 0;
  for (let after = 0; whole < 3 && after < 60; after += 1) {
    const key = `${name} ${code} ${keyed} ${after}`;
    await settled();
    if (op === "UPDATE") expect((await create(code, key, {})).status).toBe(201);
    const headers: Record<string, string> = keyed ? { "idempotency-key": crypto.randomUUID() } : {};
    cutter.after = after;
    const first = await write(code, key, headers);
    whole = cutter.after === undefined ? 0 : whole + 1;
    cutter.after = undefined;
    if (first.status === 503) unclear += 1;
    const stored = await countOf(key, op);
    const isDone = first.status < 300;
    expect([after, stored, first.status]).toEqual([
      after,
      isDone || stored > 0 ? rows : 0,
      isDone ? first.status : 503,
    ]);
    const task = first.headers.get("x-task-id");
    if (isDone && task !== null) {
      const [row] = await direct<{ status: string }[]>`select status from db_tasks where id = ${task}`;
      expect([after, row?.status]).toEqual([after, "finished"]);
    }
    if (!keyed || isDone) continue;
    // With a key it can be said again.
    await settled();
    let again = await write(code, key, headers);
    for (let tries = 0; again.status === 409 && tries < 100; tries += 1) {
      await Bun.sleep(50);
      again = await write(code, key, headers);
    }
    expect([after, again.status < 300, await countOf(key, op)]).toEqual([after, true, rows]);
  }
  expect(whole).toBe(3);
});

test("answers of writes were lost", () => expect(unclear).toBeGreaterThan(20));

test("creates that share a statement, one of which PostgreSQL refuses", async () => {
  await direct`alter table records add constraint no_thirteen check (data ->> 'n' <> '13') not valid`;
  let whole = 0;
  for (let after = 0; whole < 3 && after < 60; after += 1) {
    await settled();
    const keys = Array.from({ length: 16 }, (_, n) => ({ key: `together ${after} ${n}`, n }));
    cutter.after = after;
    const answers = await Promise.all(
      keys.map((data) => json("post", "/core/dbs/quiet/records.json", { record: { data } }, {})),
    );
    whole = cutter.after === undefined ? 0 : whole + 1;
    cutter.after = undefined;
    for (const [n, { key }] of keys.entries()) {
      const [status, stored] = [answers[n]?.status ?? 0, await countOf(key, "INSERT")];
      const truths = n === 13 ? ["500 0", "422 0", "503 0"] : ["201 1", "503 0", "503 1"];
      expect({ after, n, truths }).toEqual({ after, n, truths: expect.arrayContaining([`${status} ${stored}`]) });
    }
  }
  expect(whole).toBe(3);
  await direct`alter table records drop constraint no_thirteen`;
});

test("a change of many records", async () => {
  for (let after = 0; after < 14; after += 1) {
    const key = `many ${after}`;
    await settled();
    const rows = Array.from({ length: 4 }, (_, n) => ({ key, n }));
    expect((await app.post("/core/dbs/quiet/import", rows)).status).toBe(201);
    cutter.after = after;
    const path = `/core/dbs/quiet/bulk?filter[key]=${encodeURIComponent(key)}`;
    const { status } = await app.post(path, { op: "update", data: { n: 9 } });
    const isRunning = async () => {
      // A job whose claim was lost waits for the end of its lease, which is half a minute.
      await direct`
        update jobs set run_at = now()
        where state = 'running' and run_at between now() and now() + interval '28 seconds'`;
      const [row] = await direct<
        { n: number }[]
      >`select count(*)::int as n from db_tasks where status = 'running' and kind = 'update'`;
      return row?.n !== 0;
    };
    await eventually(async () => !(await isRunning()), "the end of the task", 30_000);
    cutter.after = undefined;
    const changed = await countOf(key, "UPDATE");
    expect([after, status, changed]).toEqual([
      after,
      status === 202 ? 202 : 503,
      status === 202 || changed > 0 ? 4 : 0,
    ]);
  }
});

async function startCutter(path: string): Promise<Cutter> {
  const open = new Set<Socket>();
  const cutting: { after: number | undefined } = { after: undefined };
  const server = createServer((client) => {
    const upstream = connect(path);
    const end = () => {
      for (const socket of [client, upstream]) {
        open.delete(socket);
        socket.destroy();
      }
    };
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", end);
      socket.on("close", end);
    }
    client.on("data", (bytes) => upstream.write(bytes));
    let waiting = new Uint8Array();
    upstream.on("data", (bytes: Buffer) => {
      waiting = new Uint8Array(Buffer.concat([waiting, bytes]));
      // A message is its kind and the length of the rest; "Z" ends the answer to a statement.
      for (let size = sizeOf(waiting); size !== undefined; size = sizeOf(waiting)) {
        if (waiting[0] === 0x5a && cutting.after !== undefined && cutting.after-- === 0) {
          cutting.after = undefined;
          return end();
        }
        client.write(waiting.subarray(0, size));
        waiting = waiting.subarray(size);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || !address) throw new Error("the proxy has no port");
  const close = () => {
    server.close();
    for (const socket of open) socket.destroy();
  };
  return Object.assign(cutting, { port: address.port, close });
}

function sizeOf(bytes: Uint8Array): number | undefined {
  if (bytes.length < 5) return undefined;
  const size = 1 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
  return size <= bytes.length ? size : undefined;
}
