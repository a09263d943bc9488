import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { startProcess, startTestDatabase, until, type TestDatabase } from "../../tests/job-fixtures.ts";
import { createSecrets } from "../base/secrets.ts";
import {
  causationFromHeader,
  causationToHeader,
  readSealed,
  sealed,
  currentCausation,
  withCausation,
} from "../scope/causation.ts";
import { transaction } from "../db/db.ts";
import { event, job } from "../base/references.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
beforeEach(async () => {
  await database.sql`truncate jobs, job_history`;
});
afterAll(() => database.stop());

const created = event<{ id: number }>("test.created");

test("an event's jobs are written in the change's transaction, for the handlers that want it", async () => {
  await using a = await startProcess(database.target);
  const heard: string[] = [];
  a.events.on(created, "one", async ({ id }) => void heard.push(`one ${id}`));
  a.events.on(created, "even", async ({ id }) => void heard.push(`even ${id}`), { when: ({ id }) => id % 2 === 0 });
  a.events.listen(created, ({ id }) => heard.push(`listener ${id}`));
  expect([a.events.wanted(created, { id: 1 }), a.events.wanted(event("nobody"), 1)]).toEqual([true, false]);
  await transaction(a.sql, async (tx) => {
    await a.events.emit(created, { id: 1 }, tx);
    await a.events.emit(created, { id: 2 }, tx);
    expect(heard).toEqual([]);
  });
  expect(heard).toEqual(["listener 1", "listener 2"]);
  const rows = await a.sql`select name from jobs order by id`;
  expect(rows.map(({ name }) => name)).toEqual([
    "event:test.created:one",
    "event:test.created:one",
    "event:test.created:even",
  ]);
  await a.queue.start();
  await until(() => heard.length === 5);
  expect(heard.slice(2).toSorted()).toEqual(["even 2", "one 1", "one 2"]);
});

test("a follower's own order key goes before the emitter's", async () => {
  await using a = await startProcess(database.target);
  const orderKey = ({ id }: { id: number }) => (id === 1 ? "own" : undefined);
  a.events.on(created, "ordered", async () => {}, { orderKey });
  a.events.on(created, "other", async () => {});
  for (const id of [1, 2]) await a.events.emit(created, { id }, undefined, { orderKey: "emitter" });
  const rows = await a.sql`select name, order_key from jobs order by id`;
  expect(rows.map(({ name, orderKey: key }) => [name.split(":").at(-1), key])).toEqual([
    ["ordered", "own"],
    ["other", "emitter"],
    ["ordered", "emitter"],
    ["other", "emitter"],
  ]);
});

test("a change that was rolled back tells nobody", async () => {
  await using a = await startProcess(database.target);
  const heard: string[] = [];
  a.events.on(created, "one", async () => void heard.push("handler"));
  a.events.listen(created, () => heard.push("listener"));
  await a.queue.start();
  const failing = transaction(a.sql, async (tx) => {
    await a.events.emit(created, { id: 1 }, tx);
    throw new Error("taken back");
  });
  expect(failing).rejects.toThrow("taken back");
  await failing.catch(() => {});
  expect(await a.sql`select from jobs`).toHaveLength(0);
  await a.events.emit(created, { id: 2 });
  await until(() => heard.includes("handler"));
  expect(heard).toEqual(["listener", "handler"]);
});

test("a loop of events over two processes ends with an error that names the chain", async () => {
  await using a = await startProcess(database.target);
  await using b = await startProcess(database.target);
  const ping = event<{ n: number }>("ping");
  const pong = event<{ n: number }>("pong");
  const ids = new Set<string | undefined>();
  let deepest = 0;
  const note = (n: number) => {
    deepest = Math.max(deepest, n);
    ids.add(currentCausation()?.id);
  };
  for (const one of [a, b]) {
    one.events.on(ping, "h", async ({ n }) => (note(n), one.events.emit(pong, { n: n + 1 })), { maxAttempts: 1 });
    one.events.on(pong, "h", async ({ n }) => (note(n), one.events.emit(ping, { n: n + 1 })), { maxAttempts: 1 });
    await one.queue.start();
  }
  await a.events.emit(ping, { n: 1 });
  const failed = () => a.sql<{ error: string }[]>`select error from job_history where outcome = 'failed'`;
  await until(async () => (await failed()).length > 0, "the loop's end");
  const [row] = await failed();
  expect(row?.error).toContain("more than 16 deep: ping -> pong -> ping");
  expect(deepest).toBe(16);
  expect(ids.size).toBe(1);
});

test("a listener that emits its own event is stopped too", async () => {
  await using a = await startProcess(database.target);
  const loop = event<{ n: number }>("loop");
  const errors: unknown[] = [];
  a.events.listen(
    loop,
    ({ n }) => void a.events.emit(loop, { n: n + 1 }).catch((error: unknown) => errors.push(error)),
  );
  await a.events.emit(loop, { n: 1 });
  await until(() => errors.length > 0);
  expect(String(errors[0])).toContain("LoopError: events follow from each other more than 16 deep: loop -> loop");
});

test("a plain job carries the causation of where it was enqueued, and starts none by itself", async () => {
  await using a = await startProcess(database.target);
  const ref = job<{ n: number }>("causation.job");
  const seen: unknown[] = [];
  a.queue.handle(ref, async () => void seen.push(currentCausation()));
  const causation = { id: "root", depth: 3, chain: ["x", "y", "z"] };
  await withCausation(causation, () => a.queue.enqueue(ref, { n: 1 }));
  await withCausation(causation, () => a.queue.start());
  await until(() => seen.length === 1);
  await withCausation(undefined, () => a.queue.enqueue(ref, { n: 2 }));
  await until(() => seen.length === 2);
  expect(seen).toEqual([causation, undefined]);
});

test("a causation survives a header, and what is not one is ignored", () => {
  const causation = { id: "0198-a", depth: 2, chain: ["core.record.created", "flow.finished"] };
  expect(causationFromHeader(causationToHeader(causation))).toEqual(causation);
  for (const value of [null, "", "x", "x;y;z", "a;1;b\n", `a;1;${"x".repeat(5000)}`])
    expect(causationFromHeader(value)).toBeUndefined();
});

test("a causation goes out signed, and what others have written is ignored", () => {
  const secrets = createSecrets("a key of this server, long enough");
  const read = (header: string | null) => readSealed(secrets, header);
  const causation = { id: "0198-a", depth: 2, chain: ["core.record.created", "core.activity"] };
  const header = causationToHeader(causation);
  const { headers = {} } = sealed(secrets, { method: "POST", headers: { accept: "*/*", "x-core-causation": header } });
  const { accept, "x-core-causation": signed = "" } = headers;
  expect([accept, read(signed)]).toEqual(["*/*", causation]);
  expect(sealed(secrets, { method: "GET" })).toEqual({ method: "GET" });
  expect(readSealed(createSecrets("the key of another server, as long"), signed)).toBeUndefined();
  for (const forged of [null, "", header, `${header}.x`, signed.replace(";2;", ";3;"), secrets.sign("other", header)])
    expect(read(forged)).toBeUndefined();
});
