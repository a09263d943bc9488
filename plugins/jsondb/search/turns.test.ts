import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, otherAccount, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { createTurns } from "../../../runtime/base/turns.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { DATABASE_POOL: "7" } });
});
afterAll(() => app.stop());

test("lists of people leave connections to all else and places to other accounts, and are all answered", async () => {
  const made = await app.post("/core/dbs", { db: { name: "Contacts", code: "contacts", schema: null } });
  expect(made.status).toBe(201);
  const other = await otherAccount(app);
  await other.post("/core/dbs", { db: { name: "Contacts", code: "contacts", schema: null } });
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const locking = app.sql.begin(async (tx) => {
    await tx`lock table records in access exclusive mode`;
    await held;
  });
  const locks = async (mode: string, granted: boolean) =>
    (
      await app.sql`select from pg_locks where relation = 'records'::regclass and mode = ${mode} and granted = ${granted}`
    ).length;
  await eventually(async () => (await locks("AccessExclusiveLock", true)) > 0);
  const calls = Array.from({ length: 20 }, (_, at) =>
    app.get(`/core/dbs/contacts/${at % 2 ? "records" : "search"}?q=nobody`),
  );
  await eventually(async () => (await locks("AccessShareLock", false)) === 3);
  // With connections for them it would not wait for the lists.
  expect((await app.get("/core/dbs/contacts")).status).toBe(200);
  expect(await locks("AccessShareLock", false)).toBe(3);
  calls.push(other.get("/core/dbs/contacts/records"));
  await eventually(async () => (await locks("AccessShareLock", false)) === 4);
  release();
  await locking;
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(21).fill(200));
});

test("who has waited too long gets the error, and its place goes to nobody", async () => {
  const turns = createTurns(1, { ms: 1, error: () => new Error("too late") });
  const { signal } = new AbortController();
  const { promise, resolve } = Promise.withResolvers<string>();
  const first = turns(() => promise, signal);
  expect(await turns(async () => "late", signal).catch(String)).toBe("Error: too late");
  resolve("done");
  expect([await first, await turns(async () => "next", signal)]).toEqual(["done", "next"]);
});
