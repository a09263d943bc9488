/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
/** Records that name others by code: who names what, and what loses its name when a code changes. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { otherAccount, person, startTestApp, type Answer, type TestApp } from "./harness.ts";

let app: TestApp;
let ids: Readonly<Record<string, string | number>>;

beforeAll(async () => {
  app = await startTestApp();
  ids = await namers();
});
afterAll(() => app.stop());

const warningOf = ({ headers }: Answer) => headers.get("warning") ?? "";

async function made(path: string, body: object): Promise<string | number> {
  const answer = await app.post(path, body);
  expect([path, answer.status, answer.text.slice(0, 300)]).toEqual([path, 201, expect.any(String)]);
  return answer.json.id;
}

/** A database, a connector, a flow and an app, and what names each of them. */
async function namers() {
  const step = { type: "db", op: "create", db: "orders", data: {} };
  const inside = [{ type: "if", condition: "true", then: [step, { type: "flow", flow: "called" }] }];
  const call = { type: "connector", connector: "weather", method: "current" };
  const db = await made("/core/dbs.json", { db: { name: "Orders", code: "orders" } });
  await made("/core/dbs.json", { db: { name: "More", code: "orders-more" } });
  await made("/connect/connectors.json", {
    connector: {
      name: "Weather",
      code: "weather",
      kind: "core/custom_connector",
      url: "https://example.com",
      fields: { methods: { current: { method: "GET", path: "/" } } },
    },
  });
  const flow = (code: string, program: object[]) =>
    made("/connect/flows.json", { flow: { name: `Flow ${code}`, code, fields: { program } } });
  const called = await flow("called", [call]);
  const outer = await flow("outer", inside);
  await flow("told", [{ type: "mutation", set: { text: "orders", db: "orders" } }]);
  const webhook = { source_type: "Core::Record", kind: "create" };
  const filtered = await made("/account/webhooks.json", {
    webhook: { ...webhook, url: "https://example.com/filtered", filter: { db_code: "orders" } },
  });
  const starting = await made("/account/webhooks.json", {
    webhook: { ...webhook, kind: "update", target_kind: "flow", target_code: "called" },
  });
  const calling = await made("/account/webhooks.json", {
    webhook: { ...webhook, kind: "destroy", target_kind: "connector", target_code: "weather" },
  });
  const cron = await made("/account/crons.json", {
    cron: { name: "Daily", target_code: "called", schedule: "0 7 * * *" },
  });
  const page = (name: string, fields: object) =>
    made("/core/apps.json", { app: { name, app_engine: "html", source_code: "<p>x</p>", ...fields } });
  const own = await page("Own", { db_code: "orders", url_code: "own" });
  const further = await page("Further", { fields: { dbs: ["orders"] } });
  const source = await page("Source", { source_code: "<script>core.db('orders').list();</script>" });
  await page("Longer", { source_code: '<a href="/core/db/orders-more/list">x</a>' });
  const acting = await page("Acting", { actions: [{ action: "go", flow_code: "called" }] });
  await made("/core/dbs.json", { db: { name: "Linked", code: "linked", app_id: own } });
  await made("/cms/sites.json", { site: { code: "acme", name: "Acme" } });
  const form = await made("/cms/pages.json", {
    page: { site_code: "acme", name: "Form", content: '<form method="post" action="/core/db/orders/create"></form>' },
  });
  const link = await made("/cms/paragraphs.json", {
    paragraph: { site_code: "acme", name: "Link", content: '<a href="/a/own">app</a>' },
  });
  return { db, called, outer, filtered, starting, calling, cron, own, further, source, acting, form, link };
}

const usesOf = async (path: string, options: object = {}) => {
  const { status, json } = await app.get(`${path}/used_by.json`, options);
  return status === 200 ? json.map(({ kind, name }: Record<string, string>) => `${kind} ${name}`).toSorted() : status;
};

const ofDatabase = [
  "app Further",
  "app Own",
  "app Source",
  "flow Flow outer",
  "page Form",
  "webhook https://example.com/filtered",
];

test("each kind of record that names another is listed with its address", async () => {
  expect(await usesOf("/core/dbs/orders")).toEqual(ofDatabase);
  expect(await usesOf(`/core/dbs/${ids["db"]}`)).toEqual(ofDatabase);
  expect(await usesOf("/connect/flows/called")).toEqual([
    "app Acting",
    "cron Daily",
    "flow Flow outer",
    "webhook Core::Record update",
  ]);
  expect(await usesOf("/connect/connectors/weather")).toEqual(["flow Flow called", "webhook Core::Record destroy"]);
  expect(await usesOf("/core/apps/own")).toEqual(["database Linked", "paragraph Link"]);
  expect(await usesOf("/core/dbs/linked")).toEqual([]);
  for (const { path, name } of (await app.get("/core/dbs/orders/used_by.json")).json) {
    const { status, json } = await app.get(path);
    expect([path, status, json.name ?? json.url]).toEqual([path, 200, name]);
  }
});

test("only what the caller may see, and nothing of another account", async () => {
  const { token } = await person(app, { role: "admin", narrowedTo: ["dbs", "apps"] });
  expect(await usesOf("/core/dbs/orders", { token })).toEqual(ofDatabase.filter((one) => one.startsWith("app")));
  expect(await usesOf("/core/dbs/orders", { token: (await person(app, { role: "guest" })).token })).toBe(403);
  const other = await otherAccount(app);
  expect((await other.get("/core/dbs/orders/used_by.json")).status).toBe(404);
  expect((await other.post("/core/dbs.json", { db: { name: "Orders", code: "orders" } })).status).toBe(201);
  expect((await other.get("/core/dbs/orders/used_by.json")).json).toEqual([]);
});

test("a name of nothing is told when it is saved", async () => {
  const db = await app.post("/core/dbs.json", { db: { name: "A", app_id: crypto.randomUUID() } });
  expect([db.status, warningOf(db)]).toEqual([201, expect.stringContaining("`app_id` names no app of this account")]);
  const linked = await app.patch(`/core/dbs/${db.json.id}.json`, { db: { app_id: crypto.randomUUID() } });
  expect(warningOf(linked)).toContain("`app_id` names no app");
  const webhook = {
    source_type: "Core::Record",
    kind: "update",
    url: "https://example.com/n",
    filter: { db_code: "no" },
  };
  const hook = await app.post("/account/webhooks.json", { webhook });
  expect([hook.status, warningOf(hook)]).toEqual([201, expect.stringContaining("`filter.db_code` names no database")]);
  const path = `/account/webhooks/${hook.json.id}.json`;
  for (const [target_kind, noun] of Object.entries({ flow: "flow", connector: "connector" })) {
    const changed = await app.patch(path, { webhook: { target_kind, target_code: "none", filter: null } });
    expect([changed.status, warningOf(changed)]).toEqual([200, expect.stringContaining(`names no ${noun} of`)]);
  }
  const actions = [{ action: "go", flow_code: "none" }];
  const fields = { db_code: "none", fields: { dbs: ["orders", "neither"] }, actions };
  const saved = await app.post("/core/apps.json", {
    app: { name: "B", app_engine: "html", source_code: "<p>x</p>", ...fields },
  });
  for (const text of ["`db_code` names no database", "neither", "`actions[0].flow_code` names no flow"])
    expect(warningOf(saved)).toContain(text);
  expect(warningOf(saved)).not.toContain("orders");
  const whole = await app.post("/account/webhooks.json", {
    webhook: { ...webhook, kind: "create", url: "https://example.com/whole", filter: { db_code: "orders" } },
  });
  expect(warningOf(whole)).toBe("");
  const schema = {
    tables: { orders: { fields: { status: { type: "string" } } }, lines: { fields: { n: { type: "integer" } } } },
  };
  await app.post("/core/dbs.json", { db: { name: "Fields", code: "with_fields", schema } });
  const of = async (filter: object) =>
    warningOf(
      await app.patch(`/account/webhooks/${whole.json.id}.json`, {
        webhook: { filter: { db_code: "with_fields", ...filter } },
      }),
    );
  expect(await of({ stauts: "new" })).toContain('has no field \\"stauts\\": did you mean \\"status\\"?');
  expect(await of({ table_name: "orders", n: 1 })).toContain('has no field \\"n\\"');
  expect(await of({ table_name: "order" })).toContain("has no table");
  for (const right of [
    { n: 1 },
    { table_name: "orders", status: "new", id: "1", created_at: "x" },
    { table_name: null },
  ])
    expect(await of(right)).toBe("");
  await app.delete(`/account/webhooks/${whole.json.id}.json`);
});

test("a code that changes or goes says who loses it", async () => {
  const same = await app.patch("/core/dbs/orders.json", { db: { name: "All orders", code: "orders" } });
  expect(warningOf(same)).toBe("");
  const { token } = await person(app, { role: "admin", narrowedTo: ["dbs"] });
  const renamed = await app.patch("/core/dbs/orders.json", { db: { code: "sales" } }, { token });
  expect([renamed.status, warningOf(renamed)]).toEqual([
    200,
    '299 - "records that you may not see name \\"orders\\", which is gone"',
  ]);
  await app.patch("/core/dbs/sales.json", { db: { code: "orders" } });
  const db = await app.patch("/core/dbs/orders.json", { db: { code: "sales" } });
  for (const text of ["webhook", "flow", "app", "page"]) expect(warningOf(db)).toContain(`the ${text} `);
  const connector = await app.patch("/connect/connectors/weather.json", { connector: { code: "rain" } });
  expect(warningOf(connector)).toContain('the flow \\"Flow called\\" names \\"weather\\"');
  const flow = await app.patch("/connect/flows/called.json", { flow: { code: "again" } });
  expect(warningOf(flow)).toContain('the cron \\"Daily\\"');
  const page = await app.patch("/core/apps/own.json", { app: { url_code: "moved", db_code: null } });
  expect(warningOf(page)).toContain('the paragraph \\"Link\\" names \\"own\\"');
  const gone = await app.delete(`/core/apps/${ids["own"]}.json`);
  expect([gone.status, warningOf(gone)]).toEqual([204, expect.stringContaining('the database \\"Linked\\"')]);
});
