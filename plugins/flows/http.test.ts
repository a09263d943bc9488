/** The step `http`: a request to any address, as a flow says it. behaviour B.9.5. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { person, startTestApp, type TestApp } from "../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../tests/receiver.ts";
import { privateHosts } from "../../tests/fixtures/outbound.ts";
import { plugins } from "../index.ts";

let app: TestApp;
let closed: TestApp;
let remote: Receiver;
beforeAll(async () => {
  app = await startTestApp({ plugins });
  closed = await startTestApp({ plugins, env: { OUTBOUND_ALLOW: "" } });
  remote = startReceiver();
  const connector = { name: "Shop", code: "shop", url: `${remote.url}/v1`, secret_token: "s3cret" };
  const model = {
    name: "Model",
    code: "model",
    kind: "core/llm",
    url: remote.url,
    fields: { api: "openai", model: "m" },
  };
  for (const one of [connector, model])
    expect((await app.post("/connect/connectors.json", { connector: one })).status).toBe(201);
});
afterAll(async () => {
  await app.stop();
  await closed.stop();
  await remote.stop();
});
beforeEach(() => {
  remote.requests.length = 0;
  remote.answer = () => Response.json({ ok: true });
});

let made = 0;
const save = (program: unknown, at = app) => {
  const code = `http_${++made}`;
  return at.post("/connect/flows.json", { flow: { name: code, code, fields: { program } } });
};
async function run(steps: readonly object[], input: object = {}, at = app) {
  const flow = await save(steps, at);
  expect(flow.json.program ?? flow.status).toBe(201);
  const { json } = await at.post(`/connect/flows/${flow.json.code}/run.json?wait=20`, input);
  return (await at.get(`/connect/flow_processes/${json.id}.json?include=inputs`)).json;
}
const http = (rest: object) => ({ type: "http", id: "ask", ...rest });

test("sends what expressions make of it, and stores the answer", async () => {
  const step = http({
    method: "post",
    url: `${remote.url}/orders/{{ input.number }}?a=1`,
    query: { tag: "{{ input.tags }}", none: "{{ input.nothing }}" },
    headers: { "X-Total": "{{ input.total }}" },
    body: { total: "{{ input.total }}", lines: "{{ input.lines }}", note: "{literal}" },
    as: "told",
  });
  const lines = [{ n: 7 }];
  const given = { number: 12, total: 19.5, tags: ["new", "a&b"], lines };
  const process = await run([step, { type: "return", value: "{{ told.ok }}" }], given);
  expect([process.status, process.data]).toEqual(["finished", true]);
  const [request] = remote.requests;
  expect(`${request?.method} ${request?.path}`).toBe("POST /orders/12");
  expect(JSON.parse(request?.body ?? "")).toEqual({ total: 19.5, lines, note: "{literal}" });
  expect(request?.headers.get("x-total")).toBe("19.5");
  expect(request?.headers.get("content-type")).toStartWith("application/json");
  expect(request?.headers.get("idempotency-key")).toBeString();
  expect(request?.headers.has("authorization")).toBe(false);
  expect(process.steps[0]).toMatchObject({ type: "http", input: { method: "post", query: { tag: ["new", "a&b"] } } });
});

test.each<[string, object, string | null, string | null]>([
  ["a text as it is", { body: "n={{ input.n }}" }, "n=1 & 2", "text/plain; charset=utf-8"],
  ["a text of JSON", { body: '{"n": {{ input.n | json }}}' }, '{"n": "1 & 2"}', "application/json; charset=utf-8"],
  ["an array", { body: ["{{ input.n }}"] }, '["1 & 2"]', "application/json; charset=utf-8"],
  [
    "a form",
    { headers: { "content-type": "application/x-www-form-urlencoded" }, body: { n: "{{ input.n }}", m: [1, 2] } },
    "n=1%20%26%202&m=1&m=2",
    "application/x-www-form-urlencoded",
  ],
  ["nothing", { body: "{{ input.nothing }}" }, "", null],
])("the body is %s", async (_what, rest, body, type) => {
  const process = await run([http({ method: "PUT", url: remote.url, ...rest })], { n: "1 & 2" });
  expect(process.status).toBe("finished");
  const [request] = remote.requests;
  expect([request?.body ?? null, request?.headers.get("content-type") ?? null]).toEqual([body, type]);
});

test("a connector gives its secret, below its address alone, and the answer shows it to nobody", async () => {
  remote.answer = (request) => Response.json({ heard: request.headers.get("authorization") });
  const at = (url: string) => run([http({ url: "{{ input.url }}", connector: "shop" })], { url });
  const told = await at(`${remote.url}/v1/orders`);
  expect([told.status, told.data]).toEqual(["finished", {}]);
  expect(told.steps[0].output).toEqual({ heard: "Bearer [secret]" });
  expect(remote.requests[0]?.headers.get("authorization")).toBe("Bearer s3cret");
  remote.requests.length = 0;
  for (const url of [`${remote.url}/v2`, `${remote.url}/v1/../v2`, `${remote.url}/v10`, "http://127.0.0.1:9/v1"]) {
    const { status, error } = await at(url);
    expect([url, status, error]).toEqual([
      url,
      "error",
      expect.stringContaining("must be below the connector's address"),
    ]);
  }
  expect((await run([http({ url: remote.url, connector: "model" })])).error).toContain('no active connector "model"');
  expect(remote.requests).toHaveLength(0);
});

test("it fails as a connector does, is tried again with the same key, and hands on what was said", async () => {
  remote.answer = () => Response.json({ why: "closed" }, { status: 409 });
  const step = http({
    method: "POST",
    url: `${remote.url}/x`,
    retry: { times: 1, delay: 0 },
    on_error: [{ type: "return", value: "{{ error }}" }],
  });
  const process = await run([step]);
  expect(process.data).toMatchObject({ status: 409, data: { why: "closed" } });
  expect(remote.requests).toHaveLength(2);
  expect(new Set(remote.requests.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1);
});

test("what expressions make is checked before anything is sent", async () => {
  const wrong: [object, object, string][] = [
    [{ url: "{{ input.url }}" }, { url: "ftp://a.example" }, "url must be an absolute http or https address"],
    [{ url: "{{ input.url }}" }, {}, "url is required"],
    [{ url: "{{ input.url }}" }, { url: { a: 1 } }, "url must be an absolute http or https address"],
    [{ url: remote.url, method: "{{ input.verb }}" }, { verb: "TRACE" }, "method must be one of"],
    [{ url: remote.url, headers: { x: "{{ input.x }}" } }, { x: "a\nHost: b" }, "headers x must be a text of one line"],
    [{ url: remote.url, headers: "{{ input.h }}" }, { h: { Host: "b" } }, "headers Host is set by the server itself"],
    [{ url: remote.url, query: "{{ input.q }}" }, { q: "a=1" }, "query must be an object of name to value"],
    [{ url: remote.url, body: "{{ input.b }}", method: "{{ input.m }}" }, { b: "1", m: "GET" }, "body cannot be sent"],
  ];
  for (const [rest, input, message] of wrong) {
    const { status, error } = await run([http(rest)], input);
    expect([message, status, error]).toEqual([message, "error", expect.stringContaining(message)]);
  }
  expect(remote.requests).toHaveLength(0);
});

test.each<[object, string]>([
  [{}, "program[0].url is required"],
  [{ url: 7 }, "program[0].url must be a text"],
  [{ url: "a.example" }, "program[0].url must be an absolute http or https address"],
  [{ url: "https://user:word@a.example" }, "program[0].url must not carry a user name or password: use secret_token"],
  [
    { url: "https://a.example", method: "BREW" },
    "program[0].method must be one of GET, POST, PUT, PATCH, DELETE, HEAD",
  ],
  [{ url: "https://a.example", body: "x" }, "program[0].body cannot be sent with GET"],
  [{ url: "https://a.example", headers: { "a b": "x" } }, 'program[0].headers "a b" is not the name of a header'],
  [{ url: "https://a.example", query: ["a"] }, "program[0].query must be an object of name to value"],
  [{ url: "{{ a | }" }, "program[0].url is not valid Liquid"],
  [{ url: "https://a.example", connector: "a b" }, "program[0].connector must be a code"],
  [{ url: "https://a.example", params: {} }, "program[0].params is unknown"],
])("saving %p is refused", async (rest, message) => {
  const { status, json } = await save([http(rest)]);
  expect([status, json.program?.[0]]).toEqual([422, expect.stringContaining(message)]);
});

test("a connector that is not there is warned of, and one in use says where", async () => {
  const missing = await save([http({ url: "https://a.example", connector: "nobody" })]);
  expect(missing.json.warnings).toEqual([expect.stringContaining('no active connector "nobody"')]);
  const using = await save([http({ url: `${remote.url}/v1`, connector: "shop" })]);
  const { json } = await app.get("/connect/connectors/shop/used_by.json");
  expect(json.map(({ id }: { id: string }) => id)).toContain(using.json.id);
});

test("no address that is not public is reached", async () => {
  const { port } = new URL(remote.url);
  for (const host of privateHosts) {
    const process = await run([http({ url: `http://${host}:${port}/` })], {}, closed);
    expect([host, process.status, process.error]).toEqual([
      host,
      "error",
      expect.stringContaining("not a public address"),
    ]);
  }
  expect(remote.requests).toHaveLength(0);
});

test("a test answers by the step's id or `http`", async () => {
  const { json } = await save([http({ url: "https://a.example" }), { type: "return", value: "{{ ask.n }}" }]);
  for (const name of ["ask", "http"]) {
    const tried = await app.post(`/connect/flows/${json.code}/test.json`, { answers: { [name]: { n: 7 } } });
    expect([tried.status, tried.json.data]).toEqual([200, 7]);
  }
});

test("one request is tried for real: its answer, its headers, and what is wrong with it", async () => {
  const tried = (step: object, at = app) => at.post("/connect/flow_steps/try.json", { step });
  remote.answer = () => Response.json({ heard: "Bearer s3cret" }, { status: 409, headers: { "x-told": "s3cret" } });
  const step = { type: "http", method: "POST", url: `${remote.url}/v1/orders`, body: { n: 7 }, connector: "shop" };
  const { status, json } = await tried(step);
  expect([status, json]).toEqual([
    200,
    {
      ok: false,
      status: 409,
      headers: expect.objectContaining({ "x-told": "[secret]" }),
      data: { heard: "Bearer [secret]" },
      error: "the remote answered 409",
    },
  ]);
  expect(remote.requests.map(({ method, path, body }) => [method, path, body])).toEqual([
    ["POST", "/v1/orders", '{"n":7}'],
  ]);
  const wrong: [object, object][] = [
    [{ type: "http" }, { url: [expect.any(String)] }],
    [{ ...step, connector: "nobody" }, { connector: ["names no active HTTP service"] }],
    [{ type: "db", op: "delete" }, { step: ["must be of the type http or mail.send"] }],
  ];
  for (const [one, said] of wrong) expect([one, (await tried(one)).json]).toEqual([one, said]);
  // Guarded as in a run.
  expect((await tried({ type: "http", url: remote.url }, closed)).json).toMatchObject({ ok: false, status: null });
  expect(remote.requests).toHaveLength(1);
  const { token } = await person(app, { role: "user" });
  expect((await app.post("/connect/flow_steps/try.json", { step }, { token })).status).toBe(403);
});
