/** What must not work over /mcp. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { adminPassword, otherAccount, startTestApp, type TestApp } from "../../tests/harness.ts";
import { maxAnswerChars, said } from "./answer.ts";
import { definePlugin, field, ok, route, Type } from "../../runtime/sdk.ts";
import { agentTools } from "./api.ts";
import { connect, failureOf } from "../../tests/fixtures/mcp-client.ts";

let app: TestApp;
/** Works for a person, as a dialog with a model does. */
const probe = definePlugin({
  name: "probe",
  needs: { agentTools },
  setup: (ctx) => ({
    routes: [
      route(
        "POST",
        "/probe/agent",
        {
          summary: "Calls a tool with another token",
          access: { signedIn: "a test" },
          body: { schema: Type.Object({ token: Type.String(), name: Type.String(), args: field.object() }) },
          responses: { 200: {} },
        },
        async ({ request, host, body }) => {
          const session = await ctx.services.agentTools.open({ request, host, token: body.token });
          const names = session ? (await session.tools()).map(({ name }) => name) : null;
          return ok({ names, result: await session?.call(body.name, body.args) });
        },
      ),
    ],
  }),
});
beforeAll(async () => {
  app = await startTestApp({ plugin: probe, env: { BASE_URL: "https://core.example.com" } });
});
afterAll(() => app.stop());

const listTools = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const send = (body: unknown, options = {}) => app.post("/mcp", body, options);
const callOf = (name: string, args: object) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name, arguments: args },
});
const make = async (fields: object = {}): Promise<{ id: number; token: string }> =>
  (await app.post("/account/api_tokens.json", { api_token: fields })).json;

describe("who may ask", () => {
  test("a cookie opens nothing, even from this origin and beside a wrong token", async () => {
    const signedIn = await app.post(
      "/account/session.json",
      { login: "admin", password: adminPassword },
      { token: null },
    );
    const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const same = { origin: "https://core.example.com", "sec-fetch-site": "same-origin" };
    expect((await app.get("/account/me.json", { token: null, headers: { cookie } })).status).toBe(200);
    expect((await send(listTools, { token: null, headers: { cookie, ...same } })).status).toBe(401);
    expect((await send(listTools, { token: "core_wrong", headers: { cookie, ...same } })).status).toBe(401);
    expect((await send(listTools, { token: null })).status).toBe(401);
  });

  test.each([
    [{ origin: "https://evil.example" }, 403],
    [{ origin: "null" }, 403],
    [{ origin: "https://core.example.com", "sec-fetch-site": "cross-site" }, 403],
    [{ origin: "https://core.example.com.evil.example" }, 403],
    [{ host: "evil.example", origin: "https://evil.example" }, 403],
    [{ host: "evil.example" }, 403],
    [{ host: "core.example.com", origin: "https://core.example.com", "sec-fetch-site": "same-origin" }, 200],
    [{}, 200],
  ])("with %j the answer is %p", async (headers, status) => {
    expect((await send(listTools, { headers })).status).toBe(status);
  });

  test("a token of another account opens its own account alone", async () => {
    const other = await otherAccount(app);
    expect((await send(listTools, { headers: { host: other.host } })).status).toBe(401);
    await app.post("/core/dbs.json", { db: { name: "Ours", code: "ours" } });
    const call = callOf("get", { resource: "dbs", id: "ours" });
    const answer = await send(call, { token: other.adminToken, headers: { host: other.host } });
    expect(answer.json.result).toMatchObject({
      isError: true,
      content: [{ text: '404 {"error":"there is no such database"}' }],
    });
  });

  test("a token that ends in the middle ends what its agent may do", async () => {
    const { id, token } = await make();
    const { call, client } = await connect(app.origin, token);
    expect((await call("list", { resource: "dbs" })).isError).toBe(false);
    await app.patch(`/account/api_tokens/${id}.json`, { api_token: { active: false } });
    expect(await failureOf(call("list", { resource: "dbs" }))).not.toBe("");
    await client.close();
  });
});

test("a token that ends while a flow that it has begun goes on opens nothing more", async () => {
  const program = [{ type: "wait", seconds: 3600 }];
  await app.post("/connect/flows.json", { flow: { name: "Long", code: "long", active: true, fields: { program } } });
  const { id, token } = await make();
  const session = await app.post("/probe/agent", { token, name: "run_flow", args: { flow: "long", wait: 0 } });
  expect(session.json.result.isError).toBeUndefined();
  await app.patch(`/account/api_tokens/${id}.json`, { api_token: { active: false } });
  expect((await app.post("/probe/agent", { token, name: "guide", args: {} })).json).toEqual({ names: null });
});

const ofDatabases = [
  "search_records",
  "aggregate",
  "batch_records",
  "get_record",
  "comment_record",
  "import_records",
  "list_deleted",
  "restore",
];
/** Which tools a token with one privilege gets, beside those that need none. */
const toolsBy: Readonly<Record<string, readonly string[]>> = {
  dbs: [...ofDatabases, "replace_text"],
  apps: ["preview_app", "replace_text"],
  flows: ["test_flow", "run_flow"],
  cms: ["check_site"],
  prompts: [],
  webhooks: [],
};
const everyCall: Readonly<Record<string, object>> = {
  list: { resource: "apps" },
  get: { resource: "apps", id: "x" },
  create: { resource: "apps", fields: { name: "No", source_code: "<p>", app_engine: "html" } },
  update: { resource: "apps", id: "x", fields: { name: "No" } },
  replace_text: { resource: "apps", id: "x", field: "source_code", old_string: "a", new_string: "b" },
  delete: { resource: "apps", id: "x" },
  search_records: { db: "none" },
  aggregate: { db: "none" },
  batch_records: { db: "none", operations: [{ op: "create", data: {} }] },
  get_record: { db: "none", id: "x" },
  comment_record: { db: "none", id: "x", text: "a" },
  import_records: { db: "none", text: "a", type: "csv" },
  list_deleted: { db: "none" },
  restore: { db: "none", id: "x" },
  preview_app: { app: { name: "No", source_code: "<p>", app_engine: "html" } },
  test_flow: { flow: "none" },
  run_flow: { flow: "none" },
  check_site: { site: "none" },
};

test.each(Object.entries(toolsBy))(
  "a token for %s alone gets its tools, and is refused with all others",
  async (privilege, own) => {
    const { token } = await make({ privileges: [privilege] });
    const shown = (await send(listTools, { token })).json.result.tools.map(({ name }: { name: string }) => name);
    const special = [...ofDatabases, "replace_text", "preview_app", "test_flow", "run_flow", "check_site"];
    expect(shown.filter((name: string) => special.includes(name)).toSorted()).toEqual([...own].toSorted());
    for (const [name, args] of Object.entries(everyCall)) {
      const { result } = (await send(callOf(name, args), { token })).json;
      const isOwn =
        privilege === "apps"
          ? "resource" in args || name === "preview_app"
          : own.includes(name) && !("resource" in args);
      if (!isOwn) expect([name, result.isError, result.content[0].text.slice(0, 4)]).toEqual([name, true, "403 "]);
    }
  },
);

test("a service opens the same tools in this process, with the rights of the token that it is given", async () => {
  const { token } = await make({ privileges: ["dbs"] });
  const tools = await app.post("/probe/agent", { token, name: "get", args: { resource: "apps", id: "x" } });
  expect(tools.json).toMatchObject({
    names: expect.not.arrayContaining(["preview_app", "delete"]),
    result: { isError: true },
  });
  expect(tools.json.result.content[0].text).toContain("`apps`");
  expect((await app.post("/probe/agent", { token: "core_wrong", name: "guide", args: {} })).json).toEqual({
    names: null,
  });
});

test("a token that does not delete makes no flow that does", async () => {
  const { token } = await make();
  const { call, client } = await connect(app.origin, token);
  const step = { type: "db", op: "delete", db: "x", id: "{{ id }}" };
  const program = [{ type: "each", in: "ids", do: [{ type: "if", condition: "item", else: [step] }] }];
  const refused = { isError: true, text: expect.stringContaining("mcp_delete") };
  expect(await call("create", { resource: "flows", fields: { name: "Sly", fields: { program } } })).toMatchObject(
    refused,
  );
  const harmless = { name: "Sly", code: "sly", fields: { program: [{ type: "return" }] } };
  expect((await call("create", { resource: "flows", fields: harmless })).isError).toBeFalsy();
  expect(await call("update", { resource: "flows", id: "sly", fields: { fields: { program } } })).toMatchObject(
    refused,
  );
  expect((await app.get("/connect/flows.json?q=Sly")).json).toMatchObject([{ fields: harmless.fields }]);
  await client.close();
});

test("a token that does not delete opens no deletion by other ways", async () => {
  const { id, token } = await make();
  const { call, client } = await connect(app.origin, token);
  const methods = { remove: { method: "delete", path: "/things/{id}" }, read: { path: "/things" } };
  const wiper = { name: "Wiper", code: "wiper", url: "https://example.com", fields: { methods } };
  expect((await app.post("/connect/connectors.json", { connector: wiper })).status).toBe(201);
  const listed = { name: "Listed", code: "listed", public_methods: { list: true, update: true } };
  expect((await app.post("/core/dbs.json", { db: listed })).status).toBe(201);
  const open = {
    name: "Open",
    code: "opened",
    public_methods: { delete: { scope_by: "a" }, create: { auto_fields: { a: "{user_id}" } } },
  };
  expect((await app.post("/core/dbs.json", { db: open })).status).toBe(201);
  const made = (resource: string, fields: object) => ["create", { resource, fields }] as const;
  const flow = (step: object) =>
    made("flows", { name: "F", code: "f1", fields: { program: [{ type: "each", in: "ids", do: [step] }] } });
  const connector = (method: object, kind = "core/custom_connector") =>
    made("connectors", { ...wiper, code: "w2", kind, fields: { methods: { m: method } } });
  const changed = (fields: object) => ["update", { resource: "dbs", id: "listed", fields }] as const;
  const text = (old_string: string, new_string: string) =>
    ["replace_text", { resource: "dbs", id: "listed", field: "public_methods", old_string, new_string }] as const;
  const hook = { source_type: "Core::Db", kind: "create", target_kind: "connector", target_code: "wiper" };
  const refused = [
    made("dbs", { name: "Gone", public_methods: { delete: true } }),
    changed({ public_methods: { delete: {} } }),
    text('"list":true', '"delete":true'),
    text("upda", "dele"),
    text('"list":true', String.raw`"d\u0065lete":true`),
    connector(methods.remove),
    connector({ method: "POST", path: "/core/db/x/delete" }),
    connector({ method: "POST", path: "/x", headers: { "X-HTTP-Method-Override": "DELETE" } }),
    connector({ method: "POST", path: "/x", body: { operations: [{ op: "delete", id: "{id}" }] } }),
    connector({ method: "POST", path: "/x", body: '{ "op": "delete" }' }),
    connector({ sql: "DELETE from customers" }, "core/postgres"),
    flow({ type: "connector", connector: "wiper", method: "remove" }),
    flow({ type: "connector", connector: "x", method: "query", params: { sql: "truncate customers" } }),
    made("webhooks", hook),
  ];
  for (const [name, args] of refused) {
    const answer = await call(name, args);
    expect([JSON.stringify(args), answer.isError, answer.text]).toEqual([
      JSON.stringify(args),
      true,
      expect.stringContaining("mcp_delete"),
    ]);
  }
  const harmless = [
    changed({ public_methods: { list: true, update: true, delete: null } }),
    text('"list":true', '"get":true'),
    ["update", { resource: "dbs", id: "opened", fields: { public_methods: { ...open.public_methods, list: true } } }],
    connector(methods.read),
    flow({ type: "connector", connector: "wiper", method: "read" }),
    ["create", { resource: "records", in: "listed", fields: { data: { op: "delete", sql: "drop" } } }],
  ] as const;
  for (const [name, args] of harmless) {
    const answer = await call(name, args);
    expect([JSON.stringify(args), answer.isError, answer.isError && answer.text]).toEqual([
      JSON.stringify(args),
      false,
      false,
    ]);
  }
  await app.patch(`/core/tokens/${id}.json`, { token: { mcp_delete: true } });
  expect((await call(...made("webhooks", hook))).isError).toBe(false);
  expect((await call(...changed({ public_methods: { delete: {} } }))).isError).toBe(false);
  await client.close();
});

test("a record keeps its table unless another one is named", async () => {
  const tables = { orders: { fields: { n: "integer" } }, lines: { fields: {} } };
  await app.post("/core/dbs.json", { db: { name: "Tabled", code: "tabled", schema: { tables } } });
  const record = { data: { n: 1 }, table_name: "orders" };
  const { id } = (await app.post("/core/dbs/tabled/records.json", { record })).json;
  const { token } = await make();
  const { call, client } = await connect(app.origin, token);
  const update = (fields: object) => call("update", { resource: "records", in: "tabled", id, fields });
  const batch = (operation: object) =>
    call("batch_records", { db: "tabled", operations: [{ op: "update", id, ...operation }] });
  expect((await update({ data: { n: 2 } })).json).toMatchObject({ result: { table_name: "orders" } });
  expect((await batch({ data: { n: 3 } })).json.result.results[0]).toMatchObject({
    table_name: "orders",
    data: { n: 3 },
  });
  for (const wrong of [update, batch])
    expect(await wrong({ data: { n: "x" } })).toMatchObject({
      isError: true,
      text: expect.stringContaining("whole number"),
    });
  expect((await batch({ data: {}, table_name: "lines" })).json.result.results[0].table_name).toBe("lines");
  expect((await update({ data: {}, table_name: null })).json.result.table_name).toBeNull();
  await client.close();
});

test("a token that only reads gets no tools that write, and is refused where it tries", async () => {
  const { id, token } = await make();
  expect(
    (await app.patch(`/core/tokens/${id}.json`, { token: { read_only: true, mcp_delete: true } })).json,
  ).toMatchObject({ read_only: true, mcp_delete: true });
  const { call, tools, client } = await connect(app.origin, token);
  expect(await tools()).toEqual([
    "guide",
    "list",
    "get",
    "search_records",
    "aggregate",
    "get_record",
    "list_deleted",
    "check_site",
  ]);
  expect((await call("guide")).text).toContain("may only read");
  for (const [name, args] of [
    ["create", { resource: "dbs", fields: { name: "No" } }],
    ["delete", { resource: "dbs", id: "no" }],
    ["run_flow", { flow: "no" }],
    ["nobody", {}],
  ] as const) {
    const refused = await call(name, args).catch((error: unknown) => ({ isError: true, text: String(error) }));
    expect(refused.isError).toBe(true);
    expect(refused.text).toContain(name === "nobody" ? "no tool" : "read_only");
  }
  expect((await app.get("/core/dbs.json?q=No", { token })).json).toEqual([]);
  await client.close();
});

describe("what is sent", () => {
  test.each([
    ["[]", 400],
    [JSON.stringify([listTools]), 400],
    ["{", 400],
    ["null", 400],
    ["{}", 400],
    [JSON.stringify({ jsonrpc: "2.0", id: 1, method: 7 }), 400],
  ])("%s is %p", async (raw, status) => {
    const answer = await app.post("/mcp", undefined, { raw, headers: { "content-type": "application/json" } });
    expect(answer.status).toBe(status);
  });

  test("what is too long is refused, and an answer is bounded", async () => {
    expect((await send({ ...listTools, padding: "x".repeat(2_100_000) })).status).toBe(413);
    await app.post("/core/prompts.json", { prompt: { name: "Long", code: "long", content: "x".repeat(10_000) } });
    const listed = (await send(callOf("list", { resource: "prompts" }))).json.result.content[0].text;
    expect(JSON.parse(listed).result[0].content).toEndWith("… (10000 characters)");
    expect(said("x".repeat(maxAnswerChars)).isError).toBeUndefined();
    expect(said("x".repeat(maxAnswerChars + 1))).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("limit") }],
    });
  });

  test("a limit of requests counts each call once", async () => {
    const { id, token } = await make();
    await app.patch(`/core/tokens/${id}.json`, { token: { rate_limit: 3 } });
    const statuses = [];
    for (let n = 0; n < 4; n++) statuses.push((await send(callOf("list", { resource: "dbs" }), { token })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
  });

  test("1,000 calls at once are all answered, each with its own, and others beside them", async () => {
    for (let n = 0; n < 5; n++) await app.post("/core/dbs.json", { db: { name: `Many ${n}`, code: `many-${n}` } });
    const calls = Array.from({ length: 1000 }, async (_, n) => {
      const { status, json } = await send({ ...callOf("get", { resource: "dbs", id: `many-${n % 5}` }), id: n });
      return [status, json.id, JSON.parse(json.result.content[0].text).result.code];
    });
    const others = await Promise.all(Array.from({ length: 20 }, () => app.get("/core/dbs/many-1.json")));
    expect(others.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 1000 }, (_, n) => [200, n, `many-${n % 5}`]));
  });

  test.each([
    ["unknown keys", '{"resource":"dbs","sudo":true}'],
    ["__proto__", '{"resource":"dbs","__proto__":{"readOnly":false}}'],
    ["constructor", '{"resource":"dbs","constructor":{"prototype":{"isAdmin":true}}}'],
    ["a wrong type", '{"resource":{"toString":"dbs"}}'],
    ["a prototype's name", '{"resource":"__proto__"}'],
    ["200 kB", JSON.stringify({ resource: "x".repeat(200_000) })],
    ["200 kB of keys", JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, n])))],
    ["a filter with a prototype's name", '{"resource":"dbs","filter":{"__proto__":{"a":1}}}'],
  ])("arguments with %s are refused in words that stay short", async (_, args) => {
    const raw = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":${args}}}`;
    const answer = await app.post("/mcp", undefined, { raw, headers: { "content-type": "application/json" } });
    const [content] = answer.json.result.content;
    expect([answer.status, answer.json.result.isError]).toEqual([200, true]);
    expect(content.text).toStartWith("422 ");
    expect(content.text.length).toBeLessThan(2_000);
    expect(Object.hasOwn(Object.prototype, "isAdmin")).toBe(false);
  });
});
