/** Views: whose they are, what is hidden of them, and what is refused. behaviour B.7. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  eventually,
  otherAccount,
  person,
  startTestApp,
  type RequestOptions,
  type TestApp,
} from "../../../tests/harness.ts";

let app: TestApp;
let boss: Who;
let ann: Who;
let bob: Who;
let guest: Who;

interface Who {
  readonly id: number;
  readonly token: string;
}

const base = "/core/dbs/orders/views";
const as = ({ token }: { readonly token: string }): RequestOptions => ({ token });
const accessOf = (): unknown[] => [
  { to: `user:${boss.id}`, may: "manage" },
  { to: "role:user", may: "edit", hide: ["margin"] },
  { to: "role:guest", may: "read", hide: ["margin"] },
];

beforeAll(async () => {
  app = await startTestApp();
  boss = await person(app, { role: "user" });
  ann = await person(app, { role: "user" });
  bob = await person(app, { role: "user" });
  guest = await person(app, { role: "guest" });
  const fields = { title: "string", status: "string", amount: "integer", due: "date", margin: "integer" };
  const db = { name: "Orders", code: "orders", schema: { fields }, access: accessOf() };
  expect((await app.post("/core/dbs", { db })).status).toBe(201);
});
afterAll(() => app.stop());

const make = async (view: object, who: Who) => app.post(base, { view: { name: "View", ...view } }, as(who));
test("a calendar's date is a date: another field is refused, one that is not there is named", async () => {
  const refused = await make({ kind: "calendar", date_field: "amount" }, boss);
  expect([refused.status, refused.json]).toEqual([
    422,
    { date_field: ["must be a field of type date or datetime: amount is integer"] },
  ]);
  const hidden = await make({ kind: "calendar", date_field: "margin" }, ann);
  const unknown = await make({ kind: "calendar", date_field: "dew" }, ann);
  expect([hidden.status, unknown.status, unknown.headers.get("warning")]).toEqual([
    201,
    201,
    expect.stringContaining("dew"),
  ]);
  for (const { json } of [hidden, unknown]) await app.delete(`${base}/${json.id}`, as(ann));
  const made = await make({ kind: "calendar", date_field: "created_at" }, boss);
  expect(made.status).toBe(201);
  await app.delete(`${base}/${made.json.id}`, as(boss));
});

test("a field that nothing can be grouped or measured by, or that holds no pictures, is named", async () => {
  const parts = { type: "integer", rollup: { of: "shown.whole", op: "count" } };
  const whole = { type: "string", link: "shown" };
  const photo = { type: "string", format: "file" };
  const schema = { fields: { note: "text", status: "string", size: "number", photo, parts, whole } };
  expect((await app.post("/core/dbs", { db: { name: "Shown", code: "shown", schema } })).status).toBe(201);
  const warning = async (view: object) =>
    (await app.post("/core/dbs/shown/views", { view: { name: "View", ...view } })).headers.get("warning") ?? "";
  expect(await warning({ kind: "board", group_by: "note" })).toContain("group_by: note is of type text");
  expect(await warning({ kind: "gallery", cover_field: "status" })).toContain("cover_field: status holds no files");
  expect(await warning({ kind: "board", group_by: "parts" })).toContain("group_by: a rollup is worked out");
  const rollup = ["`parts` is worked out when it is read: nothing is found or sorted by it"];
  for (const [view, at] of [[{ filters: { parts: 1 } }, "filters"] as const, [{ sort: ["-parts"] }, "sort"] as const])
    expect((await app.post("/core/dbs/shown/views", { view: { name: "View", ...view } })).json).toEqual({
      [at]: rollup,
    });
  const chart = { kind: "chart", measure: "sum" };
  expect(await warning({ ...chart, measure_field: "status" })).toContain("measure_field: `status` is a string");
  expect(await warning({ ...chart, measure_field: "parts" })).toContain("measure_field: a rollup is worked out");
  expect(await warning(chart)).toContain("measure: sum is of no field");
  expect(await warning({ ...chart, measure: "max", measure_field: "status", group_by: "whole" })).toBe("");
  expect(await warning({ ...chart, measure_field: "size" })).toBe("");
  expect(await warning({ kind: "gallery", cover_field: "photo", group_by: "status" })).toBe("");
});

const namesFor = async (who: { readonly token: string }) =>
  (await app.get(base, as(who))).json.map(({ name }: { name: string }) => name);

describe("whose they are", () => {
  test("one's own are seen, changed and deleted by oneself alone, shared ones are seen by all readers", async () => {
    const own = await make({ name: "Ann's", position: 2 }, ann);
    const shared = await make({ name: "All", shared: true, position: 1 }, boss);
    expect([own.status, shared.status]).toEqual([201, 201]);
    expect(await namesFor(ann)).toEqual(["All", "Ann's"]);
    expect([await namesFor(bob), await namesFor(guest), await namesFor(boss)]).toEqual([["All"], ["All"], ["All"]]);
    const [mine, all] = [`${base}/${own.json.id}`, `${base}/${shared.json.id}`];
    for (const who of [bob, boss, guest]) {
      expect((await app.get(mine, as(who))).status).toBe(404);
      expect((await app.patch(mine, { view: { name: "x" } }, as(who))).status).toBe(404);
      expect((await app.delete(mine, as(who))).status).toBe(404);
    }
    for (const who of [ann, guest]) {
      expect((await app.get(all, as(who))).json.name).toBe("All");
      expect((await app.patch(all, { view: { name: "x" } }, as(who))).status).toBe(403);
      expect((await app.delete(all, as(who))).status).toBe(403);
    }
    expect((await make({ shared: true }, ann)).status).toBe(403);
    expect((await app.patch(mine, { view: { shared: true } }, as(ann))).status).toBe(403);
    expect((await make({ name: "Guest's" }, guest)).status).toBe(201);
    expect(await namesFor(guest)).toEqual(["Guest's", "All"]);
    expect((await app.patch(mine, { view: { name: "Ann's own" } }, as(ann))).json).toMatchObject({
      name: "Ann's own",
      created_by_id: ann.id,
    });
    expect((await app.delete(mine, as(ann))).status).toBe(204);
    expect((await app.delete(all, as(boss))).status).toBe(204);
  });

  test("they close with the database: a narrowed token, another account, a grant that is taken away", async () => {
    const { id } = (await make({ name: "All", shared: true }, boss)).json;
    const narrowed = await person(app, { role: "user", narrowedTo: ["prompts"] });
    const other = await otherAccount(app);
    const stranger = { token: other.adminToken, headers: { host: other.host } };
    for (const path of [base, `${base}/${id}`]) {
      expect((await app.get(path, as(narrowed))).status).toBe(403);
      expect((await app.get(path, stranger)).status).toBe(404);
    }
    await app.patch("/core/dbs/orders", { db: { access: accessOf().slice(0, 1) } });
    expect((await app.get(`${base}/${id}`, as(ann))).status).toBe(404);
    expect((await make({}, ann)).status).toBe(404);
    await app.patch("/core/dbs/orders", { db: { access: accessOf() } });
    expect((await app.get(`${base}/${id}`, as(ann))).status).toBe(200);
    await app.post("/core/dbs", { db: { name: "Second", code: "second" } });
    expect((await app.get(`/core/dbs/second/views/${id}`, as(boss))).status).toBe(404);
  });

  test("go with the database", async () => {
    const db = (await app.post("/core/dbs", { db: { name: "Short", code: "short" } })).json.id;
    expect((await app.post("/core/dbs/short/views", { view: { name: "One" } })).status).toBe(201);
    expect((await app.delete("/core/dbs/short")).status).toBe(204);
    await app.sql`update db_trash set expires_at = now() - interval '1 second'`;
    await app.runSchedule("jsondb.prune");
    await eventually(async () => (await app.sql`select from db_views where db_id = ${db}`).length === 0);
  });
});

describe("what they hold", () => {
  const whole = {
    kind: "board",
    filters: {
      status: "open",
      amount: { gte: 10, in: [10, 20] },
      margin: { gt: 3 },
      any: [{ title: "a", margin: 1 }, { margin: 2 }, { amount: { lt: 9 } }],
    },
    sort: ["-margin", "-amount"],
    columns: ["title", "margin", "amount"],
    group_by: "margin",
    date_field: "due",
    cover_field: null,
    measure: "count",
    measure_field: null,
    unit: "month",
  };

  test("fields that are hidden from somebody are not in what they see", async () => {
    const made = await make({ ...whole, shared: true }, boss);
    expect([made.json, made.headers.get("warning")]).toMatchObject([{ ...whole, table_name: null, position: 0 }, null]);
    const shown = {
      filters: {
        status: "open",
        amount: { gte: 10, in: [10, 20] },
        any: [{ title: "a" }, { amount: { lt: 9 } }],
      },
      sort: ["-amount"],
      columns: ["title", "amount"],
      group_by: null,
      date_field: "due",
    };
    const one = await app.get(`${base}/${made.json.id}`, as(ann));
    expect(one.json).toMatchObject(shown);
    const list = await app.get(base, as(guest));
    expect(list.json.find(({ id }: { id: string }) => id === made.json.id)).toMatchObject(shown);
    expect(one.text + list.text).not.toContain("margin");
  });

  test("fields that there are not, or are hidden, are named in Warning", async () => {
    const grouped = await make({ filters: { any: [{ status: "open" }, { stauts: "open" }] } }, ann);
    expect([grouped.status, grouped.headers.get("warning")]).toEqual([201, expect.stringContaining("stauts")]);
    const unknown = await make({ columns: ["titel"], sort: ["-margin"] }, ann);
    expect([unknown.status, unknown.json.columns]).toEqual([201, ["titel"]]);
    expect(unknown.headers.get("warning")).toContain("titel");
    expect(unknown.headers.get("warning")).toContain("margin");
    expect((await make({ sort: ["-margin"] }, boss)).headers.get("warning")).toBeNull();
  });

  test("a change that another has overtaken is 412", async () => {
    const made = await make({}, ann);
    const at = `${base}/${made.json.id}`;
    const headers = { "if-match": made.headers.get("etag") ?? "" };
    expect((await app.patch(at, { view: { name: "Second" } }, { ...as(ann), headers })).status).toBe(200);
    expect((await app.patch(at, { view: { name: "Third" } }, { ...as(ann), headers })).status).toBe(412);
    expect((await app.delete(at, { ...as(ann), headers })).status).toBe(412);
    const logged = await app.get(`/core/activity?model=Core::DbView&limit=5`);
    expect(logged.json[0]).toMatchObject({ record_id: made.json.id });
  });

  test.each<[view: object, field: string, mistake: string]>([
    [{ name: " " }, "name", "not blank"],
    [{ kind: "list" }, "kind", ""],
    [{ measure: "median" }, "measure", ""],
    [{ unit: "week" }, "unit", ""],
    [{ table_name: "lines" }, "table_name", "must be left out"],
    [{ filters: { amount: { above: 1 } } }, "filters", "amount.above is no operator: they are gt"],
    [{ filters: { amount: { gt: "x" } } }, "filters", "`amount` gt: must be a number"],
    [{ filters: { amount: {} } }, "filters", "amount has no operator"],
    [{ filters: { any: [] } }, "filters", "any has no group"],
    [{ filters: { any: [{ title: "a" }, {}] } }, "filters", "any[1] must be an object with conditions"],
    [{ filters: { any: [{ amount: { above: 1 } }] } }, "filters", "any[0].amount.above is no operator"],
    [{ filters: { any: [{ amount: { gt: "x" } }] } }, "filters", "`amount` gt: must be a number"],
    [{ filters: { amount: [1] } }, "filters", "amount must be one value"],
    [{ filters: { amount: { in: [null] } } }, "filters", "amount.in must be a text"],
    [{ filters: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`f${n}`, 1])) }, "filters", "at most 20"],
    [{ filters: { title: "x".repeat(20_001) } }, "filters", "at most"],
    [{ sort: "title" }, "sort", ""],
    [{ sort: ["a", "b", "c", "d", "e", "f"] }, "sort", ""],
    [{ columns: [7] }, "columns", ""],
    [{ position: -1 }, "position", ""],
  ])("%j is refused", async (view, field, mistake) => {
    const before = await app.sql`select from db_views`;
    const { status, json } = await make(view, ann);
    expect([status, Object.keys(json)[0]?.split(/[.[]/)[0]]).toEqual([422, field]);
    expect(JSON.stringify(json)).toContain(JSON.stringify(mistake).slice(1, -1));
    expect(await app.sql`select from db_views`).toHaveLength(before.length);
  });

  test("a view of a table names one that there is", async () => {
    const tables = { lines: { fields: { no: "integer" } } };
    await app.post("/core/dbs", { db: { name: "Tables", code: "tables", schema: { tables } } });
    const add = (view: object) => app.post("/core/dbs/tables/views", { view: { name: "x", ...view } });
    expect((await add({ table_name: "lines", filters: { no: { gt: 1 } } })).status).toBe(201);
    expect((await add({ table_name: "line" })).json).toEqual({ table_name: ["must be one of lines"] });
    expect((await add({ table_name: "lines", filters: { no: { gt: "x" } } })).status).toBe(422);
  });

  test("a person has at most 100 of their own in a database, a database 200 shared ones", async () => {
    const db = (await app.post("/core/dbs", { db: { name: "Full", code: "full" } })).json.id;
    await app.sql`
      insert into db_views (id, account_id, db_id, name, kind, shared, created_by_id)
      select gen_random_uuid(), 1, ${db}, 'x', 'table', n > 99, ${ann.id} from generate_series(1, 298) n`;
    const add = (view: object) => app.post("/core/dbs/full/views", { view: { name: "x", ...view } }, as(ann));
    const own = await Promise.all([add({}), add({})]);
    expect(own.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 422]);
    const all = await Promise.all([add({ shared: true }), add({ shared: true })]);
    expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 422]);
    expect((await app.post("/core/dbs/full/views", { view: { name: "x" } }, as(bob))).status).toBe(201);
  });
});
