/** What must not work over /mcp. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { adminPassword, adminToken, otherAccount, startTestApp, type TestApp } from "../../tests/harness.ts";
import { maxAnswerChars, said } from "./answer.ts";
import { definePlugin, field, ok, route, Type } from "../../runtime/sdk.ts";
import { agentTools } from "./api.ts";
import { connect, failureOf } from "./client-fixture.ts";

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

test("a token that only reads gets no tools that write, and is refused where it tries", async () => {
  const { id, token } = await make();
  expect(
    (await app.patch(`/core/tokens/${id}.json`, { token: { read_only: true, mcp_delete: true } })).json,
  ).toMatchObject({ read_only: true, mcp_delete: true });
  const { call, tools, client } = await connect(app.origin, token);
  expect(await tools()).toEqual(["guide", "list", "get", "search_records", "aggregate", "check_site"]);
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

  test("200 calls at once are all answered, each with its own", async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const code = `many-${n}`;
        const message = { ...callOf("create", { resource: "dbs", fields: { name: code, code } }), id: n };
        const { status, json } = await send(message, { token: adminToken });
        return [status, json.id, JSON.parse(json.result.content[0].text).result.code];
      }),
    );
    expect(answers).toEqual(Array.from({ length: 200 }, (_, n) => [200, n, `many-${n}`]));
  });
});
