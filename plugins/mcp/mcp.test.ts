/** The Model Context Protocol by the protocol's own client, over both revisions. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { adminToken, person, startTestApp, type TestApp } from "../../tests/harness.ts";
import { connect, failureOf, revisions, type Agent } from "../../tests/fixtures/mcp-client.ts";

let app: TestApp;
let agent: Agent;
beforeAll(async () => {
  app = await startTestApp();
  agent = await connect(app.origin, adminToken);
});
afterAll(async () => {
  await agent.client.close();
  await app.stop();
});

const allTools = [
  "guide",
  "list",
  "get",
  "create",
  "update",
  "replace_text",
  "search_records",
  "aggregate",
  "batch_records",
  "get_record",
  "comment_record",
  "import_records",
  "list_deleted",
  "restore",
  "preview_app",
  "test_flow",
  "run_flow",
  "check_site",
];
const narrow = async (privileges: string[]): Promise<{ id: number; token: string }> =>
  (await app.post("/account/api_tokens.json", { api_token: { privileges } })).json;

describe.each(revisions)("revision %s", (revision) => {
  test("tells what it is, and has tools, prompts and instructions", async () => {
    const { client, tools, call } = await connect(app.origin, adminToken, revision);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect(client.getServerVersion()).toMatchObject({ name: "corestead" });
    expect(client.getInstructions()).toContain("guide");
    expect(await tools()).toEqual(allTools);

    const prompt = { name: "Entry", code: `entry-${revision}`, content: "For {{ client_id }} by {{ TOKEN }}." };
    expect((await app.post("/core/prompts.json", { prompt })).status).toBe(201);
    const { prompts } = await client.listPrompts();
    expect(prompts).toContainEqual(
      expect.objectContaining({ name: prompt.code, title: "Entry", arguments: [{ name: "client_id" }] }),
    );
    const got = await client.getPrompt({ name: prompt.code, arguments: { client_id: "7" } });
    expect(got.messages).toEqual([{ role: "user", content: { type: "text", text: "For 7 by <your token>." } }]);
    expect(await failureOf(client.getPrompt({ name: "nobody" }))).toContain("404");

    const { resources } = await client.listResources();
    const uri = "corestead://instructions/dbs_api";
    expect(resources.map((one) => one.uri)).toContain(uri);
    const [content] = (await client.readResource({ uri })).contents;
    expect(content).toMatchObject({ mimeType: "text/markdown", text: expect.stringContaining("# JSON databases") });
    expect(JSON.stringify(content)).not.toContain(adminToken);
    expect(await failureOf(client.readResource({ uri: "corestead://instructions/../x" }))).not.toBe("");

    expect((await call("get", { resource: "dbs", id: "nobody" })).text).toBe(
      '404 {"error":"there is no such database"}',
    );
    expect(await failureOf(call("nobody"))).toContain("no tool nobody");
    await client.close();
  });
});

test("an agent builds an app, a database and a page, and is told what is wrong by field", async () => {
  const { call } = agent;
  const beginning = (await call("guide")).text;
  expect(beginning).toContain("- list, get, create, update, replace_text: dbs, apps\n");
  expect(beginning).toContain("- flows_api: Connectors; Flows; Triggers; Flow processes; Crons\n");
  expect((await call("guide", { topic: "apps" })).text).toContain('"source_code"');
  // What is said once is not said again, and arguments of `list` itself are no filters.
  const told = (await call("guide", { topic: "crons" })).text;
  expect(told.split('"target_code":{').length).toBe(2);
  expect(told).toContain("Fields as for POST, each of them optional.");
  expect(told.slice(told.indexOf("Parameters (filter)"), told.indexOf("POST "))).not.toContain("limit");
  const part = (await call("guide", { topic: "dbs_api", section: "schema" })).text;
  expect([part.startsWith("## Schema\n"), part.includes("## Records")]).toEqual([true, false]);
  const none = await call("guide", { topic: "dbs_api", section: "Shema" });
  expect([none.isError, none.text]).toEqual([true, expect.stringContaining("Make a database; Schema; Links; Records")]);
  const long = { name: "Long", code: "long-one", content: "x".repeat(20_000) };
  const echoed = await call("create", { resource: "prompts", fields: long });
  expect([echoed.isError, echoed.text.length < 2000]).toEqual([false, true]);
  await app.delete("/core/prompts/long-one.json");
  expect((await call("guide", { topic: "common_api" })).text).toContain("# ");
  expect(await call("guide", { topic: "nobody" })).toMatchObject({ isError: true, json: undefined });

  const schema = { fields: { city: "string", visits: "integer" } };
  const db = { name: "Guests", code: "guests", schema };
  expect(await call("create", { resource: "dbs", fields: { ...db, name: "" } })).toMatchObject({
    isError: true,
    text: `422 {"name":["can't be blank"]}`,
  });
  expect((await call("create", { resource: "dbs", fields: db })).json.result).toMatchObject({ code: "guests" });
  const operations = [
    { op: "create", data: { city: "Łódź", visits: 3 } },
    { op: "create", data: { city: "Kraków", visits: 5 } },
  ];
  expect((await call("batch_records", { db: "guests", operations })).json.result.results).toHaveLength(2);
  const found = await call("search_records", { db: "guests", filter: { visits: { gte: 4 } }, count: true });
  expect(found.json).toMatchObject({ result: [{ city: "Kraków" }], total: 1 });
  const near = { any: [{ city: { in: ["Kraków, Polska", "Łódź"] } }, { city: { in: [] } }], fields: ["visits"] };
  expect((await call("search_records", { db: "guests", ...near })).json.result).toMatchObject([{ visits: 3 }]);
  const groups = await call("aggregate", { db: "guests", group_by: ["city"], sum: ["visits"] });
  expect(groups.json.result).toContainEqual({ group: { city: "Łódź" }, count: 1, sum: { visits: 3 } });
  const record = { resource: "records", in: "guests", fields: { data: { city: "Brno" } } };
  expect((await call("create", { ...record, idempotency_key: "one" })).json.result.data).toEqual({ city: "Brno" });
  await call("create", { ...record, idempotency_key: "one" });
  expect((await call("list", { resource: "records", in: "guests" })).json.result).toHaveLength(3);

  const source = "<h1>Guests</h1>";
  const fields = { name: "Guests", app_engine: "html", source_code: source, db_code: "guests" };
  expect((await call("preview_app", { app: fields })).json.result.url).toStartWith("/a/preview/");
  const made = (await call("create", { resource: "apps", fields })).json.result;
  const one = { resource: "apps", id: made.id };
  const seen = await call("get", one);
  const text = { ...one, field: "source_code", old_string: "Guests", new_string: "Visitors" };
  expect((await call("replace_text", { ...text, etag: seen.json.etag })).json.result.source_code).toContain("Visitors");
  const late = await call("update", { ...one, fields: { name: "Late" }, etag: seen.json.etag });
  expect(late).toMatchObject({ isError: true, text: expect.stringMatching(/^412 /) });
  expect((await call("update", { ...one, fields: { name: "Now" } })).json.result.name).toBe("Now");

  expect((await call("create", { resource: "sites", fields: { name: "S", code: "s" } })).isError).toBe(false);
  const page = { name: "Home", code: "home", site_code: "s", path: "", content: "{{ title }}" };
  const texts = { en: { title: "Hello" }, pl: { title: "Cześć" } };
  expect((await call("create", { resource: "pages", fields: { ...page, fields: texts } })).isError).toBe(false);
  expect((await app.get("/w/s?lang=pl")).text).toContain("Cześć");
  expect((await call("check_site", { site: "s" })).json.result).toBeArray();
});

test("filters compare numbers of any length", async () => {
  const fields = { name: "Long numbers", code: "long-numbers", schema: { fields: { n: "number" } } };
  expect((await agent.call("create", { resource: "dbs", fields })).isError).toBe(false);
  const numbers = ["12345678901234567890", "12345678901234567891", "12345678901234567892", "0.1234567890123456789"];
  const operations = numbers.map((n) => `{"op":"create","data":{"n":${n},"other":${n}}}`).join();
  /** As the client of the protocol cannot send it: its numbers are JavaScript's. */
  const raw = async (name: string, args: string) => {
    const text = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`;
    const answer = await app.post("/mcp", undefined, { raw: text, headers: { "content-type": "application/json" } });
    return answer.json.result.content[0].text;
  };
  expect(await raw("batch_records", `{"db":"long-numbers","operations":[${operations}]}`)).toContain(numbers[1]);
  const found = async (filter: string) =>
    [...(await raw("search_records", `{"db":"long-numbers","sort":"n",${filter}}`)).matchAll(/"n": ?([\d.]+)/g)].map(
      ([, n]) => n,
    );
  for (const field of ["n", "other"]) {
    const one = (condition: string) => found(`"filter":{"${field}":${condition}}`);
    expect(await one("12345678901234567891")).toEqual([numbers[1]]);
    expect(await one('{"gt":12345678901234567890}')).toEqual([numbers[1], numbers[2]]);
    expect(await one('{"gte":12345678901234567891,"lt":12345678901234567892}')).toEqual([numbers[1]]);
    expect(await one('{"in":[12345678901234567892,0.1234567890123456789]}')).toEqual([numbers[3], numbers[2]]);
    expect(await one('{"ne":12345678901234567891}')).toEqual([numbers[3], numbers[0], numbers[2]]);
    expect(await found(`"any":[{"${field}":12345678901234567890},{"${field}":{"lt":1}}]`)).toEqual([
      numbers[3],
      numbers[0],
    ]);
  }
  const sum = await raw("aggregate", '{"db":"long-numbers","sum":["n"],"filter":{"n":{"gte":12345678901234567891}}}');
  expect(sum).toContain('"sum":{"n":24691357802469135783}');
  expect(
    await raw("list", '{"resource":"records","in":"long-numbers","filter":{"filter[n][gt]":12345678901234567891}}'),
  ).toContain(numbers[2]);
});

test("an agent that knows only what the server says builds an app with a database and a page in two languages", async () => {
  const { call, client } = await connect(app.origin, adminToken);
  expect(client.getInstructions()).toContain("Call the tool guide first");
  const overview = (await call("guide")).text;
  for (const word of ["dbs, apps\n", ", records (in another thing),", ", sites,", "cms_api", "/a/<url_code>"])
    expect(overview).toContain(word);
  /** What a resource's guide gives as an example of its fields. */
  const exampleOf = async (topic: string) =>
    JSON.parse(/Example of fields: (.*)$/m.exec((await call("guide", { topic })).text)?.[1] ?? "");
  const make = async (resource: string, fields: object, parent?: string) => {
    const given = { resource, fields, ...(parent !== undefined && { in: parent }) };
    const { text, json, isError } = await call("create", given);
    expect([resource, isError, isError ? text : ""]).toEqual([resource, false, ""]);
    return json.result;
  };
  const { code } = await make("dbs", await exampleOf("dbs"));
  await make("records", await exampleOf("records"), code);
  expect((await call("search_records", { db: code })).json.result).toMatchObject([{ email: "ann@example.com" }]);
  const { actions: _needsFlows, ...page } = await exampleOf("apps");
  const { url_code } = await make("apps", { ...page, db_code: code });
  expect((await app.get(`/a/${url_code}`)).status).toBe(200);

  const instruction = (await call("guide", { topic: "cms_api" })).text;
  /** The first request of this kind in the instruction: a tool takes what is inside its body. */
  const requestOf = (kind: string) => {
    const block = instruction.split("```").find((text) => text.startsWith(`\nPOST /cms/${kind}s.json\n`)) ?? "";
    return JSON.parse(block.slice(block.indexOf("{")))[kind];
  };
  const { code: site } = await make("sites", requestOf("site"));
  await make("layouts", requestOf("layout"));
  await make("pages", requestOf("page"));
  expect((await app.get(`/w/${site}?lang=pl`)).text).toContain("Witamy");
  expect((await app.get(`/w/${site}?lang=en`)).text).toContain("Welcome");
  expect((await call("check_site", { site })).isError).toBe(false);
  await client.close();
});

test("a prompt that becomes too long is refused, not sent", async () => {
  const content = `{% for n in (1..40) %}{{ text }}${"x".repeat(10_000)}{% endfor %}`;
  const made = await app.post("/core/prompts.json", { prompt: { name: "Long", code: "long", content } });
  expect(made.status).toBe(201);
  expect((await app.get("/core/prompt/long.md")).text.length).toBe(400_000);
  expect(await failureOf(agent.client.getPrompt({ name: "long" }))).toContain("at most 300000");
  const own = { name: "Apps", code: "apps_api", content };
  const { id } = (await app.post("/core/prompts.json", { prompt: own })).json;
  const uri = "corestead://instructions/apps_api";
  expect(await failureOf(agent.client.readResource({ uri }))).toContain("at most 300000");
  for (const code of ["long", id]) await app.delete(`/core/prompts/${code}.json`);
});

test("what an agent reads before it builds is short", async () => {
  const { call, client } = agent;
  const resources = ["dbs", "records", "apps", "connectors", "flows", "webhooks", "pages"];
  const instructions = ["common_api", "apps_api", "apps_svelte_api", "dbs_api", "flows_api"];
  const read = [JSON.stringify(await client.listTools()), (await call("guide")).text];
  for (const topic of [...resources, ...instructions]) read.push((await call("guide", { topic })).text);
  expect(Buffer.byteLength(read.join(""))).toBeLessThan(71_500);
});

test("flows are tested, run, and tools of their own if they are marked so", async () => {
  const { call, tools, client } = agent;
  const program = [{ type: "return", value: { twice: "{{ n | times: 2 }}" } }];
  const input = { properties: { n: { type: "integer" } }, required: ["n"] };
  const fields = { program, tool: true, description: "Doubles a number.", input };
  await call("create", { resource: "flows", fields: { name: "Double", code: "double", fields } });
  await call("create", { resource: "flows", fields: { name: "Other", code: "other", fields: { program } } });
  expect(await tools()).toEqual([...allTools, "flow_double"]);
  const [listed] = (await client.listTools()).tools.slice(-1);
  expect(listed).toMatchObject({ description: "Doubles a number.", inputSchema: { type: "object", required: ["n"] } });
  expect((await call("flow_double", { n: 4 })).json.result).toMatchObject({ status: "finished", data: { twice: 8 } });
  expect(await failureOf(call("flow_other", { n: 4 }))).toContain("no tool");
  // Names that some clients do not take are replaced, one for each flow.
  const codes = ["report.daily", "report_daily", `${"x".repeat(70)}1`, `${"x".repeat(70)}2`];
  for (const code of codes) {
    const flow = { name: code, code, fields: { tool: true, program: [{ type: "return", value: code }] } };
    expect((await app.post("/connect/flows.json", { flow })).status).toBe(201);
  }
  const names = (await tools()).filter((name) => /^flow_[rx]/.test(name));
  expect(names.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name))).toBe(true);
  const results = await Promise.all(names.map(async (name) => (await call(name, {})).json.result.data));
  expect(new Set(results)).toEqual(new Set(codes));
  for (const code of codes) await app.delete(`/connect/flows/${code}.json`);
  expect((await call("test_flow", { flow: "other", input: { n: 1 } })).json.result.data).toEqual({ twice: 2 });
  expect((await call("run_flow", { flow: "other", input: { n: 3 } })).json.result.data).toEqual({ twice: 6 });
  expect((await app.get("/connect/flows.json?tool=false")).json).toMatchObject([{ code: "other" }]);
  const wrong = { program, tool: true, description: 7, input: [] };
  const refused = await call("update", { resource: "flows", id: "double", fields: { fields: wrong } });
  expect(Object.keys(JSON.parse(refused.text.slice(4)))).toEqual(["description", "input"]);
});

test("a token sees what it may use, and deletes only where it was told so", async () => {
  const { id, token } = await narrow(["dbs", "api_tokens"]);
  const { call, tools, client } = await connect(app.origin, token);
  const withoutApps = ["preview_app", "test_flow", "run_flow", "check_site"];
  expect(await tools()).toEqual(allTools.filter((name) => !withoutApps.includes(name)));
  expect((await call("list", { resource: "apps" })).text).toBe('403 {"error":"this needs the privilege `apps`"}');
  await call("create", { resource: "dbs", fields: { name: "Gone", code: "gone" } });
  const remove = [{ op: "delete", id: crypto.randomUUID() }];
  for (const [name, args] of [
    ["delete", { resource: "dbs", id: "gone" }],
    ["batch_records", { db: "gone", operations: remove }],
  ] as const)
    expect(await call(name, args)).toMatchObject({ isError: true, text: expect.stringContaining("mcp_delete") });
  expect((await app.patch(`/core/tokens/${id}.json`, { token: { mcp_delete: true } })).json.mcp_delete).toBe(true);
  expect(await tools()).toContain("delete");
  expect((await call("delete", { resource: "dbs", id: "gone" })).text).toBe('{"result":null}');
  expect((await app.get("/core/dbs/gone.json")).status).toBe(404);
  await client.close();
});

test("what an agent does is in the log of activity, with its token and its client", async () => {
  const { token, login } = await person(app, { role: "manager" });
  const { call, client } = await connect(app.origin, token, "2026-07-28", { "user-agent": "robot/2" });
  await call("create", { resource: "prompts", fields: { name: "Logged", code: "logged", content: "x", kind: "chat" } });
  await call("list", { resource: "users" });
  const rows = (await app.get("/core/activity.json?limit=20")).json;
  expect(rows).toContainEqual(expect.objectContaining({ action: "create", login, user_agent: "mcp robot/2" }));
  await client.close();
});

test("/llms.txt says where everything is, and / leads to it", async () => {
  const { status, text, headers } = await app.get("/llms.txt", { token: null });
  expect([status, headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
  for (const path of ["/mcp", "/openapi.json", "/core/prompts/system.json", "/core/prompt/apps_api.md"])
    expect(text).toContain(`${app.origin}${path})`);
  const start = await fetch(app.origin, { redirect: "manual" });
  expect(start.headers.get("link")).toContain('</llms.txt>; rel="describedby"');
  expect((await app.get("/docs", { token: null })).text).toContain('href="/llms.txt"');
});

test.each([
  ["list", { resource: "dbs", limit: 0 }, "limit"],
  ["list", { resource: "dbs", where: "x" }, "where"],
  ["list", { resource: "dbs", filter: { code: ["x"] } }, "filter"],
  ["list", { resource: "records" }, "in"],
  ["list", { resource: "dbs", in: "x" }, "in"],
  ["get", { resource: "dbs", id: ".." }, "id"],
  ["get", { resource: "api_tokens", id: 1 }, "resource"],
  ["create", { resource: "activity", fields: {} }, "resource"],
  ["create", { resource: "dbs" }, "fields"],
  ["search_records", { db: "guests", filter: { a: { gt: { b: 1 } } } }, "filter[a][gt]"],
  ["search_records", { db: "guests", filter: { a: { in: ["x", {}] } } }, "filter[a][in]"],
  ["search_records", { db: "guests", filter: { a: ["x"] } }, "filter[a]"],
  ["search_records", { db: "guests", filter: { a: {} } }, "filter[a]"],
  ["search_records", { db: "guests", filter: { a: { gt: null } } }, "filter[a][gt]"],
  ["aggregate", { db: "guests", any: [] }, "any"],
  ["aggregate", { db: "guests", any: [{}] }, "any[0]"],
  ["update", { resource: "dbs", id: "guests", fields: {}, etag: "Ł" }, "etag"],
  ["run_flow", { flow: ".", input: {} }, "flow"],
])("%s %j is refused by the name of the argument", async (name, args, argument) => {
  const { isError, text } = await agent.call(name, args);
  expect([isError, text.slice(0, 4), Object.keys(JSON.parse(text.slice(4)))]).toEqual([true, "422 ", [argument]]);
});

describe("the protocol's rules, by raw HTTP", () => {
  const envelope = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "tests", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const older = { "mcp-protocol-version": "2025-11-25" };
  const initialize = (protocolVersion: string) => ({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion, capabilities: {}, clientInfo: { name: "tests", version: "1" } },
  });

  test.each([
    ["2025-11-25", "2025-11-25"],
    ["2025-06-18", "2025-06-18"],
    ["1999-01-01", "2025-11-25"],
  ])("who begins with revision %s is answered with %s", async (asked, answered) => {
    expect((await app.post("/mcp", initialize(asked))).json.result).toMatchObject({ protocolVersion: answered });
  });

  type Answered = readonly [status: number, code: number | undefined];
  // Status and code of the older revision, and of the newer one where it differs.
  const cases: [method: string, params: Record<string, unknown> | undefined, older: Answered, newer?: Answered][] = [
    ["ping", undefined, [200, undefined], [404, -32601]],
    ["server/discover", undefined, [200, -32601], [200, undefined]],
    ["unknown/method", undefined, [200, -32601], [404, -32601]],
    ["tools/list", { cursor: "none" }, [200, -32602]],
    ["tools/list", { cursor: 7 }, [200, -32602]],
    ["prompts/list", { cursor: "none" }, [200, -32602]],
    ["resources/list", { cursor: "none" }, [200, -32602]],
    ["resources/templates/list", { cursor: "none" }, [200, -32602]],
    ["tools/call", {}, [200, -32602]],
    ["tools/call", { name: 7 }, [200, -32602]],
    ["tools/call", { name: "guide", arguments: [] }, [200, -32602]],
    ["tools/call", { name: "guide", arguments: "x" }, [200, -32602]],
    ["tools/call", { name: "nobody" }, [200, -32602]],
    ["tools/call", { name: "__proto__" }, [200, -32602]],
    ["tools/call", { name: "constructor" }, [200, -32602]],
    ["prompts/get", { name: "nobody" }, [200, -32602]],
    ["prompts/get", { name: "../me" }, [200, -32602]],
    ["resources/read", { uri: "file:///etc/passwd" }, [200, -32602]],
  ];
  test.each(cases.map(([method, params, inOlder, inNewer = inOlder]) => [method, params, inOlder, inNewer] as const))(
    "%s %j",
    async (method, params, inOlder, inNewer) => {
      const message = { jsonrpc: "2.0", id: "x", method };
      const name = params?.["name"] ?? params?.["uri"];
      const headers = {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        ...(name !== undefined && { "mcp-name": typeof name === "string" ? name : JSON.stringify(name) }),
      };
      const before = await app.post("/mcp", params ? { ...message, params } : message, { headers: older });
      const now = await app.post("/mcp", { ...message, params: { ...params, _meta: envelope } }, { headers });
      expect([before.status, before.json.error?.code, before.json.id]).toEqual([...inOlder, "x"]);
      expect([now.status, now.json.error?.code, now.json.id]).toEqual([...inNewer, "x"]);
    },
  );

  test.each([
    [{ method: "notifications/initialized" }, older, 202],
    [{ method: "notifications/cancelled", params: { requestId: 1 } }, older, 202],
    [{ method: "notifications/unknown" }, {}, 202],
    [{ id: 1, result: {} }, older, 202],
    [{ id: 1, method: "tools/list" }, {}, 200],
    [{ id: 1, method: "tools/list" }, { accept: "text/html" }, 200],
    [{ id: 1, method: "tools/list" }, { "mcp-protocol-version": "1999-01-01" }, 400],
    [{ id: 1, method: "tools/list" }, { "mcp-protocol-version": "nonsense" }, 400],
    [{ id: 1, method: "tools/list" }, { "mcp-protocol-version": "2026-07-28" }, 400],
    [{ id: 1, method: "tools/list", params: { _meta: envelope } }, older, 400],
    [{ id: 1, method: "tools/list", params: { _meta: envelope } }, {}, 400],
    [{ id: 1, method: "tools/list", params: [] }, older, 400],
    [{ id: null, method: "ping" }, older, 400],
    [{ id: {}, method: "ping" }, older, 400],
    [{ jsonrpc: "1.0", id: 1, method: "ping" }, older, 400],
  ])("%j with %j is %p", async (message, headers, status) => {
    expect((await app.post("/mcp", { jsonrpc: "2.0", ...message }, { headers })).status).toBe(status);
  });

  test("only POST with JSON is taken", async () => {
    for (const method of ["GET", "DELETE", "PUT"]) {
      const answer = await fetch(`${app.origin}/mcp`, { method, headers: { authorization: `Bearer ${adminToken}` } });
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
    }
    const raw = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    expect((await app.post("/mcp", undefined, { raw, headers: { "content-type": "text/plain" } })).status).toBe(415);
  });
});

test("a call gets the same answer from the package as without it", async () => {
  const params = { name: "list", arguments: { resource: "users" } };
  const about = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "tests", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const send = async (message: object, headers: Record<string, string>) =>
    (await app.post("/mcp", { jsonrpc: "2.0", id: 7, method: "tools/call", ...message }, { headers })).json;
  const named = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "list" };
  const modern = { params: { ...params, _meta: about } };
  // A name in this form is for the package alone.
  const encoded = { ...named, "mcp-name": `=?base64?${btoa("list")}?=` };
  expect(await send(modern, named)).toEqual(await send(modern, encoded));
  const older = { "mcp-protocol-version": "2025-11-25" };
  const judged = await send({ params: { ...params, other: 1 } }, older);
  expect(await send({ params }, older)).toEqual(judged);
  expect(judged.result.content[0].text).toContain("admin");
});
