/** Deleted records: who sees them, and how they come back. behaviour B.7. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
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

/** The path of a new database. */
async function database(schema: object | null = null, more: object = {}): Promise<string> {
  const code = `trash-${++made}`;
  const answer = await app.post("/core/dbs.json", { db: { name: code, code, schema, ...more } });
  expect(answer.status).toBe(201);
  return `/core/dbs/${code}`;
}

const add = async (base: string, data: object, more: object = {}) =>
  (await app.post(`${base}/records.json`, { record: { data, ...more } })).json;

/** A record that was made and deleted. */
async function deleted(base: string, data: object, more: object = {}) {
  const record = await add(base, data, more);
  expect((await app.delete(`${base}/records/${record.id}.json`)).status).toBe(204);
  return record;
}

const trash = async (base: string, token?: string) =>
  (await app.get(`${base}/trash.json`, token === undefined ? {} : { token })).json;
const idsIn = async (base: string, token?: string) => (await trash(base, token)).map(({ id }: { id: string }) => id);
const restore = (base: string, id: string, token?: string) =>
  app.post(`${base}/trash/${id}/restore.json`, undefined, token === undefined ? {} : { token });

test("a deleted record is kept with who deleted it, and comes back as it was", async () => {
  const base = await database({ fields: { name: "string", n: "number" }, indexed_fields: ["name", "n"] });
  const record = await add(base, { name: "Ann", n: JSON.rawJSON("12345678901234567890.123"), extra: [1, { a: null }] });
  await app.delete(`${base}/records/${record.id}.json`, { token: seller.token });
  const [kept] = await trash(base);
  expect(kept).toEqual({
    ...record,
    deleted_at: expect.any(String),
    deleted_by_id: seller.id,
    deleted_by_name: expect.any(String),
  });
  const restored = await restore(base, record.id);
  const after = await app.get(`${base}/records/${record.id}.json`);
  expect([restored.status, restored.text]).toEqual([200, after.text]);
  expect(after.text).toContain("12345678901234567890.123");
  expect(restored.json).toEqual({ ...record, updated_at: expect.any(String) });
  expect(restored.json.updated_at > record.updated_at).toBe(true);
  expect(restored.headers.get("etag")).toBe(after.headers.get("etag"));
  expect((await app.get(`${base}/search.json?filter[name]=Ann&filter[n][gt]=1`)).json).toHaveLength(1);
  expect([await trash(base), (await restore(base, record.id)).status]).toEqual([[], 404]);
});

test("every way of deleting leads there", async () => {
  const base = await database(null, { public_methods: { delete: true } });
  const code = base.split("/").at(-1);
  const [batch, open, bulk] = [await add(base, { n: 1 }), await add(base, { n: 2 }), await add(base, { n: 3 })];
  await app.post(`${base}/batch.json`, { operations: [{ op: "delete", id: batch.id }] });
  await app.post(`/core/db/${code}/delete`, { id: open.id }, { token: "" });
  expect((await app.post(`${base}/bulk.json?filter[n]=3`, { op: "delete" })).status).toBe(202);
  await eventually(async () => (await trash(base)).length === 3, "three deleted records");
  expect(await idsIn(base)).toEqual([bulk.id, open.id, batch.id]);
  const by = (await trash(base)).map((one: { deleted_by_id: number | null }) => one.deleted_by_id);
  expect(by).toEqual([1, null, 1]);
});

test("the list has pages, a total, and ends early where records are large", async () => {
  const base = await database();
  const ids: string[] = [];
  for (let n = 0; n < 6; n++) ids.unshift((await deleted(base, { n, text: "x".repeat(1_900_000) })).id);
  const first = await app.get(`${base}/trash.json?limit=2&offset=1`);
  expect([first.headers.get("x-total-count"), first.json.map(({ id }: { id: string }) => id)]).toEqual([
    "6",
    ids.slice(1, 3),
  ]);
  const all = await app.get(`${base}/trash.json?limit=100`);
  expect([all.json.length, all.headers.get("warning")]).toEqual([5, expect.stringContaining("offset=5")]);
  expect((await app.get(`${base}/trash.json?offset=50`)).headers.get("x-total-count")).toBe("6");
});

test("`trash_days` decides, of each table by itself; 0 keeps nothing", async () => {
  const base = await database({ trash_days: 0, tables: { kept: { trash_days: 2 }, gone: {} } });
  const { id } = await deleted(base, { n: 1 }, { table_name: "kept" });
  await deleted(base, { n: 2 }, { table_name: "gone" });
  await deleted(base, { n: 3 });
  expect(await idsIn(base)).toEqual([id]);
  await app.sql`update record_trash set expires_at = now() - interval '1 second' where id = ${id}`;
  expect([await trash(base), (await restore(base, id)).status]).toEqual([[], 404]);
  await app.runSchedule("jsondb.prune");
  expect(await app.sql`select id from record_trash where id = ${id}`).toHaveLength(0);
  const usual = await database();
  const { id: other } = await deleted(usual, {});
  const [row] = await app.sql`
    select expires_at between now() + interval '29 days' and now() + interval '30 days' as is from record_trash
    where id = ${other}`;
  expect(row).toEqual({ is: true });
  await app.patch(usual, { db: { schema: { trash_days: 0, fields: {} } } });
  expect(await idsIn(usual)).toEqual([other]);
});

test("a stricter schema lets it back, in its table, even if the table is gone", async () => {
  const base = await database({ tables: { orders: { fields: { n: "integer" } } } });
  const { id } = await deleted(base, { n: 1 }, { table_name: "orders" });
  const { id: other } = await deleted(base, { n: 2 }, { table_name: "orders" });
  const fields = { n: { type: "string", required: true }, more: { type: "string", required: true } };
  await app.patch(base, { db: { schema: { tables: { orders: { fields } } } } });
  expect((await restore(base, id)).json).toMatchObject({ id, data: { n: 1 }, table_name: "orders" });
  await app.patch(base, { db: { schema: { tables: { lines: {} } } } });
  expect((await restore(base, other)).json).toMatchObject({ id: other, data: { n: 2 }, table_name: "orders" });
});

test("it has its links again, and what links to it can be followed", async () => {
  const people = await database({ fields: { name: "string" } });
  const code = people.split("/").at(-1);
  const orders = await database({ fields: { of: { type: "string", link: code, on_delete: "cascade" } } });
  const ann = await add(people, { name: "Ann" });
  const order = await add(orders, { of: ann.id });
  const count = async () => (await app.get(`${people}/records/${ann.id}/linked.json`)).json[0].count;
  await app.delete(`${people}/records/${ann.id}.json`);
  expect(await idsIn(orders)).toEqual([order.id]);
  await restore(people, ann.id);
  await restore(orders, order.id);
  expect(await count()).toBe(1);
  await app.delete(`${orders}/records/${order.id}.json`);
  expect(await count()).toBe(0);
  await restore(orders, order.id);
  expect(await count()).toBe(1);
});

test("it loses links to records that are gone, which `Warning` says, but none that it needs", async () => {
  const people = await database({ fields: { name: "string", boss: { type: "string", link: `trash-${made + 1}` } } });
  const link = people.split("/").at(-1);
  const orders = await database({
    fields: {
      of: { type: "string", link },
      all: { type: "list", link, required: true },
      secret: { type: "string", link },
    },
  });
  const [ann, bob] = [await add(people, { name: "Ann" }), await add(people, { name: "Bob" })];
  await app.patch(`${people}/records/${ann.id}`, { record: { data: { boss: ann.id } } });
  const order = await add(orders, { of: ann.id, all: [ann.id, bob.id], secret: ann.id });
  const access = [{ to: `user:${seller.id}`, may: "edit", hide: ["secret"] }];
  expect((await app.patch(orders, { db: { access } })).status).toBe(200);
  await app.delete(`${orders}/records/${order.id}`);
  await app.delete(`${people}/records/${ann.id}`);
  const restored = await restore(orders, order.id, seller.token);
  expect([restored.status, restored.json.data]).toEqual([200, { of: null, all: [bob.id] }]);
  const gone = `${ann.id} is not the id of a record of ${link} any more, the link was cleared`;
  expect(restored.headers.get("warning")).toBe(`299 - "of: ${gone}", 299 - "all: ${gone}"`);
  await app.delete(`${orders}/records/${order.id}`);
  await app.delete(`${people}/records/${bob.id}`);
  const refused = await restore(orders, order.id);
  expect([refused.status, refused.json]).toEqual([422, { all: [`${bob.id} is not the id of a record of ${link}`] }]);
  expect((await restore(people, ann.id)).json.data.boss).toBe(ann.id);
});

test("a value that another record has taken refuses it by name", async () => {
  const base = await database({ fields: { mail: { type: "string", unique: true } } });
  const { id } = await deleted(base, { mail: "a@example.com" });
  const other = await add(base, { mail: "a@example.com" });
  const refused = await restore(base, id);
  expect([refused.status, refused.json]).toEqual([422, { mail: ["is already taken"] }]);
  await app.delete(`${base}/records/${other.id}.json`);
  expect((await restore(base, id)).status).toBe(200);
  const again = await app.post(`${base}/records.json`, { record: { data: { mail: "a@example.com" } } });
  expect(again.status).toBe(422);
});

test("it follows renamed fields, so that what is hidden stays so", async () => {
  const base = await database({ fields: { a: "string", secret: "string" } });
  const { id } = await deleted(base, { a: "1", secret: "canary-32" });
  const schema = { fields: { b: "string", margin: "string" } };
  expect((await app.patch(base, { db: { schema }, rename: { a: "b", secret: "margin" } })).status).toBe(200);
  const access = [{ to: "everyone", may: "edit", hide: ["margin"] }];
  expect((await app.patch(base, { db: { access } })).status).toBe(200);
  expect((await trash(base, seller.token))[0].data).toEqual({ b: "1" });
  expect((await trash(base))[0].data).toEqual({ b: "1", margin: "canary-32" });
  expect((await restore(base, id, seller.token)).json.data).toEqual({ b: "1" });
});

test("it is listed and comes back while a rename is under way", async () => {
  const base = await database({ fields: { mail: "string" } });
  const { id } = await deleted(base, { mail: "a", 'quoted "one"': 1 });
  const renames = [{ plan: 2, table: "", from: "mail", to: "email" }];
  const [db] = await app.sql`
    update dbs set renames = ${JSON.stringify(renames)}::text::jsonb, plan_version = 2 where code = ${base.slice(10)}
    returning id`;
  // By its id it is not in a cache yet.
  const byId = `/core/dbs/${db?.["id"]}`;
  const listed = await app.get(`${byId}/trash`);
  expect([listed.status, listed.json[0]?.data]).toEqual([200, { email: "a", 'quoted "one"': 1 }]);
  expect((await app.post(`${byId}/trash/${id}/restore`)).json.data).toEqual({ email: "a", 'quoted "one"': 1 });
});

test("followers, webhooks and the log of activity hear of the record again", async () => {
  const base = await database();
  const code = base.split("/").at(-1);
  await app.patch("/account/settings.json", { settings: { activity_databases: code } });
  const hook = app.receiver();
  const webhook = { source_type: "Core::Record", kind: "create", url: hook.url, filters: { db_code: code } };
  const { id } = await deleted(base, { n: 7 });
  expect((await app.post("/account/webhooks.json", { webhook })).status).toBe(201);
  await restore(base, id, seller.token);
  await eventually(() => hook.requests.length > 0, "the event");
  expect(JSON.parse(hook.requests[0]?.body ?? "{}")).toMatchObject({ id, n: 7, db_code: code });
  const log = await app.get(`/core/activity.json?model=Core::Record&record_id=${id}`);
  expect(log.json.map(({ action }: { action: string }) => action)).toEqual(["create", "delete", "create"]);
  expect(log.json[0]).toMatchObject({ user_id: seller.id, changes: { n: { new: 7 } } });
});

describe("who", () => {
  let base: string;
  let ids: Record<"own" | "open" | "closed", string>;
  beforeAll(async () => {
    const fields = { title: "string", owner_id: "integer", stage: "string", secret: "string" };
    base = await database({ fields, indexed_fields: ["stage", "owner_id"] });
    const access = [
      { to: `user:${seller.id}`, may: "edit", where: { owner_id: "{user_id}" }, hide: ["secret"] },
      { to: "everyone", may: "read", where: { stage: "open" }, hide: ["secret", "owner_id"] },
    ];
    expect((await app.patch(base, { db: { access } })).status).toBe(200);
    const deal = async (owner_id: number, stage: string) =>
      (await deleted(base, { title: "t", owner_id, stage, secret: "canary-31" })).id;
    ids = { own: await deal(seller.id, "closed"), open: await deal(0, "open"), closed: await deal(0, "closed") };
  });

  test("sees what they could read, without what is hidden of it", async () => {
    expect(await idsIn(base)).toEqual([ids.closed, ids.open, ids.own]);
    const sellers = await app.get(`${base}/trash.json`, { token: seller.token });
    expect([sellers.json.length, sellers.headers.get("x-total-count")]).toEqual([2, "2"]);
    expect(sellers.json[0].data).toEqual({ title: "t", stage: "open" });
    expect(sellers.json[1].data).toEqual({ title: "t", stage: "closed", owner_id: seller.id });
    expect(sellers.text).not.toContain("canary");
    expect(await idsIn(base, guest.token)).toEqual([ids.open]);
  });

  test("restores what they could change: 404 unseen, 403 only read", async () => {
    const asked = async (id: string, token: string) => (await restore(base, id, token)).status;
    expect(await asked(ids.closed, seller.token)).toBe(404);
    expect(await asked(ids.open, seller.token)).toBe(403);
    expect(await asked(ids.open, guest.token)).toBe(403);
    expect((await trash(base)).length).toBe(3);
    const own = await restore(base, ids.own, seller.token);
    expect([own.status, own.json.data]).toEqual([200, { title: "t", stage: "closed", owner_id: seller.id }]);
    expect((await app.get(`${base}/records/${ids.own}.json`)).json.data.secret).toBe("canary-31");
  });

  test("deletes for good with `manage` alone", async () => {
    const asked = async (token?: string) =>
      (await app.delete(`${base}/trash/${ids.open}.json`, token === undefined ? {} : { token })).status;
    expect([await asked(seller.token), await asked(guest.token)]).toEqual([403, 403]);
    expect([await asked(), await asked()]).toEqual([204, 404]);
    expect((await restore(base, ids.open)).status).toBe(404);
    const other = await otherAccount(app);
    expect((await other.get(`${base}/trash.json`)).status).toBe(404);
    expect((await other.post(`${base}/trash/${ids.closed}/restore.json`)).status).toBe(404);
    const stranger = await app.post("/core/dbs.json", { db: { name: "Stranger" } });
    expect((await restore(`/core/dbs/${stranger.json.id}`, ids.closed)).status).toBe(404);
    for (const id of ["x", "1", "%00"]) expect((await restore(base, id)).status).toBe(404);
  });
});

test("of restores at once one succeeds, and there is one record", async () => {
  const base = await database();
  const { id } = await deleted(base, { n: 1 });
  const all = await Promise.all(Array.from({ length: 6 }, () => restore(base, id)));
  expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404, 404, 404, 404, 404]);
  expect((await app.get(`${base}/records.json`)).json).toHaveLength(1);
});

describe("a deleted database", () => {
  const list = async (token?: string) => (await app.get("/core/db_trash.json?limit=100", token ? { token } : {})).json;
  const codes = async (token?: string) => (await list(token)).map(({ code }: { code: string }) => code);
  const back = (id: string, token?: string) =>
    app.post(`/core/db_trash/${id}/restore.json`, undefined, token ? { token } : {});
  const gone = async (base: string, token?: string) => {
    const { json } = await app.get(base);
    expect((await app.delete(base, token ? { token } : {})).status).toBe(204);
    return json;
  };

  test("is not there, and comes back with its records, links, keys, views and trash", async () => {
    const schema = { fields: { z: { type: "string", unique: true }, a: "integer" }, indexed_fields: ["a"] };
    const base = await database(schema, { public_methods: { list: true } });
    const record = await add(base, { z: "1", a: 7 });
    const other = await deleted(base, { z: "2", a: 8 });
    await app.post(`${base}/views.json`, { view: { name: "Mine" } });
    const db = await gone(base);
    for (const path of ["", `/records/${record.id}`, "/trash.json", "/search.json"])
      expect([path, (await app.get(`${base}${path}`)).status]).toEqual([path, 404]);
    expect((await app.get(`/core/db/${db.code}/list`, { token: "" })).status).toBe(404);
    expect((await app.post(`${base}/records.json`, { record: { data: {} } })).status).toBe(404);
    expect((await list())[0]).toEqual({
      id: db.id,
      code: db.code,
      name: db.name,
      deleted_at: expect.any(String),
      deleted_by_id: 1,
      deleted_by_name: expect.any(String),
    });
    const restored = await back(db.id);
    expect([restored.status, restored.json]).toEqual([
      200,
      { ...db, updated_by_id: 1, updated_at: expect.any(String) },
    ]);
    expect(JSON.stringify(restored.json.schema)).toBe(JSON.stringify(schema));
    expect((await app.get(`${base}/search.json?filter[a]=7`)).json).toHaveLength(1);
    expect((await app.post(`${base}/records.json`, { record: { data: { z: "1" } } })).status).toBe(422);
    expect((await app.get(`${base}/views.json`)).json).toHaveLength(1);
    expect(await idsIn(base)).toEqual([other.id]);
    expect((await add(base, { z: "3" })).id).toEqual(expect.any(String));
    expect([await codes(), (await back(db.id)).status]).toEqual([expect.not.arrayContaining([db.code]), 404]);
  });

  test("gets a number where its code was taken, and comes back once", async () => {
    const base = await database();
    const { id, code } = await gone(base);
    await app.post("/core/dbs.json", { db: { name: code, code } });
    await app.post("/core/dbs.json", { db: { name: code, code: `${code}-2` } });
    const all = await Promise.all([1, 2, 3, 4].map(() => back(id)));
    expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404, 404, 404]);
    expect(all.find(({ status }) => status === 200)?.json.code).toBe(`${code}-3`);
  });

  test("is listed for and restored by who may manage it, or deleted it", async () => {
    const [boss, reader] = [await person(app, { role: "user" }), await person(app, { role: "user" })];
    const grant = (one: TestPerson, may: string) => ({ to: `user:${one.id}`, may });
    const base = await database(null, { access: [grant(boss, "manage"), grant(reader, "read")] });
    const { id, code } = await gone(base, boss.token);
    await app.sql`update db_trash set deleted_by_id = null where id = ${id}`;
    expect(await codes(reader.token)).not.toContain(code);
    expect([(await back(id, reader.token)).status, (await back(id, guest.token)).status]).toEqual([404, 404]);
    const other = await otherAccount(app);
    expect((await other.get("/core/db_trash.json")).json).toEqual([]);
    expect((await other.post(`/core/db_trash/${id}/restore.json`)).status).toBe(404);
    expect(await codes(boss.token)).toContain(code);
    await app.sql`update db_trash set deleted_by_id = ${reader.id} where id = ${id}`;
    expect(await codes(reader.token)).toContain(code);
    expect((await back(id, boss.token)).status).toBe(200);
    for (const wrong of ["x", crypto.randomUUID()]) expect((await back(wrong)).status).toBe(404);
  });

  test("opens to a guest with `manage`, and to one who deleted it, but not to a token without `dbs`", async () => {
    const access = [guest, seller].map(({ id }) => ({ to: `user:${id}`, may: "manage" }));
    const base = await database(null, { access });
    const { id, code } = await gone(base, guest.token);
    expect(await codes(guest.token)).toEqual([code]);
    const narrowed = { api_token: { privileges: ["prompts"] } };
    const { token } = (await app.post("/account/api_tokens.json", narrowed, { token: seller.token })).json;
    expect(await codes(seller.token)).toEqual([code]);
    expect((await app.get("/core/db_trash.json", { token })).status).toBe(403);
    expect((await back(id, token)).status).toBe(403);
    const restored = await back(id, guest.token);
    expect([restored.status, restored.json.access]).toEqual([200, access]);
    await gone(base, guest.token);
    await app.sql`update db_trash set db = jsonb_set(db::jsonb, '{access}', '[]') where id = ${id}`;
    expect(await codes(guest.token)).toEqual([code]);
    await app.sql`update db_trash set deleted_by_id = null where id = ${id}`;
    expect([await codes(guest.token), (await back(id, guest.token)).status]).toEqual([[], 404]);
  });

  test("is gone with all that was in it after 30 days", async () => {
    const base = await database();
    const record = await add(base, {});
    const other = await deleted(base, {});
    const { id } = await gone(base);
    const left = async () =>
      (
        await app.sql`select id from records where id = ${record.id} union all select id from record_trash where id = ${other.id}`
      ).length;
    await app.runSchedule("jsondb.prune");
    expect(await left()).toBe(2);
    await app.sql`update db_trash set expires_at = now() - interval '1 second' where id = ${id}`;
    expect((await back(id)).status).toBe(404);
    await app.runSchedule("jsondb.prune");
    await eventually(async () => (await left()) === 0, "nothing left");
  });
});

test.each(["idempotency.committing:kill", "idempotency.committed:kill"])(
  "kill -9 at %s: after the retry the record is there once, and no longer in the trash",
  async (failpoint) => {
    const env = { DATA_DIR: "data", CORE_ADMIN_TOKEN: adminToken, ...(await databaseSettings()) };
    const cwd = folderWith();
    const serve = (armed: string) => startServer(fromSource, { cwd, env: { ...env, CORESTEAD_FAILPOINT: armed } });
    const victim = await serve(failpoint);
    await victim.request("POST", "/core/dbs.json", { db: { name: "Orders", code: "orders" } });
    const record = { data: { n: 1 } };
    const { id } = (await victim.request("POST", "/core/dbs/orders/records.json", { record })).json;
    await victim.request("DELETE", `/core/dbs/orders/records/${id}.json`);
    const again = (server: typeof victim) =>
      server.request("POST", `/core/dbs/orders/trash/${id}/restore.json`, undefined, {
        headers: { "idempotency-key": "k" },
      });
    await again(victim).catch(() => undefined);
    expect(await victim.exited).toBe(137);
    const server = await serve("");
    expect((await again(server)).json).toMatchObject({ id, data: { n: 1 } });
    expect((await server.request("GET", "/core/dbs/orders/records.json")).json).toHaveLength(1);
    expect((await server.request("GET", "/core/dbs/orders/trash.json")).json).toEqual([]);
    await server.stop();
  },
);
