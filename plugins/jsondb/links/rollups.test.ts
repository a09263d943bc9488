/** Rollups in what programs read: flows and public methods. behaviour B.7.31. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, person, startTestApp, type TestApp, type TestPerson } from "../../../tests/harness.ts";

let app: TestApp;
let ann: string;
let maker: TestPerson;

beforeAll(async () => {
  app = await startTestApp();
  maker = await person(app, { role: "user", privileges: ["flows"] });
  const rollup = (op: string, field?: string) => ({
    type: "number",
    rollup: { of: "sales.buyer", op, ...(field && { field }) },
  });
  const fields = { name: "string", count: rollup("count"), total: rollup("sum", "price") };
  const public_methods = {
    get: true,
    list: { allowed_fields: ["name", "total"] },
    search: { allowed_fields: ["name", "count"] },
    create: true,
    update: { auto_fields: { by: "{ip}" } },
  };
  const make = async (db: object) => {
    const made = await app.post("/core/dbs", { db });
    expect([made.status, made.text]).toEqual([201, expect.any(String)]);
  };
  await make({
    name: "Sales",
    code: "sales",
    schema: { fields: { buyer: { type: "string", link: "buyers" }, price: "number" } },
  });
  await make({ name: "Buyers", code: "buyers", schema: { fields }, public_methods });
  const add = async (db: string, data: object) =>
    (await app.post(`/core/dbs/${db}/records`, { record: { data } })).json.id as string;
  ann = await add("buyers", { name: "Ann" });
  for (const price of [2, 3.5]) await add("sales", { buyer: ann, price });
});
afterAll(() => app.stop());

const sees = (may: "read" | "nothing") =>
  app.patch("/core/dbs/sales", { db: { access: may === "read" ? [{ to: `user:${maker.id}`, may }] : [] } });

test("a public method shows those that its `allowed_fields` name", async () => {
  const call = async (path: string) => (await app.get(`/core/db/buyers/${path}`, { token: null })).json;
  expect((await call(`get?id=${ann}`)).data).toEqual({ name: "Ann", count: 2, total: 5.5 });
  expect((await call("list"))[0].data).toEqual({ name: "Ann", total: 5.5 });
  expect((await call("search?q=Ann"))[0]).toMatchObject({ name: "Ann", count: 2 });
  expect((await call("search?q=Ann"))[0].total).toBeUndefined();
  const made = await app.post("/core/db/buyers/create", { data: { name: "Bob", count: 7 } }, { token: null });
  expect([made.status, made.json.data]).toEqual([201, { name: "Bob", count: 0, total: 0 }]);
  const changed = await app.post(
    "/core/db/buyers/update",
    { id: made.json.id, data: { name: "Rob" } },
    { token: null },
  );
  expect(changed.json.data).toMatchObject({ name: "Rob", count: 0, total: 0 });
});

test("a public method shows them of each record of several tables, without its table's name", async () => {
  const count = { type: "integer", rollup: { of: "shop.orders.client", op: "count" } };
  const tables = {
    clients: { fields: { name: "string", count } },
    orders: { fields: { name: "string", client: { type: "string", link: "shop.clients" } } },
  };
  const list = { expand: ["client"] };
  const public_methods = { list, get: true, create: { table_name: "clients" }, update: { table_name: "clients" } };
  const db = { name: "Shop", code: "shop", schema: { tables }, public_methods };
  expect((await app.post("/core/dbs", { db })).status).toBe(201);
  const anybody = { token: null };
  const made = (await app.post("/core/db/shop/create", { data: { name: "Ann" } }, anybody)).json;
  expect(made).toMatchObject({ data: { name: "Ann", count: 0 } });
  const order = { table_name: "orders", data: { name: "first", client: made.id } };
  expect((await app.post("/core/dbs/shop/records", { record: order })).status).toBe(201);
  const client = { name: "Ann", count: 1 };
  const { json: listed } = await app.get("/core/db/shop/list?expand=client", anybody);
  expect(listed.map(({ data }: { data: object }) => data)).toEqual([order.data, client]);
  expect(listed[0].expand.client).toMatchObject({ name: "Ann" });
  const { json: got } = await app.get(`/core/db/shop/get?id=${made.id}`, anybody);
  const changed = (await app.post("/core/db/shop/update", { id: made.id, data: { name: "Eva" } }, anybody)).json;
  expect([got.data, changed.data]).toEqual([client, { ...client, name: "Eva" }]);
  for (const one of [made, listed[0], got, changed]) expect(Object.keys(one)).not.toContain("table_name");
});

test("a record at the end of a link has those of what its reader may see", async () => {
  const seller = await person(app, { role: "user" });
  const shown = async (token?: string) => {
    const answers = [
      await app.get(`/core/dbs/sales/search?filter[buyer]=${ann}&expand=buyer&limit=1`, token ? { token } : {}),
      await app.get("/core/dbs/sales/records?expand=buyer&limit=1", token ? { token } : {}),
    ];
    return answers.map(({ json: [one] }) => [one.expand.buyer.count, one.expand.buyer.total]);
  };
  const cheap = [{ to: "everyone", may: "read", where: { price: { lt: 3 } } }];
  expect((await app.patch("/core/dbs/sales", { db: { access: cheap } })).status).toBe(200);
  expect([await shown(), await shown(seller.token)]).toEqual([
    [
      [2, 5.5],
      [2, 5.5],
    ],
    [
      [1, 2],
      [1, 2],
    ],
  ]);
  expect((await app.patch("/core/dbs/sales", { db: { access: null } })).status).toBe(200);
});

test("a public method shows none of a database that who makes it may not read", async () => {
  await sees("nothing");
  const by = { token: maker.token };
  const of = (more: object) => ({ db: { name: "Open", ...more } });
  const fields = { name: "string", count: { type: "integer", rollup: { of: "sales.buyer", op: "count" } } };
  const refused = await app.post("/core/dbs", of({ schema: { fields }, public_methods: { list: true } }), by);
  expect([refused.status, refused.json.error]).toEqual([403, expect.stringContaining("to show count needs")]);
  const list = { allowed_fields: ["name"] };
  const made = await app.post("/core/dbs", of({ schema: { fields }, public_methods: { list } }), by);
  expect(made.status).toBe(201);
  const path = `/core/dbs/${made.json.id}`;
  expect((await app.patch(path, { db: { public_methods: { list: true } } }, by)).status).toBe(403);
  expect((await app.patch(path, { db: { public_methods: { list: true } } })).status).toBe(200);
  // What was so before stays.
  expect((await app.patch(path, { db: { public_methods: { list: true, get: true } } }, by)).status).toBe(200);
});

test("a flow has those that its author may read, and others see its steps by the same rule", async () => {
  await sees("read");
  const by = { token: maker.token };
  const program = [
    { type: "db", op: "get", db: "buyers", id: ann, as: "one" },
    { type: "db", op: "search", db: "buyers", params: { filter: { name: "Ann" }, fields: ["count"] }, as: "all" },
    { type: "return", value: { one: "{{ one.data }}", all: "{{ all }}" } },
  ];
  await app.post("/connect/flows", { flow: { name: "Reads", code: "reads", fields: { program } } }, by);
  const run = async () => {
    const { json: started } = await app.post("/connect/flows/reads/run", {}, by);
    return eventually(async () => {
      const { json } = await app.get(`/connect/flow_processes/${started.id}`, by);
      return json.status === "pending" ? undefined : json;
    });
  };
  const process = await run();
  expect(process.data).toMatchObject({
    one: { name: "Ann", count: 2, total: 5.5 },
    all: [{ id: ann, count: 2 }],
  });
  const other = await person(app, { role: "user", privileges: ["flows"] });
  const shown = await app.get(`/connect/flow_processes/${process.id}`, {
    token: other.token,
  });
  expect(shown.json.steps[0].output).toBe("[hidden]");
  await sees("nothing");
  expect((await run()).data.one).toEqual({ name: "Ann", count: null, total: null });
});
