/** The history of records: what is kept, who sees it, and how records become what they were. behaviour B.7. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  adminPassword,
  adminToken,
  databaseSettings,
  eventually,
  otherAccount,
  person,
  startTestApp,
  type TestApp,
  type TestPerson,
} from "../../../tests/harness.ts";
import { folderWith, fromSource, startServer } from "../../../tests/server-process.ts";

let app: TestApp;
let seller: TestPerson;
let guest: TestPerson;

beforeAll(async () => {
  app = await startTestApp();
  seller = await person(app, { role: "user" });
  guest = await person(app, { role: "guest" });
});
afterAll(() => app.stop());

let made = 0;

/** The path of a new database with history. */
async function database(schema: object = {}, more: object = {}): Promise<string> {
  const code = `history-${++made}`;
  const db = { name: code, code, schema: { history: true, ...schema }, ...more };
  const answer = await app.post("/core/dbs.json", { db });
  expect(answer.status).toBe(201);
  return `/core/dbs/${code}`;
}

const as = (token?: string) => (token === undefined ? {} : { token });
const add = async (base: string, data: object, more: object = {}) =>
  (await app.post(`${base}/records.json`, { record: { data, ...more } })).json;
const patch = (base: string, id: string, data: object, token?: string) =>
  app.patch(`${base}/records/${id}.json`, { record: { data } }, as(token));
const history = async (base: string, id: string, token?: string) =>
  (await app.get(`${base}/records/${id}/history.json`, as(token))).json;
const restore = (base: string, id: string, n: number, token?: string, headers = {}) =>
  app.post(`${base}/records/${id}/history/${n}/restore.json`, undefined, { ...as(token), headers });
const told = async (base: string, id: string, token?: string) =>
  (await history(base, id, token)).map(({ n, op, changes }: Entry) => [n, op, changes]);
const bulkEnds = (base: string) =>
  eventually(async () =>
    (await app.get(`${base}/tasks.json`)).json.every(({ status }: { status: string }) => status === "finished"),
  );

interface Entry {
  readonly n: number;
  readonly op: string;
  readonly source: string;
  readonly user_id: number | null;
  readonly changes: Record<string, [unknown, unknown]>;
}

test("every change is kept with who made it, the newest first", async () => {
  const base = await database({ fields: { name: "string", n: "number" } });
  const big = JSON.rawJSON("12345678901234567890.123");
  const { id } = await add(base, { name: "Ann", n: big, extra: [1, { a: null }], nothing: null });
  await patch(base, id, { name: "Bob", n: big }, seller.token);
  await patch(base, id, { name: "Bob" });
  await app.delete(`${base}/records/${id}.json`);
  const answer = await app.get(`${base}/records/${id}/history.json`);
  expect([answer.status, answer.headers.get("x-total-count")]).toEqual([200, "3"]);
  expect(answer.text).toContain("12345678901234567890.123");
  const [deleted, changed, created] = answer.json;
  expect(changed).toEqual({
    n: 2,
    op: "update",
    at: expect.any(String),
    user_id: seller.id,
    user_name: expect.any(String),
    source: "api",
    changes: { name: ["Ann", "Bob"] },
  });
  expect([created.n, created.op, created.changes]).toMatchObject([1, "create", { name: [null, "Ann"] }]);
  expect(created.changes).toHaveProperty("extra", [null, [1, { a: null }]]);
  expect(created.changes).not.toHaveProperty("nothing");
  expect([deleted.op, deleted.changes.name]).toEqual(["delete", ["Bob", null]]);
  const page = await app.get(`${base}/records/${id}/history.json?limit=1&offset=1`);
  expect([page.json, page.headers.get("x-total-count")]).toEqual([[changed], "3"]);
});

test("many changes at once are all kept, each with its number", async () => {
  const base = await database({ fields: { n: "integer", t: "string" }, indexed_fields: ["n"] });
  const all = await Promise.all(Array.from({ length: 40 }, (_, n) => add(base, { n })));
  for (const { id } of all) expect(await told(base, id)).toEqual([[1, "create", { n: [null, expect.any(Number)] }]]);
  const changes = all.flatMap(({ id }) => [1, 2, 3].map((step) => patch(base, id, { n: step * 100, t: `${step}` })));
  expect((await Promise.all(changes)).every(({ status }) => status === 200)).toBe(true);
  for (const { id } of all) {
    const entries: Entry[] = await history(base, id);
    const now = (await app.get(`${base}/records/${id}.json`)).json.data;
    expect(entries[0]?.changes["n"]?.[1]).toBe(now.n);
    for (const [at, entry] of entries.entries())
      expect(entry.changes["n"]?.[0]).toBe(entries[at + 1]?.changes["n"]?.[1] ?? null);
    expect(entries.map(({ n }) => n)).toEqual([4, 3, 2, 1]);
  }
});

test("the changes of all records are told in pages, to each of what they may see", async () => {
  const own = { to: `user:${seller.id}`, may: "read", where: { owner: "{user_id}" }, hide: ["pay"] };
  const base = await database(
    { fields: { name: "string", owner: "integer", pay: "number" } },
    { access: [{ to: "role:admin", may: "manage" }, own] },
  );
  const ann = await add(base, { name: "Ann", owner: seller.id, pay: 5 });
  const bob = await add(base, { name: "Bob", owner: 0 });
  await patch(base, ann.id, { pay: 6 });
  await app.delete(`${base}/records/${bob.id}.json`);
  const seen: unknown[] = [];
  let pages = 0;
  for (let before: string | null = ""; before !== null; pages++) {
    const { json, headers } = await app.get(`${base}/history.json?${new URLSearchParams({ limit: "2", before })}`);
    seen.push(...json.map(({ title, op, n }: Entry & { title: string }) => `${title} ${op} ${n}`));
    before = headers.get("x-next-cursor");
  }
  expect(pages).toBe(2);
  expect(seen).toEqual(["Bob delete 2", "Ann update 2", "Bob create 1", "Ann create 1"]);
  const theirs = (await app.get(`${base}/history.json`, as(seller.token))).json;
  expect(theirs.map(({ record_id: id, changes }: { record_id: string; changes: object }) => [id, changes])).toEqual([
    [ann.id, {}],
    [ann.id, { name: [null, "Ann"], owner: [null, seller.id] }],
  ]);
});

describe("every way", () => {
  const only = async (base: string, id: string) => {
    const [entry] = await history(base, id);
    return [entry.op, entry.source, entry.user_id];
  };

  test("batches, bulk changes, imports, public methods and the trash", async () => {
    const methods = { create: true, update: true, delete: true, list: true };
    const base = await database({}, { public_methods: methods });
    const code = base.split("/").at(-1);
    const operations = [{ op: "create", data: { n: 1 } }];
    const [{ id }] = (await app.post(`${base}/batch.json`, { operations })).json.results;
    expect(await only(base, id)).toEqual(["create", "api", 1]);
    await app.post(`${base}/batch.json`, { operations: [{ op: "update", id, data: { n: 2 } }] });
    expect(await told(base, id)).toEqual([
      [2, "update", { n: [1, 2] }],
      [1, "create", { n: [null, 1] }],
    ]);
    expect((await app.post(`${base}/bulk.json?filter[n]=2`, { op: "update", data: { n: 3 } })).status).toBe(202);
    await bulkEnds(base);
    expect((await told(base, id))[0]).toEqual([3, "update", { n: [2, 3] }]);
    await app.post(`/core/db/${code}/update`, { id, data: { n: 4 } }, { token: "" });
    expect(await only(base, id)).toEqual(["update", "public", null]);
    expect((await app.post(`${base}/bulk.json?filter[n]=4`, { op: "delete" })).status).toBe(202);
    await bulkEnds(base);
    expect((await only(base, id))[0]).toBe("delete");
    await app.post(`${base}/trash/${id}/restore.json`);
    expect((await told(base, id))[0]).toEqual([6, "restore", { n: [null, 4] }]);
    const rows = "n\r\n1\r\n2\r\n";
    await app.post(`${base}/import`, undefined, { raw: rows, headers: { "content-type": "text/csv" } });
    const imported = (await app.get(`${base}/records.json?filter[n]=1`)).json[0];
    expect(await only(base, imported.id)).toEqual(["create", "import", 1]);
    await app.post(`/core/db/${code}/delete`, { id: imported.id }, { token: "" });
    expect(await only(base, imported.id)).toEqual(["delete", "public", null]);
  });

  test("the Studio, agents, flows, and what they begin", async () => {
    const base = await database({ fields: { n: "integer" } });
    const code = base.split("/").at(-1) ?? "";
    const { id } = await add(base, { n: 1 });
    const credentials = { login: "admin", password: adminPassword };
    const signedIn = await app.post("/account/session.json", credentials, { token: null });
    const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const studio = { token: null, headers: { cookie, origin: app.origin } };
    await app.patch(`${base}/records/${id}.json`, { record: { data: { n: 2 } } }, studio);
    expect(await only(base, id)).toEqual(["update", "studio", 1]);
    await app.post(`${base}/bulk.json?filter[n]=2`, { op: "update", data: { n: 3 } }, studio);
    await bulkEnds(base);
    expect(await only(base, id)).toEqual(["update", "studio", 1]);
    const args = { db: code, operations: [{ op: "update", id, data: { n: 4 } }] };
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "batch_records", arguments: args } };
    expect((await app.post("/mcp", call)).status).toBe(200);
    expect(await only(base, id)).toEqual(["update", "mcp", 1]);
    const program = [{ type: "db", op: "update", db: code, id, data: { n: 5 } }];
    await app.post("/connect/flows.json", { flow: { name: "Five", code: "five", fields: { program } } });
    expect((await app.post("/connect/flows/five/run.json", {})).status).toBe(201);
    expect(await only(base, id)).toEqual(["update", "flow", null]);
    expect((await told(base, id))[0]).toEqual([5, "update", { n: [4, 5] }]);
  });

  test("links that a deletion clears and takes along", async () => {
    const people = await database({ fields: { name: "string" } });
    const link = people.split("/").at(-1);
    const orders = await database({ fields: { of: { type: "string", link, on_delete: "cascade" } } });
    const notes = await database({ fields: { of: { type: "string", link } } });
    const ann = await add(people, { name: "Ann" });
    const [order, note] = [await add(orders, { of: ann.id }), await add(notes, { of: ann.id })];
    await app.delete(`${people}/records/${ann.id}.json`);
    expect((await told(orders, order.id))[0]).toEqual([2, "delete", { of: [ann.id, null] }]);
    expect((await told(notes, note.id))[0]).toEqual([2, "update", { of: [ann.id, null] }]);
  });
});

test("tables say for themselves whether they keep it", async () => {
  const fields = { n: "integer" };
  const base = await database({ history: false, tables: { kept: { fields, history: true }, other: { fields } } });
  const [kept, other] = [
    await add(base, { n: 1 }, { table_name: "kept" }),
    await add(base, { n: 1 }, { table_name: "other" }),
  ];
  await app.patch(`${base}/records/${other.id}.json`, { record: { data: { n: 2 }, table_name: "kept" } });
  await app.patch(`${base}/records/${kept.id}.json?keep_table=true`, { record: { data: { n: 2 } } });
  expect(await told(base, other.id)).toEqual([[1, "update", { n: [1, 2] }]]);
  expect((await told(base, kept.id)).length).toBe(2);
  await app.patch(base, { db: { schema: { tables: { kept: { fields }, other: { fields } } } } });
  await app.patch(`${base}/records/${kept.id}.json?keep_table=true`, { record: { data: { n: 3 } } });
  await app.patch(base, { db: { schema: { history: true, tables: { kept: { fields }, other: { fields } } } } });
  await app.patch(`${base}/records/${kept.id}.json?keep_table=true`, { record: { data: { n: 4 } } });
  expect((await told(base, kept.id))[0]).toEqual([3, "update", { n: [3, 4] }]);
});

describe("a record becomes what it was", () => {
  test("whole, with links, keys and its own entry, and If-Match", async () => {
    const base = await database({
      fields: { mail: { type: "string", unique: true }, n: "integer" },
      indexed_fields: ["n"],
    });
    const { id } = await add(base, { mail: "a@example.com", n: 1 });
    const changed = await patch(base, id, { mail: "b@example.com", n: 2, more: "x" });
    const etag = changed.headers.get("etag") ?? "";
    await patch(base, id, { n: 3 });
    expect((await restore(base, id, 1, undefined, { "if-match": etag })).status).toBe(412);
    const seen = (await app.get(`${base}/records/${id}.json`)).headers.get("etag") ?? "";
    const restored = await restore(base, id, 1, undefined, { "if-match": seen });
    expect([restored.status, restored.json.data]).toEqual([200, { mail: "a@example.com", n: 1 }]);
    expect(restored.headers.get("etag")).toBe((await app.get(`${base}/records/${id}.json`)).headers.get("etag"));
    expect((await told(base, id))[0]).toEqual([
      4,
      "restore",
      { mail: ["b@example.com", "a@example.com"], n: [3, 1], more: ["x", null] },
    ]);
    expect((await app.get(`${base}/search.json?filter[n]=1`)).json).toHaveLength(1);
    await add(base, { mail: "b@example.com" });
    const taken = await restore(base, id, 2);
    expect([taken.status, taken.json]).toEqual([422, { mail: ["is already taken"] }]);
    for (const n of ["0", "99", "x", "99999999999"])
      expect((await app.post(`${base}/records/${id}/history/${n}/restore.json`)).status).toBe(404);
  });

  test("after its deletion, under its id, once or over what came back", async () => {
    const base = await database({ fields: { n: "integer" }, trash_days: 0 });
    const { id, created_at } = await add(base, { n: 1 });
    await patch(base, id, { n: 2 });
    await app.delete(`${base}/records/${id}.json`);
    const all = await Promise.all([1, 1, 2, 3].map((n) => restore(base, id, n)));
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await app.get(`${base}/records.json`)).json).toMatchObject([{ id, created_at }]);
    const entries: Entry[] = await history(base, id);
    const numbers = entries.map(({ n }) => n);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => b - a));
    expect(entries.filter(({ op }) => op === "create" || op === "delete").map(({ n }) => n)).toEqual([3, 1]);
    const usual = await database({ fields: { n: "integer" } });
    const other = await add(usual, { n: 1 });
    await app.delete(`${usual}/records/${other.id}.json`);
    const both = await Promise.all([
      restore(usual, other.id, 1),
      app.post(`${usual}/trash/${other.id}/restore.json`),
      restore(usual, other.id, 1),
    ]);
    expect(both.map(({ status }) => status).every((status) => status === 200 || status === 404)).toBe(true);
    expect((await app.get(`${usual}/records.json`)).json).toHaveLength(1);
    expect((await app.get(`${usual}/trash.json`)).json).toEqual([]);
  });

  test("by today's schema, under today's names, without fields that are gone", async () => {
    const base = await database({ fields: { a: "string", b: "string", gone: "string" } });
    const { id } = await add(base, { a: "1", gone: "canary-gone" });
    await patch(base, id, { a: "2" });
    const fields = { c: "string", b: "string" };
    expect((await app.patch(base, { db: { schema: { history: true, fields } }, rename: { a: "c" } })).status).toBe(200);
    expect(await told(base, id)).toEqual([
      [2, "update", { c: ["1", "2"] }],
      [1, "create", { c: [null, "1"] }],
    ]);
    expect((await restore(base, id, 1)).json.data).toEqual({ c: "1", gone: "canary-gone" });
    const required = { ...fields, b: { type: "string", required: true } };
    await app.patch(base, { db: { schema: { history: true, fields: required } } });
    const refused = await restore(base, id, 2);
    expect([refused.status, refused.json]).toEqual([422, { b: ["is required"] }]);
    expect((await app.get(`${base}/records/${id}.json`)).json.data.c).toBe("1");
  });

  test("while links lead somewhere", async () => {
    const people = await database({ fields: { name: "string" } });
    const orders = await database({ fields: { of: { type: "string", link: people.split("/").at(-1) } } });
    const [ann, bob] = [await add(people, { name: "Ann" }), await add(people, { name: "Bob" })];
    const { id } = await add(orders, { of: ann.id });
    await patch(orders, id, { of: bob.id });
    expect((await restore(orders, id, 1)).status).toBe(200);
    const count = async (of: string) => (await app.get(`${people}/records/${of}/linked.json`)).json[0].count;
    expect([await count(ann.id), await count(bob.id)]).toEqual([1, 0]);
    await app.delete(`${people}/records/${bob.id}.json`);
    expect((await restore(orders, id, 2)).json).toEqual({
      of: [`${bob.id} is not the id of a record of ${people.split("/").at(-1)}`],
    });
    await app.delete(`${orders}/records/${id}.json`);
    await app.delete(`${people}/records/${ann.id}.json`);
    const again = await restore(orders, id, 4);
    expect([again.status, again.json.data]).toEqual([200, { of: null }]);
    expect(again.headers.get("warning")).toContain("of: ");
  });
});

describe("who", () => {
  let base: string;
  let id: string;
  beforeAll(async () => {
    const fields = { title: "string", owner_id: "integer", stage: "string", secret: "string" };
    base = await database({ fields });
    const access = [
      { to: `user:${seller.id}`, may: "edit", where: { owner_id: "{user_id}" }, hide: ["secret"] },
      { to: "everyone", may: "read", where: { stage: "open" }, hide: ["secret", "owner_id"] },
    ];
    expect((await app.patch(base, { db: { access } })).status).toBe(200);
    id = (await add(base, { title: "canary-1", owner_id: 0, stage: "closed", secret: "canary-2" })).id;
    await patch(base, id, { title: "t2", owner_id: seller.id, secret: "canary-3" });
    await patch(base, id, { title: "t3", secret: "canary-4" });
    await patch(base, id, { owner_id: 0, title: "canary-5" });
    await patch(base, id, { owner_id: seller.id, title: "t6" });
  });

  test("sees the entries after which the record was theirs, without what was hidden", async () => {
    const answer = await app.get(`${base}/records/${id}/history.json`, { token: seller.token });
    expect(answer.headers.get("x-total-count")).toBe("3");
    expect(answer.text).not.toContain("canary");
    expect(answer.json.map(({ n, changes }: Entry) => [n, changes])).toEqual([
      [5, { title: [null, "t6"], owner_id: [null, seller.id] }],
      [3, { title: ["t2", "t3"] }],
      [2, { title: [null, "t2"], owner_id: [null, seller.id] }],
    ]);
    expect((await app.get(`${base}/records/${id}/history.json`, { token: guest.token })).status).toBe(404);
    expect((await told(base, id)).length).toBe(5);
    const other = await otherAccount(app);
    expect((await other.get(`${base}/records/${id}/history.json`)).status).toBe(404);
    for (const wrong of ["x", crypto.randomUUID()])
      expect((await app.get(`${base}/records/${wrong}/history.json`)).status).toBe(404);
  });

  test("restores what they see and may change, and nothing that is hidden of it", async () => {
    for (const n of [1, 4]) expect((await restore(base, id, n, seller.token)).status).toBe(404);
    expect((await restore(base, id, 3, guest.token)).status).toBe(403);
    const restored = await restore(base, id, 2, seller.token);
    expect([restored.status, restored.json.data]).toEqual([200, { title: "t2", owner_id: seller.id, stage: "closed" }]);
    expect((await app.get(`${base}/records/${id}.json`)).json.data.secret).toBe("canary-4");
    const narrowed = await app.post("/account/api_tokens.json", { api_token: { privileges: ["prompts"] } });
    expect((await app.get(`${base}/records/${id}/history.json`, { token: narrowed.json.token })).status).toBe(403);
    const databases = { [base.split("/").at(-1) ?? ""]: "read" };
    const readOnly = (await app.post("/account/api_tokens.json", { api_token: { databases } })).json.token;
    expect((await history(base, id, readOnly)).length).toBe(6);
    expect((await restore(base, id, 1, readOnly)).status).toBe(403);
  });

  test("reads that of a deleted record if they could read it last", async () => {
    const mine = await add(base, { title: "m", owner_id: seller.id, stage: "closed", secret: "canary-7" });
    const theirs = await add(base, { title: "canary-8", owner_id: 0, stage: "closed" });
    for (const one of [mine, theirs]) await app.delete(`${base}/records/${one.id}.json`);
    expect(await told(base, mine.id, seller.token)).toEqual([
      [2, "delete", { title: ["m", null], owner_id: [seller.id, null], stage: ["closed", null] }],
      [1, "create", { title: [null, "m"], owner_id: [null, seller.id], stage: [null, "closed"] }],
    ]);
    expect((await app.get(`${base}/records/${theirs.id}/history.json`, { token: seller.token })).status).toBe(404);
    expect((await restore(base, theirs.id, 1, seller.token)).status).toBe(404);
    expect((await restore(base, mine.id, 1, guest.token)).status).toBe(403);
    expect((await restore(base, mine.id, 1, seller.token)).status).toBe(200);
    expect((await app.get(`${base}/records/${mine.id}.json`)).json.data.secret).toBe("canary-7");
  });

  test("no longer reads what was deleted for good", async () => {
    const one = await add(base, { title: "x" });
    await app.delete(`${base}/records/${one.id}.json`);
    expect((await app.delete(`${base}/trash/${one.id}.json`)).status).toBe(204);
    expect((await app.get(`${base}/records/${one.id}/history.json`)).status).toBe(404);
    expect(await app.sql`select from record_history where id = ${one.id}`).toHaveLength(0);
  });
});

test("it is kept as long, and as much of it, as the settings say", async () => {
  const base = await database({ fields: { n: "integer", t: "text" } });
  const { id } = await add(base, { n: 0 });
  await patch(base, id, { n: 1 });
  await app.sql`update record_history set at = now() - interval '366 days' where id = ${id} and n = 1`;
  const large = await add(base, { t: "" });
  for (let n = 0; n < 3; n++) {
    const text = Array.from({ length: 4000 }, () => crypto.randomUUID()).join("");
    await patch(base, large.id, { t: text });
  }
  await app.sql`update record_history set bytes = 15000000 where id = ${large.id} and n in (3, 4)`;
  await app.sql`
    insert into record_history (db_id, id, n, account_id, op, source, table_name, old, patch, bytes, schema_version,
      plan_version, created_at, updated_at)
    select db_id, id, g + 2, account_id, 'update', 'api', '', '{}', '{}', 10, 1, 1, created_at, updated_at
    from record_history h, generate_series(1, 2500) g where h.id = ${id} and n = 2`;
  await app.runSchedule("jsondb.prune");
  const [left] = await app.sql`
    select count(*)::int as n, min(n) as least, max(n) as most from record_history where id = ${id}`;
  expect(left).toEqual({ n: 1000, least: 1503, most: 2502 });
  expect((await history(base, large.id)).map(({ n }: Entry) => n)).toEqual([4]);
});

test("a deleted database keeps it, and takes it along when its time is over", async () => {
  const base = await database();
  const { id } = await add(base, { n: 1 });
  const db = (await app.get(base)).json;
  await app.delete(base);
  expect((await app.get(`${base}/records/${id}/history.json`)).status).toBe(404);
  expect((await app.post(`/core/db_trash/${db.id}/restore.json`)).status).toBe(200);
  expect(await told(base, id)).toEqual([[1, "create", { n: [null, 1] }]]);
  await app.delete(base);
  await app.sql`update db_trash set expires_at = now() - interval '1 second' where id = ${db.id}`;
  await app.runSchedule("jsondb.prune");
  await eventually(async () => (await app.sql`select from record_history where id = ${id}`).length === 0);
});

test.each(["idempotency.committing:kill", "idempotency.committed:kill"])(
  "kill -9 at %s: after the retry there is one entry of the change",
  async (failpoint) => {
    const env = { DATA_DIR: "data", CORE_ADMIN_TOKEN: adminToken, ...(await databaseSettings()) };
    const cwd = folderWith();
    const serve = (armed: string) => startServer(fromSource, { cwd, env: { ...env, CORESTEAD_FAILPOINT: armed } });
    const victim = await serve(failpoint);
    const db = { name: "Orders", code: "orders", schema: { history: true } };
    await victim.request("POST", "/core/dbs.json", { db });
    const { id } = (await victim.request("POST", "/core/dbs/orders/records.json", { record: { data: { n: 1 } } })).json;
    await victim.request("PATCH", `/core/dbs/orders/records/${id}.json`, { record: { data: { n: 2 } } });
    const again = (server: typeof victim) =>
      server.request("POST", `/core/dbs/orders/records/${id}/history/1/restore.json`, undefined, {
        headers: { "idempotency-key": "k" },
      });
    await again(victim).catch(() => undefined);
    expect(await victim.exited).toBe(137);
    const server = await serve("");
    expect((await again(server)).json).toMatchObject({ id, data: { n: 1 } });
    const entries = (await server.request("GET", `/core/dbs/orders/records/${id}/history.json`)).json;
    expect(entries.map(({ n, op }: Entry) => [n, op])).toEqual([
      [3, "restore"],
      [2, "update"],
      [1, "create"],
    ]);
    await server.stop();
  },
);

const someId = "019a9c1e-0000-7000-8000-000000000001";
test.each([
  "x",
  `2026-02-30/${someId}/1`,
  `+275760-09-13T00:00:00.000Z/${someId}/1`,
  `infinity/${someId}/1`,
  `${"9".repeat(17)}/${someId}/1`,
  `1/${someId}/9999999999`,
  "1/none/1",
])("the changes of all records have no page before %s", async (before) => {
  const base = await database();
  const page = (cursor: string) => app.get(`${base}/history.json?${new URLSearchParams({ before: cursor })}`);
  expect((await page(before)).status).toBe(400);
  const latest = await page(`${"9".repeat(16)}/${someId}/1`);
  expect([latest.status, latest.json, latest.headers.get("x-next-cursor")]).toEqual([200, [], null]);
});
