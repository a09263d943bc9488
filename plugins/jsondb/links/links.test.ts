/** Links between records: what may be named, what is shown at their ends, and what a deletion does. behaviour B.7. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually, person, startTestApp, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
let ids: { acme: string; beta: string; ann: string; bob: string; order: string };

beforeAll(async () => {
  app = await startTestApp({ env: { OUTBOUND_ALLOW: "127.0.0.1" } });
  const db = async (code: string, fields: object, more: object = {}) => {
    const made = await app.post("/core/dbs", { db: { name: code, code, schema: { fields }, ...more } });
    expect([made.status, made.text]).toEqual([201, expect.any(String)]);
  };
  await db("companies", {
    name: "string",
    parent: { type: "string", link: "companies" },
    owner: { type: "string", link: "people" },
  });
  await db("people", { name: "string", company: { type: "string", link: "companies" }, secret: "string" });
  await db("orders", {
    no: "integer",
    customer: { type: "string", link: "people" },
    watchers: { type: "list", link: "people" },
  });
  const acme = await add("companies", { name: "Acme" });
  const beta = await add("companies", { name: "Beta", parent: acme });
  const ann = await add("people", { name: "Ann", company: acme, secret: "canary" });
  const bob = await add("people", { name: "Bob", company: beta });
  await app.patch(`/core/dbs/companies/records/${acme}`, { record: { data: { owner: bob } } });
  const order = await add("orders", { no: 1, customer: ann, watchers: [bob, ann] });
  ids = { acme, beta, ann, bob, order };
});
afterAll(() => app.stop());

const send = (db: string, data: object) => app.post(`/core/dbs/${db}/records`, { record: { data } });
const add = async (db: string, data: object): Promise<string> => {
  const { status, json } = await send(db, data);
  expect([status, json]).toEqual([201, expect.anything()]);
  return json.id;
};
const get = async (db: string, id: string, query = "") => (await app.get(`/core/dbs/${db}/records/${id}${query}`)).json;
// Read as an outside client does: the assertion is the check.
// oxlint-disable-next-line typescript/no-explicit-any
type Linked = any;
const linked = async (db: string, id: string, token?: string): Promise<Record<string, Linked>> => {
  const { json } = await app.get(`/core/dbs/${db}/records/${id}/linked.json`, token ? { token } : {});
  return Object.fromEntries(json.map((one: Linked) => [`${one.db_code}.${one.field}`, one]));
};

describe("a write", () => {
  test("names a record that there is, in the right database, by every way in", async () => {
    const stranger = crypto.randomUUID();
    const fault = { customer: [`${stranger} is not the id of a record of people`] };
    expect((await send("orders", { customer: stranger })).json).toEqual(fault);
    expect((await send("orders", { customer: ids.acme })).status).toBe(422);
    expect((await send("orders", { customer: "x" })).json).toEqual({
      customer: ["must be the id of a record of people"],
    });
    expect((await send("orders", { watchers: [ids.bob, stranger] })).status).toBe(422);
    expect(
      (await app.patch(`/core/dbs/orders/records/${ids.order}`, { record: { data: { customer: stranger } } })).json,
    ).toEqual(fault);
    const batch = await app.post("/core/dbs/orders/batch", {
      operations: [{ op: "create", data: { customer: stranger } }],
    });
    expect(batch.json).toEqual({ "operations[0].data.customer": fault.customer });
    const imported = await app.request("POST", "/core/dbs/orders/import", undefined, {
      raw: `customer\n${ids.ann}\n${stranger}\n`,
      headers: { "content-type": "text/csv" },
    });
    expect(imported.status).toBe(422);
    expect((await app.get("/core/dbs/orders/records")).json).toHaveLength(1);
  });

  test("is refused alone among those that come at once, with its unique value free again", async () => {
    const fields = { no: { type: "integer", unique: true }, customer: { type: "string", link: "people" } };
    expect((await app.post("/core/dbs", { db: { name: "Busy", code: "busy", schema: { fields } } })).status).toBe(201);
    const eve = await add("people", { name: "Eve" });
    const all = Array.from({ length: 40 }, (_, no) => ({ no, customer: no % 10 === 3 ? crypto.randomUUID() : eve }));
    const answers = await Promise.all(all.map((data) => send("busy", data)));
    expect(answers.map(({ status }) => status)).toEqual(all.map(({ no }) => (no % 10 === 3 ? 422 : 201)));
    expect((await linked("people", eve))["busy.customer"].count).toBe(36);
    expect((await send("busy", { no: 3, customer: eve })).status).toBe(201);
    expect((await send("busy", { no: 4, customer: eve })).json).toEqual({ no: ["is already taken"] });
    expect((await linked("people", eve))["busy.customer"].count).toBe(37);
  });

  test("that takes a link away takes it from the other end", async () => {
    const order = await add("orders", { customer: ids.bob, watchers: [ids.bob] });
    expect((await linked("people", ids.bob))["orders.customer"]).toMatchObject({ count: 1 });
    await app.patch(`/core/dbs/orders/records/${order}`, { record: { data: { customer: ids.ann, watchers: [] } } });
    expect((await linked("people", ids.bob))["orders.customer"]).toMatchObject({ count: 0, records: [] });
    expect((await linked("people", ids.ann))["orders.customer"]).toMatchObject({ count: 2 });
    await app.delete(`/core/dbs/orders/records/${order}`);
    expect((await linked("people", ids.ann))["orders.customer"]).toMatchObject({ count: 1 });
  });

  test("of a field that becomes a link keeps what it has, and the other end learns of it", async () => {
    await app.post("/core/dbs", { db: { name: "Later", code: "later", schema: { fields: { of: "string" } } } });
    await add("later", { of: ids.acme });
    await app.patch("/core/dbs/later", { db: { schema: { fields: { of: { type: "string", link: "companies" } } } } });
    await eventually(async () => (await linked("companies", ids.acme))["later.of"]?.count === 1);
  });
});

describe("the ends", () => {
  test("are shown beside records, three deep, in lists and searches too", async () => {
    const paths = "customer,customer.company,customer.company.owner,watchers,watchers.company";
    const one = await get("orders", ids.order, `?expand=${paths}`);
    expect(one.expand).toMatchObject({
      customer: { id: ids.ann, name: "Ann" },
      "customer.company": { id: ids.acme, name: "Acme" },
      "customer.company.owner": { name: "Bob" },
      watchers: [{ name: "Bob" }, { name: "Ann" }],
      "watchers.company": [{ name: "Beta" }, { name: "Acme" }],
    });
    const [listed] = (await app.get("/core/dbs/orders/records?expand=customer")).json;
    expect([listed.data.no, listed.expand.customer.name]).toEqual([1, "Ann"]);
    const [found] = (await app.get("/core/dbs/orders/search?expand=customer&filter[no]=1")).json;
    expect([found.no, found.expand.customer.name]).toEqual([1, "Ann"]);
    expect((await get("companies", ids.acme, "?expand=parent,parent.parent")).expand).toEqual({
      parent: null,
      "parent.parent": null,
    });
  });

  test.each([
    ["no", 400, "`expand`: no is not a link of this database"],
    ["customer.name", 400, "`expand`: name is not a link of this database"],
    ["customer.company.owner.company", 400, "more than 3 deep"],
    [Array.from({ length: 11 }, (_, n) => `a${n}`).join(","), 400, "at most 10 paths"],
  ])("%s is refused", async (expand, status, error) => {
    const answer = await app.get(`/core/dbs/orders/records/${ids.order}?expand=${expand}`);
    expect([answer.status, answer.json.error]).toEqual([status, expect.stringContaining(error)]);
  });

  test("are closed to whom they are closed", async () => {
    const reader = await person(app, { role: "user" });
    const grant = (access: unknown) => app.patch("/core/dbs/people", { db: { access } });
    await grant([{ to: `user:${reader.id}`, may: "read", where: { name: "Bob" }, hide: ["secret"] }]);
    const shown = await app.get(
      `/core/dbs/orders/records/${ids.order}?expand=customer,watchers,customer.company`,
      reader,
    );
    expect(shown.json.expand).toMatchObject({
      customer: null,
      watchers: [{ name: "Bob" }, null],
      "customer.company": null,
    });
    expect(shown.text).not.toContain("canary");
    const write = (customer: string) =>
      app.patch(`/core/dbs/orders/records/${ids.order}`, { record: { data: { customer } } }, reader);
    const own = await write(ids.bob);
    expect(own.status).toBe(200);
    expect((await write(ids.ann)).json).toEqual({ customer: [`${ids.ann} is not the id of a record of people`] });
    expect(await linked("companies", ids.acme, reader.token)).toMatchObject({
      "people.company": { count: 0, records: [] },
    });
    expect(await linked("companies", ids.beta, reader.token)).toMatchObject({ "people.company": { count: 1 } });
    await grant([]);
    expect(Object.keys(await linked("companies", ids.beta, reader.token))).not.toContain("people.company");
    await grant(null);
    await app.patch(`/core/dbs/orders/records/${ids.order}`, { record: { data: { customer: ids.ann } } });
  });
});

describe("a page", () => {
  test("shows at the ends of its links what each of its records shows alone", async () => {
    const odd = { id: "own", created_at: 1, secret: "canary", note: '\u00e9\u2028"\\' };
    const ends = [
      await add("people", { name: "Bob", ...odd }),
      await add("people", { name: "Bob", note: Array.from({ length: 900 }, (_, n) => n * 7919).join(" ") }),
      await add("people", { name: "Eve", exact: 12345678901234567890n.toString() }),
      await add("people", {}),
    ];
    await app.post("/core/dbs", { db: { name: "Notes", code: "notes", schema: { fields: { other: "string" } } } });
    for (const of of [...ends, ids.acme, crypto.randomUUID(), "x", "", null, 5, [ends[0], "x"], [], { a: 1 }])
      await add("notes", { of, n: 0.1 });
    await add("notes", {});
    const of = { type: "string", link: "people" };
    await app.patch("/core/dbs/notes", { db: { schema: { fields: { of, other: of } } } });
    await add("notes", { of: ends[0]?.toUpperCase(), other: ends[2] });
    const reader = await person(app, { role: "user" });
    const grants = (...all: object[]) =>
      app.patch("/core/dbs/people", {
        db: { access: all.map((one) => ({ to: `user:${reader.id}`, may: "read", ...one })) },
      });
    const isSame = async (options: object) => {
      for (const paths of ["of", "of,other"]) {
        const page = async (query: string) =>
          (await app.get(`/core/dbs/notes/records?expand=${paths}&${query}`, options)).json;
        const all = await page("limit=100");
        expect(all).toHaveLength(15);
        for (const [at, record] of all.entries()) {
          const alone = await app.get(`/core/dbs/notes/records/${record.id}?expand=${paths}`, options);
          expect(record).toEqual(alone.json);
          // A page without lists and large records is read in one statement.
          expect(await page(`limit=1&offset=${at}`)).toEqual([record]);
        }
      }
    };
    await isSame({});
    await grants({ where: { name: "Bob" }, hide: ["secret"] });
    await isSame(reader);
    await grants({ where: { name: "Eve" } }, { where: { name: { in: ["Bob", "Eve"] } }, hide: ["secret"] });
    await isSame(reader);
    await app.patch("/core/dbs/people", { db: { access: null } });
  });
});

describe("what is found and reckoned by links", () => {
  beforeAll(async () => {
    const db = (code: string, fields: object, tables?: object) =>
      app.post("/core/dbs", { db: { name: code, code, schema: tables ? { tables } : { fields } } });
    const link = { type: "string", link: "shops" };
    const rollup = (op: string, field?: string) => ({ of: "sales.shop", op, ...(field && { field }) });
    await db("shops", {
      name: "string",
      country: "string",
      visits: "integer",
      sales: { type: "integer", rollup: rollup("count") },
      total: { type: "number", rollup: rollup("sum", "amount") },
      best: { type: "number", rollup: rollup("max", "amount") },
      last: { type: "datetime", rollup: rollup("max", "at") },
    });
    await db("sales", { shop: link, others: { type: "list", link: "shops" }, amount: "number", at: "datetime" });
    const pl = await add("shops", { name: "Łódź", country: "PL", visits: 5 });
    const de = await add("shops", { name: "Bonn", country: "DE", visits: 50 });
    await add("shops", { name: "Empty", country: "DE" });
    await add("sales", { shop: pl, amount: 10.1, at: "2026-01-01T10:00:00Z", others: [de] });
    await add("sales", { shop: pl, amount: 20.2, at: "2026-02-01T10:00:00Z" });
    await add("sales", { shop: de, amount: 1, at: "2026-03-01T10:00:00Z", others: [pl, de] });
  });
  const amounts = async (query: string, options = {}) =>
    (await app.get(`/core/dbs/sales/search?${query}&sort=amount`, options)).json.map((one: Linked) => one.amount);

  test("a field that there is not at the other end of a filter is named", async () => {
    const warning = async (filter: string) =>
      (await app.get(`/core/dbs/orders/search?filter[${filter}]=x`)).headers.get("warning");
    expect(await warning("customer.nme")).toContain("at the end of customer: the schema has no field");
    expect(await warning("customer.company.name")).toContain("company.name");
    expect(await warning("customer.name")).toBeNull();
  });

  test("filters go one link deep", async () => {
    expect(await amounts("filter[shop.country]=PL")).toEqual([10.1, 20.2]);
    expect(await amounts("filter[shop.visits][gt]=10")).toEqual([1]);
    expect(await amounts("filter[shop.country]=PL&filter[amount][gt]=15")).toEqual([20.2]);
    expect(await amounts("filter[shop.country]=PL&filter[shop.visits][lt]=5")).toEqual([]);
    expect(await amounts("filter[others.country]=DE")).toEqual([1, 10.1]);
    expect((await app.get("/core/dbs/sales/records?filter[shop.country]=PL")).json).toHaveLength(2);
    expect((await app.get("/core/dbs/sales/aggregate?filter[shop.country]=PL&sum=amount")).json).toMatchObject([
      { sum: { amount: 30.3 } },
    ]);
    expect((await app.get("/core/dbs/sales/export?format=json&filter[shop.country]=DE")).json).toHaveLength(1);
    expect((await app.get("/core/dbs/sales/search?filter[shop.visits][gt]=x")).status).toBe(400);
    expect((await app.get("/core/dbs/sales/search?any[0][shop.country]=PL")).status).toBe(400);
    const task = await app.post("/core/dbs/sales/bulk?filter[shop.country]=DE", { op: "update", data: { amount: 2 } });
    await eventually(async () => (await app.get(`/core/dbs/sales/tasks/${task.json.id}`)).json.status === "finished");
    expect(await amounts("filter[amount]=2")).toEqual([2]);
  });

  test("a misspelt field at the other end changes no records, and is named everywhere else", async () => {
    const wrong = "filter[customer.nmae][ne]=x";
    const bulk = await app.post(`/core/dbs/orders/bulk.json?${wrong}`, { op: "update", data: { no: 9 } });
    expect([bulk.status, bulk.json.error]).toEqual([400, expect.stringContaining("nmae")]);
    for (const path of ["search", "aggregate", "export"]) {
      const { status, headers } = await app.get(`/core/dbs/orders/${path}?${wrong}`);
      expect([path, status, headers.get("warning")]).toEqual([path, 200, expect.stringContaining("nmae")]);
    }
  });

  test("rollups are worked out over what the reader may see", async () => {
    const [bonn, empty, lodz] = (await app.get("/core/dbs/shops/search?sort=name")).json;
    expect(lodz).toMatchObject({ sales: 2, total: 30.3, best: 20.2, last: "2026-02-01T10:00:00.000Z" });
    expect(bonn).toMatchObject({ sales: 1, total: 2 });
    expect(empty).toMatchObject({ sales: 0, total: 0, best: null, last: null });
    expect((await get("shops", lodz.id)).data).toMatchObject({ sales: 2, total: 30.3, visits: 5 });
    const path = `/core/dbs/shops/records/${lodz.id}`;
    const patched = await app.patch(path, { record: { data: { visits: 5, sales: 9 } } });
    expect(patched.json.data).toMatchObject({ sales: 2, total: 30.3, visits: 5 });
    expect((await app.get(path)).headers.get("etag")).toBe(patched.headers.get("etag"));
    const headers = { "if-match": patched.headers.get("etag") ?? "" };
    expect((await app.patch(path, { record: { data: { visits: 5 } } }, { headers })).status).toBe(200);
    const posted = await send("shops", { name: "New", country: "FR" });
    expect([posted.status, posted.json.data]).toMatchObject([201, { sales: 0, total: 0, best: null }]);
    expect((await app.get("/core/dbs/shops/search?filter[sales]=2")).status).toBe(400);
    expect((await app.get("/core/dbs/shops/search?sort=-total")).status).toBe(400);
    for (const asked of ["sales/search?filter[shop.sales]=2", "shops/aggregate?sum=total", "shops/export?sort=-total"])
      expect([asked, (await app.get(`/core/dbs/${asked}`)).status]).toEqual([asked, 400]);
    const [head] = (await app.get("/core/dbs/shops/export?format=csv")).text.split("\r\n");
    expect(head).not.toContain("total");
    const reader = await person(app, { role: "user" });
    const grant = (more: object) =>
      app.patch("/core/dbs/sales", { db: { access: [{ to: `user:${reader.id}`, may: "read", ...more }] } });
    await grant({ where: { amount: { gt: 15 } } });
    const shown = async () => (await app.get(`/core/dbs/shops/records/${lodz.id}`, reader)).json.data;
    expect(await shown()).toMatchObject({ sales: 1, total: 20.2 });
    expect(await amounts("filter[shop.country]=PL", reader)).toEqual([20.2]);
    await grant({ hide: ["amount"] });
    expect(await shown()).toMatchObject({ sales: 2, total: null, best: null });
    await app.patch("/core/dbs/sales", { db: { access: [] } });
    expect(await shown()).toMatchObject({ sales: null, total: null });
    await app.patch("/core/dbs/sales", { db: { access: null } });
    await app.patch("/core/dbs/shops", {
      db: { access: [{ to: `user:${reader.id}`, may: "read", where: { country: "DE" }, hide: ["visits"] }] },
    });
    expect(await amounts("filter[shop.country]=PL", reader)).toEqual([]);
    expect(await amounts("filter[shop.visits][gt]=1", reader)).toEqual([]);
    await app.patch("/core/dbs/shops", { db: { access: null } });
  });
});

describe("a deletion", () => {
  const people = async () => Promise.all(["A", "B"].map((name) => add("people", { name })));
  const linkedDb = async (code: string, on_delete: string, more: object = {}) => {
    const fields = {
      n: "integer",
      to: { type: "string", link: "people", on_delete, ...more },
      all: { type: "list", link: "people" },
    };
    await app.post("/core/dbs", { db: { name: code, code, schema: { fields } } });
  };
  const drop = (id: string) => app.delete(`/core/dbs/people/records/${id}`);

  test("clears the links to it, with an event each", async () => {
    await linkedDb("clearing", "clear");
    const [a = "", b = ""] = await people();
    const id = await add("clearing", { n: 1, to: a, all: [a, b] });
    const receiver = app.receiver();
    const hook = { source_type: "Core::Record", kind: "update", url: receiver.url, filter: { db_code: "clearing" } };
    await app.post("/account/webhooks", { webhook: hook });
    expect((await drop(a)).status).toBe(204);
    expect((await get("clearing", id)).data).toEqual({ n: 1, to: null, all: [b] });
    await eventually(() => receiver.requests.length >= 1);

    expect((await linked("people", b))["clearing.all"]).toMatchObject({ count: 1 });
  });

  test("is refused where a link holds it, and says by whom", async () => {
    await linkedDb("holding", "restrict");
    const [a = ""] = await people();
    const id = await add("holding", { to: a });
    const refused = await drop(a);
    expect([refused.status, refused.json]).toEqual([409, { error: expect.any(String), records: [id], count: 1 }]);
    const reader = await person(app, { role: "user" });
    await app.patch("/core/dbs/holding", { db: { access: [] } });
    expect((await app.delete(`/core/dbs/people/records/${a}`, reader)).json).toMatchObject({ records: [], count: 1 });
    await app.patch("/core/dbs/holding", { db: { access: null } });
    await app.delete(`/core/dbs/holding/records/${id}`);
    expect((await drop(a)).status).toBe(204);
  });

  test("is held or followed only by who may edit all of the target", async () => {
    const reader = await person(app, { role: "user" });
    const declare = (on_delete: string, link = "guarded") => {
      const schema = { fields: { to: { type: "string", link, on_delete } } };
      return app.post("/core/dbs", { db: { name: "By reader", schema } }, reader);
    };
    await app.post("/core/dbs", { db: { name: "Guarded", code: "guarded" } });
    const grant = (more: object) =>
      app.patch("/core/dbs/guarded", { db: { access: [{ to: `user:${reader.id}`, ...more }] } });
    for (const [more, status] of [
      [{ may: "read" }, 403],
      [{ may: "edit", where: { a: 1 } }, 403],
      [{ may: "edit" }, 201],
    ] as const) {
      await grant(more);
      expect([(await declare("restrict")).status, (await declare("cascade")).status]).toEqual([status, status]);
      expect((await declare("clear")).status).toBe(201);
    }
    const later = await declare("restrict", "nowhere");
    expect([later.status, later.json.error]).toEqual([403, expect.stringContaining("`on_delete` of to")]);
    const own = await declare("restrict");
    await grant({ may: "read" });
    expect((await app.patch(`/core/dbs/${own.json.id}`, { db: { name: "Kept" } }, reader)).status).toBe(200);
    const { schema } = own.json;
    expect((await app.patch(`/core/dbs/${own.json.id}`, { db: { schema } }, reader)).status).toBe(200);
  });

  test("takes along what goes with it, and ends in a circle", async () => {
    const fields = { up: { type: "string", link: "tree", on_delete: "cascade" }, n: "integer" };
    await app.post("/core/dbs", { db: { name: "Tree", code: "tree", schema: { fields } } });
    const root = await add("tree", { n: 0 });
    const child = await add("tree", { n: 1, up: root });
    const leaf = await add("tree", { n: 2, up: child });
    const other = await add("tree", { n: 3 });
    await app.patch(`/core/dbs/tree/records/${root}`, { record: { data: { up: leaf } } });
    expect((await app.delete(`/core/dbs/tree/records/${root}`)).status).toBe(204);
    expect((await app.get("/core/dbs/tree/records")).json.map(({ id }: { id: string }) => id)).toEqual([other]);
    const self = await add("tree", { n: 4 });
    await app.patch(`/core/dbs/tree/records/${self}`, { record: { data: { up: self } } });
    expect((await app.delete(`/core/dbs/tree/records/${self}`)).status).toBe(204);
    const left =
      await app.sql`select from record_links l where not exists (select from records r where r.id = l.record_id)`;
    expect(left).toHaveLength(0);
  });

  test("of the target waits for a link that is being written, or is seen by it", async () => {
    await linkedDb("racing", "restrict");
    for (let round = 0; round < 10; round++) {
      const [a = ""] = await people();
      const [made, gone] = await Promise.all([send("racing", { to: a }), drop(a)]);
      const outcome = [made.status, gone.status];
      expect([
        [201, 409],
        [422, 204],
      ]).toContainEqual(outcome);
    }
  });
});
