/** Changes of records in the log of activity, for accounts that ask for it: alone, together, in bulk. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, person, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { loggedIn } from "./events.ts";

let app: TestApp;
let records: string;
beforeAll(async () => {
  app = await startTestApp();
  const { id } = (await app.post("/core/dbs.json", { db: { name: "People", code: "people" } })).json;
  records = `/core/dbs/${id}/records`;
  const settings = { activity_databases: "orders, people" };
  expect((await app.patch("/account/settings.json", { settings })).status).toBe(200);
});
afterAll(() => app.stop());

const log = async (id: string) =>
  (await app.get(`/core/activity.json?model=Core::Record&record_id=${id}`)).json.toReversed();
const create = async (data: object) => (await app.post(`${records}.json`, { record: { data } })).json;
const patch = (id: string, data: object, headers = {}, token?: string) =>
  app.patch(`${records}/${id}.json`, { record: { data } }, { headers, ...(token && { token }) });

test("a record's life is logged, with the difference of each change", async () => {
  const { id } = await create({ name: "Ann", age: 30, password: "hunter2" });
  await patch(id, { age: 31, password: "hunter3", name: "Ann" });
  await patch(id, { age: 31 });
  await patch(id, { city: "Łódź" }, { "if-match": (await app.get(`${records}/${id}.json`)).headers.get("etag") ?? "" });
  await app.delete(`${records}/${id}.json`);
  const entries = await log(id);
  expect(entries.map(({ action, changes }: { action: string; changes: object }) => [action, changes])).toEqual([
    ["create", { name: { new: "Ann" }, age: { new: 30 }, password: { secret: true } }],
    ["update", { age: { old: 30, new: 31 }, password: { secret: true } }],
    ["update", {}],
    ["update", { city: { new: "Łódź" } }],
    ["delete", { name: { old: "Ann" }, age: { old: 31 }, password: { secret: true }, city: { old: "Łódź" } }],
  ]);
  const by = {
    actor: "person",
    login: "admin",
    user_id: 1,
    address: "127.0.0.1",
    name: "people",
    model: "Core::Record",
  };
  for (const entry of entries) expect(entry).toMatchObject(by);
});

test("changes that arrive together are logged each for its own request", async () => {
  const made = await Promise.all(Array.from({ length: 40 }, (_, n) => create({ n })));
  const changed = await Promise.all(made.map(({ id }, n) => patch(id, { n: n + 1000 })));
  for (const [n, { id }] of made.entries()) {
    const [first, second] = await log(id);
    expect(first.changes).toEqual({ n: { new: n } });
    expect(second.changes).toEqual({ n: { old: n, new: n + 1000 } });
    expect(second.request_id).toBe(changed[n]?.headers.get("x-request-id"));
  }
});

type Made = readonly { readonly id: string }[];

/**
 * Makes records and changes them all at once, while no entries are made. Gives the first of which `least` changes are in
 * one row of the inbox: a busy machine may take in requests so slowly that they do not go together.
 */
function inOneRow(least: number, data: readonly object[], change: (made: Made) => ReturnType<typeof patch>[]) {
  return eventually(async () => {
    const made: Made = await Promise.all(data.map(create));
    const holder = await app.sql.reserve();
    await holder`select pg_advisory_lock(hashtext('corestead activity inbox'), 1)`;
    try {
      const changed = await Promise.all(change(made));
      const rows = await app.sql`select from activity_inbox where cardinality(ids) >= ${least}`;
      return rows.length > 0 ? { made, changed } : undefined;
    } finally {
      await holder`select pg_advisory_unlock(hashtext('corestead activity inbox'), 1)`;
      holder.release();
    }
  }, `${least} changes in one row`);
}

test("a statement of many changes is noted in one row, and each has its own person, secrets and lengths", async () => {
  const other = await person(app, { role: "admin" });
  // No compression makes it smaller.
  const long = Array.from({ length: 1_000 }, () => crypto.randomUUID()).join("");
  const all = [
    { data: { n: 1 }, given: { n: 2 }, changes: { n: { old: 1, new: 2 } } },
    { data: { n: 1, password: "hunter2" }, given: { password: "hunter3" }, changes: { password: { secret: true } } },
    { data: { n: 1 }, given: { n: 1 }, changes: {} },
    { data: { n: 1, long }, given: { n: 2 }, changes: { n: { old: 1, new: 2 } } },
    { data: { n: 1, long }, given: { n: 1, long }, changes: {} },
    {
      data: { long },
      given: { long: "short", api_secret: "x" },
      changes: {
        long: { old: long.slice(0, 1_000), old_size: long.length, new: "short" },
        api_secret: { secret: true },
      },
    },
    { data: {}, given: { text: long }, changes: { text: { new: long.slice(0, 1_000), new_size: long.length } } },
    {
      data: { [`it's "odd" \\u0000`]: "a" },
      given: { [`it's "odd" \\u0000`]: "b" },
      changes: { [`it's "odd" \\u0000`]: { old: "a", new: "b" } },
    },
  ];
  const caseOf = (n: number) => all[n % all.length];
  const data = Array.from({ length: 32 }, (_, n) => caseOf(n)?.data ?? {});
  const { made, changed } = await inOneRow(8, data, (several) =>
    several.map(({ id }, n) => patch(id, caseOf(n)?.given ?? {}, {}, n % 3 === 0 ? other.token : undefined)),
  );
  for (const [n, { id }] of made.entries()) {
    const [, entry, ...more] = await log(id);
    expect(more).toEqual([]);
    expect(entry.changes).toEqual(caseOf(n)?.changes ?? {});
    expect(entry.login).toBe(n % 3 === 0 ? other.login : "admin");
    expect(entry.request_id).toBe(changed[n]?.headers.get("x-request-id"));
  }
  expect(await app.command("activity", "verify")).toContain("unchanged");
});

test("changes of more text than a row of the inbox keeps are logged all the same", async () => {
  const long = Array.from({ length: 400 }, () => crypto.randomUUID()).join("");
  const numbers = Array.from({ length: 12 }, (_, n) => ({ n }));
  const { made } = await inOneRow(5, numbers, (all) => all.map(({ id }, n) => patch(id, { n: n + 100, long })));
  for (const [n, { id }] of made.entries())
    expect((await log(id)).at(-1).changes).toEqual({
      n: { old: n, new: n + 100 },
      long: { new: long.slice(0, 1_000), new_size: long.length },
    });
});

test("of changes that come together, one of a record that somebody holds is logged once, when it is done", async () => {
  const made = await Promise.all(Array.from({ length: 12 }, (_, n) => create({ n })));
  const { changing } = await app.sql.begin(async (tx) => {
    await tx`update records set data = data || '{"n": -1}' where id = ${made[0].id}`;
    const asked = made.map(({ id }, n) => patch(id, { n: n + 1000 }));
    await Promise.all(asked.slice(1));
    return { changing: asked[0] };
  });
  expect((await changing)?.status).toBe(200);
  for (const [n, { id }] of made.entries()) {
    const [, entry, ...more] = await log(id);
    expect(more).toEqual([]);
    expect(entry.changes).toEqual({ n: { old: n === 0 ? -1 : n, new: n + 1000 } });
  }
});

test("a change by an id in capital letters is logged as any other", async () => {
  const { id } = await create({ n: 1 });
  expect((await patch(id.toUpperCase(), { n: 2 })).status).toBe(200);
  expect((await log(id)).at(-1)).toMatchObject({ login: "admin", changes: { n: { old: 1, new: 2 } } });
});

test("a change that waited for another one is logged with what it has really replaced", async () => {
  const { id } = await create({ n: 1, other: "a" });
  const { changing } = await app.sql.begin(async (tx) => {
    await tx`update records set data = data || '{"n": 2, "other": "b"}' where id = ${id}`;
    const asked = patch(id, { n: 3 });
    await eventually(async () => {
      const found = await app.sql`
        select from pg_stat_activity where wait_event_type = 'Lock' and query like '%update records r set%'`;
      return found.length > 0;
    }, "a change that waits");
    return { changing: asked };
  });
  expect((await changing).json.data).toEqual({ n: 3, other: "b" });
  expect((await log(id)).at(-1).changes).toEqual({ n: { old: 2, new: 3 } });
});

test("a field among hundreds, an empty value and a move to another table are logged", async () => {
  const fields = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`f${n}`, n]));
  const { id } = await create({ ...fields, gone: "x" });
  await patch(id, { ...fields, f299: "new", gone: null, never: null });
  expect((await log(id)).at(-1).changes).toEqual({ f299: { old: 299, new: "new" }, gone: { old: "x" } });
  const schema = { tables: { one: { fields: { a: "string" } }, two: { fields: { a: "string" } } } };
  const tables = (await app.post("/core/dbs.json", { db: { name: "Orders", code: "orders", schema } })).json.id;
  const path = `/core/dbs/${tables}/records`;
  const moved = (await app.post(`${path}.json`, { record: { table_name: "one", data: { a: "x" } } })).json.id;
  const record = { table_name: "two", data: { a: "y" } };
  expect((await app.patch(`${path}/${moved}.json`, { record })).status).toBe(200);
  expect((await log(moved)).at(-1)).toMatchObject({ action: "update", changes: { a: { old: "x", new: "y" } } });
});

test("many fields and long values are cut, with their size", async () => {
  const { id } = await create({ long: "x".repeat(100_000), short: "y" });
  expect((await log(id))[0].changes).toEqual({
    long: { new: "x".repeat(1000), new_size: 100_000 },
    short: { new: "y" },
  });
});

test("a change of a large record is logged by the fields that it gave", async () => {
  const { id } = await create({ long: "x".repeat(50_000), short: "y", password: "hunter2" });
  await patch(id, { short: "z", password: "hunter3" });
  expect((await log(id)).at(-1).changes).toEqual({ short: { old: "y", new: "z" }, password: { secret: true } });
  await patch(id, { long: "w" });
  expect((await log(id)).at(-1).changes).toEqual({ long: { old: "x".repeat(1000), old_size: 50_000, new: "w" } });
});

test("an import is logged record by record", async () => {
  await app.post(records.replace("/records", "/import"), undefined, {
    raw: '{"name":"Import 1"}\n{"name":"Import 2"}\n',
    headers: { "content-type": "application/x-ndjson" },
  });
  const found = (await app.get("/core/activity.json?model=Core::Record&q=Import%20")).json;
  expect(found.map((one: { login: string; changes: object }) => [one.login, one.changes])).toEqual([
    ["admin", { name: { new: "Import 2" } }],
    ["admin", { name: { new: "Import 1" } }],
  ]);
});

test("records of other databases are not logged, and a refused change is not", async () => {
  const { id } = (await app.post("/core/dbs.json", { db: { name: "Quiet", code: "quiet" } })).json;
  const made = (await app.post(`/core/dbs/${id}/records.json`, { record: { data: { a: 1 } } })).json;
  expect(await log(made.id)).toEqual([]);
  const one = await create({ a: 1 });
  expect((await patch(one.id, { b: 2 }, { "if-match": '"0"' })).status).toBe(412);
  expect((await log(one.id)).length).toBe(1);
  expect(await app.command("activity", "verify")).toContain("unchanged");
});

test.each([
  ["", "a", false],
  ["a, b", "b", true],
  ["a, b", "c", false],
  ["*", "c", true],
])("%j logs %s: %p", (text, code, is) => {
  expect(loggedIn(text)(code)).toBe(is);
});

test("a setting that is no list of codes is refused", async () => {
  const answer = await app.patch("/account/settings.json", { settings: { activity_databases: "a b" } });
  expect([answer.status, JSON.stringify(answer.json)]).toEqual([422, expect.stringContaining('has \\"a b\\"')]);
});

test("who may change settings, but not see the log, cannot keep their changes out of it", async () => {
  const others = [
    await person(app, { role: "manager" }),
    await person(app, { role: "admin", narrowedTo: ["settings"] }),
  ];
  for (const { token } of others) {
    for (const name of ["activity_databases", "activity_days"]) {
      const answer = await app.patch("/account/settings.json", { settings: { [name]: null } }, { token });
      expect([answer.status, answer.json]).toEqual([403, { error: `only administrators change ${name}` }]);
    }
  }
});
