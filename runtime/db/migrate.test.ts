/** What brings a database up to date at a start. */
import { afterAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../tests/harness.ts";
import { plugins } from "../../plugins/index.ts";
import { definePlugin } from "../plugin/plugin.ts";
import { createLog } from "../system/log.ts";
import { migrate, pending } from "./migrate.ts";

let app: TestApp | undefined;
afterAll(() => app?.stop());

test("a migration may take longer than a request: neither the server nor the connection gives it up", async () => {
  // A connection of requests is given up two seconds after the limit of their statements.
  const slow = definePlugin({
    name: "slow",
    migrations: [{ name: "001_slow", sql: "select pg_sleep(5); create table slow_things (id int primary key);" }],
    setup: () => ({}),
  });
  app = await startTestApp({ plugins: [...plugins, slow], env: { DATABASE_ANSWER_SECONDS: "1" } });
  expect(await app.sql`select name from migrations where plugin = 'slow'`).toMatchObject([{ name: "001_slow" }]);
  const [limit] = await app.sql`show statement_timeout`;
  expect(limit).toEqual({ statementTimeout: "1s" });
});

const checksum = (source: string) => new Bun.CryptoHasher("sha256").update(source).digest("hex");
const sets = [
  { plugin: "runtime", migrations: [{ name: "001_a", sql: "a" }] },
  {
    plugin: "notes",
    migrations: [
      { name: "001_b", sql: "b" },
      { name: "002_c", sql: "c" },
    ],
  },
];
const applied = (plugin: string, name: string, sql: string) => ({ plugin, name, checksum: checksum(sql) });

test.each([
  ["an empty database", [], ["runtime/001_a", "notes/001_b", "notes/002_c"]],
  ["an older one", [applied("runtime", "001_a", "a"), applied("notes", "001_b", "b")], ["notes/002_c"]],
  ["one that lacks an earlier file", [applied("notes", "002_c", "c")], ["runtime/001_a", "notes/001_b"]],
  [
    "one with a plugin that is gone",
    [applied("gone", "001_x", "x"), applied("runtime", "001_a", "a")],
    ["notes/001_b", "notes/002_c"],
  ],
])("%s lacks its migrations in order", (_, rows, names) => {
  expect(pending(sets, rows).map(({ plugin, name }) => `${plugin}/${name}`)).toEqual(names);
});

test.each([
  ["a newer version", [applied("notes", "003_d", "d")], "notes/003_d, which this version does not know"],
  ["an edited file", [applied("notes", "001_b", "B")], "notes/001_b was edited after it was applied"],
])("a database of %s is refused", (_, rows, message) => {
  expect(() => pending(sets, rows)).toThrow(message);
});

test("a migration gives way to writes of an older server that never cease, and none of them fails", async () => {
  if (!app) throw new Error("the server was not started");
  const { sql } = app;
  await sql`create table first_things (id int)`;
  await sql`create table second_things (id int)`;
  const change = `alter table first_things add column x int;
    alter table second_things add column x int;`;
  const due = [{ plugin: "things", migrations: [{ name: "001_things", sql: change }] }];
  const over = new AbortController();
  const migrating = migrate(sql, due, createLog("error")).finally(() => over.abort());
  let written = 0;
  const write = () =>
    sql.begin(async (tx) => {
      await tx`insert into second_things values (${++written})`;
      await tx`select pg_sleep(0.15)`; // Longer than a migration waits for a lock.
      await tx`insert into first_things values (${written})`;
    });
  const writer = async () => {
    while (!over.signal.aborted) await write();
  };
  await Promise.all([migrating, writer(), writer(), writer(), writer()]);
  const [found] = await sql`select count(*)::int from first_things where x is null`;
  expect(found).toEqual({ count: written });
});
