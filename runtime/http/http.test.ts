import { afterAll, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { fromSameOrigin, type Caller, type Identify } from "./auth.ts";
import { invalid } from "../base/errors.ts";
import { mountHttp } from "./http.ts";
import type { Idempotency, KeyedRequest } from "./idempotency/idempotency.ts";
import { createLog } from "../system/log.ts";
import { createMetrics } from "../system/metrics.ts";
import { created, noContent, ok, text } from "./answers/reply.ts";
import { eventually } from "../../tests/harness.ts";
import { route, type Route } from "./route.ts";

const account = { id: 1, name: "Acme", baseUrl: "http://acme.test", timezone: "UTC", locale: "en" };
const user = {
  id: 7,
  login: "ann",
  email: null,
  name: "Ann",
  role: "user" as const,
  teamIds: [],
  groupIds: [],
  departmentIds: [],
};

/** Knows the tokens "good" (with the privilege `notes`) and "bare". */
const identify: Identify = async (_host, credential) => {
  const known = credential?.token === "good" || credential?.token === "bare";
  const privileges = new Set(credential?.token === "good" ? ["notes"] : []);
  const viaCookie = credential?.viaCookie === true;
  const caller: Caller | null = known ? { account, user, tokenId: 1, narrowedTo: [], privileges, viaCookie } : null;
  return { account, caller };
};

const Note = Type.Object({
  title: Type.String({ minLength: 1, maxLength: 10 }),
  size: Type.Optional(Type.Integer({ minimum: 0 })),
});
const spec = { summary: "", access: { privilege: "notes" }, responses: {} } as const;
const routes: Route[] = [
  route("GET", "/core/notes", { ...spec, query: { q: "a phrase" } }, ({ query }) => ok({ q: query.get("q") })),
  route("POST", "/core/notes", { ...spec, body: { key: "note", schema: Note } }, ({ body }) => created(body)),
  route("GET", "/core/notes/:id", spec, ({ params }) => ok(params, { etag: '"1"' })),
  route("GET", "/core/notes/:id.md", spec, ({ params }) => text(200, `# ${params.id}`, "text/markdown")),
  route("PATCH", "/core/tagged", spec, () => ok({}, { etag: '"1"' })),
  route("DELETE", "/core/notes/:id", spec, () => noContent()),
  route("GET", "/core/notes/:note_id/lines/:id", spec, ({ params }) => ok(params)),
  route("GET", "/core/page/:code.md", spec, ({ params }) => text(200, params.code, "text/markdown")),
  // As a plugin in JavaScript may answer, which no compiler has checked.
  route("GET", "/core/plain", spec, () => ({ title: "Shelf" }) as never),
  route("GET", "/core/silent", spec, () => undefined as never),
  route("GET", "/core/boom", spec, () => {
    throw new Error("secret detail");
  }),
  route("POST", "/core/wrapped", { ...spec, errors: "wrapped" }, () => {
    throw invalid({ code: ["is already taken"] });
  }),
  route(
    "POST",
    "/core/open/:code",
    { summary: "", access: { open: "a test" }, cors: true, input: "any", responses: {} },
    ({ caller, body }) => ok({ signedIn: caller !== null, body }),
  ),
  route(
    "POST",
    "/core/ask/:what",
    { summary: "", access: { open: "a test" }, input: "any", reads: ({ what }) => what === "list", responses: {} },
    ({ caller }) => ok({ signedIn: caller !== null }),
  ),
  route(
    "POST",
    "/core/loose",
    { summary: "", access: { open: "a test" }, input: "any", unstorable: "own", responses: {} },
    ({ body }) => ok(body),
  ),
  route(
    "POST",
    "/core/slow",
    { summary: "", access: { open: "a test" }, input: "stream", responses: {} },
    ({ request: { signal } }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as DOMException));
      }),
  ),
  route("PATCH", "/core/me", { summary: "", access: { signedIn: "a test" }, responses: {} }, ({ caller }) =>
    ok(caller.user.login),
  ),
];
const keyed: KeyedRequest[] = [];
const idempotency: Idempotency = {
  once: async (request, run) => {
    keyed.push(request);
    return run();
  },
};
const logged: string[] = [];
const handle = mountHttp(
  {
    routes,
    identify,
    idempotency,
    log: createLog("info", (line) => logged.push(line)),
    metrics: createMetrics(),
    notice: () => {},
    maxBodyBytes: 1000,
    secrets: { verify: () => undefined },
    trustedProxies: [],
    peer: () => ({ address: "203.0.113.9", secure: false }),
  },
  [{ path: "/health", summary: "", responses: {}, run: () => ok({ status: "ok" }) }],
);
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: handle });
afterAll(() => server.stop(true));

async function send(method: string, path: string, init: RequestInit & { token?: string } = {}) {
  const { token = "good", headers, ...rest } = init;
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    ...rest,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...(headers as {}) },
  });
  const body = await response.text();
  return { status: response.status, body, headers: response.headers };
}

describe("addresses", () => {
  const cases: [string, number, string][] = [
    ["/core/notes?q=a%20b", 200, '{"q":"a b"}'],
    ["/core/notes.json?q=x", 200, '{"q":"x"}'],
    ["/core/notes/12", 200, '{"id":"12"}'],
    ["/core/notes/12.json", 200, '{"id":"12"}'],
    ["/core/notes/12.md", 200, "# 12"],
    ["/core/notes/a.b", 200, '{"id":"a.b"}'],
    ["/core/notes/a%2Fb", 200, '{"id":"a/b"}'],
    ["/core/notes/%00", 200, '{"id":"\\u0000"}'],
    ["/core/notes/5/lines/6.json", 200, '{"note_id":"5","id":"6"}'],
    ["/core/page/x.md", 200, "x"],
    ["/core/page/x", 404, '{"error":"not found"}'],
    ["/core/page/x.json", 404, '{"error":"not found"}'],
    ["/core/nothing", 404, '{"error":"not found"}'],
    ["/core/boom/../../etc/passwd", 404, '{"error":"not found"}'],
    ["/health", 200, '{"status":"ok"}'],
  ];
  test.each(cases)("GET %s answers %d %s", async (path, status, body) => {
    expect(await send("GET", path)).toMatchObject({ status, body });
  });

  test("a host of one letter is as good as another", async () => {
    const headers = { host: "x", authorization: "Bearer good", "content-type": "application/json" };
    const address = `http://127.0.0.1:${server.port}/core/notes`;
    expect((await fetch(`${address}/12`, { headers })).status).toBe(200);
    const made = await fetch(address, { method: "POST", headers, body: '{"note":{"title":"x"}}' });
    expect(await made.json()).toEqual({ title: "x" });
  });

  test("a malformed escape is no server error", async () => {
    expect((await send("GET", "/core/notes/%zz")).status).toBeLessThan(500);
  });

  test("a known address with another method is 405 with Allow", async () => {
    const answer = await send("PUT", "/core/notes/12");
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("GET, DELETE");
  });

  test.each(["POST", "PUT", "PATCH", "DELETE"])("%s of what only answers is 405 with Allow", async (method) => {
    const answer = await send(method, "/health");
    expect([answer.status, answer.body]).toEqual([405, '{"error":"use GET or HEAD"}']);
    expect(answer.headers.get("allow")).toBe("GET, HEAD");
  });

  test("a slash at the end changes neither HEAD nor what other methods are told", async () => {
    expect((await send("HEAD", "/core/notes/12/")).status).toBe(200);
    expect((await send("PUT", "/core/notes/12/")).headers.get("allow")).toBe("GET, DELETE");
    expect((await send("POST", "/health/")).headers.get("allow")).toBe("GET, HEAD");
    expect((await send("PUT", "/")).status).toBe(404);
  });

  test("HEAD answers like GET, without the body", async () => {
    expect(await send("HEAD", "/core/notes/12")).toMatchObject({ status: 200, body: "" });
    expect(await send("HEAD", "/health")).toMatchObject({ status: 200, body: "" });
  });

  test("two routes of one address are refused at start", () => {
    const twice = [...routes, ...routes];
    expect(() =>
      mountHttp(
        {
          routes: twice,
          identify,
          idempotency,
          log: createLog("error"),
          metrics: createMetrics(),
          notice: () => {},
          maxBodyBytes: 1,
          secrets: { verify: () => undefined },
          trustedProxies: [],
          peer: () => ({ address: "", secure: false }),
        },
        [],
      ),
    ).toThrow("two routes answer GET /core/notes");
  });
});

describe("who may", () => {
  test.each([
    ["a wrong token", "wrong", "GET", "/core/notes", 401],
    ["a token without the privilege", "bare", "GET", "/core/notes", 403],
    ["sign-in is enough where it is", "bare", "PATCH", "/core/me", 200],
    ["an open route takes anybody", "wrong", "POST", "/core/open/x", 200],
  ])("%s", async (_name, token, method, path, status) => {
    expect((await send(method, path, { token })).status).toBe(status);
  });

  test("401 says how to sign in, and is decided before the body is looked at", async () => {
    const answer = await send("POST", "/core/notes", { token: "wrong", body: "{" });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
  });

  test.each([
    ["neither header", {}, 403],
    ["the same origin", { "sec-fetch-site": "same-origin" }, 200],
    ["another site", { "sec-fetch-site": "cross-site" }, 403],
    ["another origin", { origin: "https://evil.example" }, 403],
    ["a null origin", { origin: "null" }, 403],
    [
      "same-site by header but another origin",
      { "sec-fetch-site": "same-origin", origin: "https://evil.example" },
      403,
    ],
  ])("a change with the session cookie from %s", async (_name, headers, status) => {
    const response = await fetch(`http://127.0.0.1:${server.port}/core/me`, {
      method: "PATCH",
      headers: { cookie: "core_session=good", ...(headers as Record<string, string>) },
    });
    expect(response.status).toBe(status);
    if (status === 403) expect(await response.text()).toContain("as its header `Origin` says");
  });

  test.each([
    ["list", {}, 200],
    ["list", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }, 200],
    ["create", {}, 403],
    ["list.json", {}, 200],
    ["list.create", {}, 403],
  ])(
    "a POST of %s with the session cookie and %p is %d, as the route says what only reads",
    async (what, from, status) => {
      const response = await fetch(`http://127.0.0.1:${server.port}/core/ask/${what}`, {
        method: "POST",
        headers: { cookie: "core_session=good", ...(from as Record<string, string>) },
      });
      expect(response.status).toBe(status);
    },
  );
});

describe("an Origin", () => {
  test.each([
    ["https://acme.test", "https://acme.test", "acme.test", true],
    ["http://acme.test", "https://acme.test", "acme.test", false],
    ["http://acme.test.", "https://acme.test", "acme.test", false],
    ["https://acme.test.", "https://acme.test", "acme.test", true],
    ["https://acme.test:8443", "https://acme.test:8443", "acme.test:8443", true],
    ["http://acme.test:8443", "https://acme.test:8443", "acme.test:8443", false],
    // Without BASE_URL, behind a proxy that does TLS or not, and on another name of this machine.
    ["https://acme.test", "http://127.0.0.1:3000", "acme.test", true],
    ["http://acme.test", "http://127.0.0.1:3000", "acme.test", true],
    ["http://localhost:3000", "https://acme.test", "localhost:3000", true],
    ["https://acme.test", "http://acme.test", "acme.test", true],
    ["https://evil.test", "https://acme.test", "acme.test", false],
    ["null", "https://acme.test", "acme.test", false],
  ])("%s of the account at %s on the host %s: %p", (origin, baseUrl, host, same) => {
    expect(fromSameOrigin(new Headers({ origin }), host, { ...account, baseUrl })).toBe(same);
  });
});

test("an Origin that is the guessed address of this machine counts only where that was asked", () => {
  const headers = new Headers({ origin: "http://localhost:3000" });
  const guessed = { ...account, baseUrl: "http://localhost:3000", isGuess: true };
  expect(fromSameOrigin(headers, "evil.test", guessed)).toBe(false);
  expect(fromSameOrigin(headers, "localhost:3000", guessed)).toBe(true);
  expect(fromSameOrigin(headers, "upstream", { ...guessed, isGuess: false })).toBe(true);
});

describe("bodies", () => {
  const deep = "[".repeat(10_000) + "]".repeat(10_000);
  test.each([
    ["no JSON", "{", 400],
    ["no object", "[]", 400],
    ["without the key", '{"title":"x"}', 400],
    ["a key that is no object", '{"note":[]}', 400],
    ["another key through the prototype", '{"__proto__":{"note":{"title":"x"}}}', 400],
    ["too deep", `{"note":{"title":${deep.slice(0, 400)}}}`, 400],
    ["too large", JSON.stringify({ note: { title: "x".repeat(2000) } }), 413],
    ["good", '{"note":{"title":"x","other":1,"__proto__":{"size":5}}}', 201],
  ])("%s", async (_name, body, status) => {
    expect((await send("POST", "/core/notes", { body })).status).toBe(status);
  });

  test.each([
    ["{}", { title: ["is required"] }],
    ['{"title":""}', { title: ["can't be blank"] }],
    ['{"title":5}', { title: ["must be a string"] }],
    ['{"title":"12345678901"}', { title: ["may have at most 10 characters"] }],
    ['{"title":"x","size":-1}', { size: ["must be at least 0"] }],
    ['{"title":"x","size":1.5}', { size: ["must be a whole number"] }],
    ['{"title":"a\\u0000b"}', { title: ["has a character that cannot be stored"] }],
    ['{"title":1e400}', { title: ["is a number too large to be kept"] }],
    [`{"title":${"9".repeat(250)}e60}`, { title: ["is a number too large to be kept"] }],
    ['{"title":"\\ud800"}', { title: ["has a character that cannot be stored"] }],
  ])("%s is 422 by field", async (note, fields) => {
    const answer = await send("POST", "/core/notes", { body: `{"note":${note}}` });
    expect(answer.status).toBe(422);
    expect(JSON.parse(answer.body)).toEqual(fields);
  });

  test.each([
    ["a field that no schema knows", '{"note":{"title":"x","more":["\\u0000",{"\\ud800":1e400}]}}'],
    ["what stands beside the body's key", '{"note":{"title":"x"},"more":"\\u0000","\\u0000":1e400}'],
  ])("%s is ignored, whatever it holds", async (_name, body) => {
    const answer = await send("POST", "/core/notes", { body });
    expect([answer.status, answer.body]).toEqual([201, '{"title":"x"}']);
  });

  test.each([
    ['{"city":"\\u0000"}', { city: ["has a character that cannot be stored"] }],
    ['{"a":{"b":["\\ud800"]}}', { a: ["b.0 has a character that cannot be stored"] }],
    ['{"a":{"\\u0000":1}}', { a: ["has a character that cannot be stored"] }],
    ["[1e400]", { 0: ["is a number too large to be kept"] }],
    ['"\\u0000"', { base: ["has a character that cannot be stored"] }],
  ])("%s is 422 by field where any JSON is taken", async (body, fields) => {
    const answer = await send("POST", "/core/open/x", { body });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([422, fields]);
  });

  test("a route that looks at it itself is given all of it", async () => {
    expect((await send("POST", "/core/loose", { body: '{"a":"\\u0000"}' })).body).toBe('{"a":"\\u0000"}');
    expect((await send("POST", "/core/loose", { body: "{" })).status).toBe(400);
  });

  test("a surrogate pair by escapes is a character like any other", async () => {
    expect((await send("POST", "/core/notes", { body: '{"note":{"title":"\\ud83d\\ude00"}}' })).status).toBe(201);
  });

  test("invalid UTF-8 is refused, not replaced", async () => {
    const body = new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]);
    expect((await send("POST", "/core/notes", { body })).status).toBe(400);
  });

  test("another content type is 415", async () => {
    expect((await send("POST", "/core/notes", { body: "a=b", headers: { "content-type": "text/plain" } })).status).toBe(
      415,
    );
  });

  test("a chunked body is cut at the limit too", async () => {
    const body = new ReadableStream({
      start(controller) {
        for (let n = 0; n < 100; n++) controller.enqueue(new TextEncoder().encode(" ".repeat(100)));
        controller.close();
      },
    });
    expect((await send("POST", "/core/notes", { body })).status).toBe(413);
  });

  test("an area that wraps its errors wraps them", async () => {
    expect(JSON.parse((await send("POST", "/core/wrapped")).body)).toEqual({ errors: { code: ["is already taken"] } });
  });
});

describe("an Idempotency-Key", () => {
  const headers = { "idempotency-key": "k" };
  test.each([
    ["/core/notes", '{"note":{"title":"x", "size": 1}}', 'POST /core/notes {"title":"x","size":1}'],
    ["/core/open/x?a=1", '{"b": 2}', 'POST /core/open/x?a=1 {"b":2}'],
    ["/core/wrapped", undefined, "POST /core/wrapped undefined"],
  ])("of a POST to %s belongs to its token and to %p", async (path, body, content) => {
    keyed.length = 0;
    await send("POST", path, { headers, ...(body && { body }) });
    expect(keyed).toEqual([{ accountId: 1, principal: "token:1", key: "k", content, claim: false }]);
  });

  test("of another method, or of nobody, is none", async () => {
    keyed.length = 0;
    await send("PATCH", "/core/me", { headers });
    await send("POST", "/core/open/x", { headers, token: "wrong" });
    expect(keyed).toEqual([]);
  });
});

describe("answers", () => {
  test("an unforeseen error is a bare 500, and the log has the reason under the request's id", async () => {
    const answer = await send("GET", "/core/boom", { headers: { "x-request-id": "my-request-1" } });
    expect(answer.status).toBe(500);
    expect(answer.body).not.toContain("secret detail");
    expect(answer.headers.get("x-request-id")).toBe("my-request-1");
    expect(logged.join("")).toContain('"request_id":"my-request-1"');
    expect(logged.join("")).toContain("secret detail");
  });

  test.each(["/core/plain", "/core/silent"])("what is no reply is a 500 that the log explains: %s", async (path) => {
    expect((await send("GET", path)).status).toBe(500);
    expect(logged.join("")).toContain(`the handler of GET ${path} must return ok(`);
  });

  test.each([
    ["before its body is there", "/core/loose", "content-length: 900\r\n\r\n{"],
    ["between the chunks of its body", "/core/loose", "transfer-encoding: chunked\r\n\r\n5\r\n{"],
    ["while the server works for it", "/core/slow", "content-length: 2\r\n\r\n{}"],
  ])("a client that hangs up %s is no failure of the server", async (when, path, rest) => {
    const id = `hung-up-${when.replaceAll(" ", "-")}`;
    const socket = await Bun.connect({ hostname: "127.0.0.1", port: server.port ?? 0, socket: { data: () => {} } });
    const head = [
      "host: x.test",
      `x-request-id: ${id}`,
      "authorization: Bearer good",
      "content-type: application/json",
    ];
    socket.write(`POST ${path} HTTP/1.1\r\n${head.join("\r\n")}\r\n${rest}`);
    socket.flush();
    await eventually(() => server.pendingRequests > 0, "the request's arrival");
    socket.end();
    const line = await eventually(() => logged.find((one) => one.includes(id)), "the request's end in the log");
    expect(JSON.parse(line)).toMatchObject({ level: "info", status: 400 });
  });

  test.each(['"1"', 'W/"1"', '"0", "1"', '"0",W/"1" , "2"', "*"])("If-None-Match: %s is 304", async (tags) => {
    const answer = await send("GET", "/core/notes/1", { headers: { "if-none-match": tags } });
    expect(answer).toMatchObject({ status: 304, body: "" });
    expect(answer.headers.get("etag")).toBe('"1"');
  });

  test.each(['"2"', "1", '"*"', '"0", "2"', '"', ""])("If-None-Match: %s is 200", async (tags) => {
    expect((await send("GET", "/core/notes/1", { headers: { "if-none-match": tags } })).status).toBe(200);
  });

  test("If-None-Match turns no answer of a change into a 304", async () => {
    expect((await send("PATCH", "/core/tagged", { headers: { "if-none-match": "*" } })).status).toBe(200);
  });

  test("an open route answers a preflight of any origin, others do not", async () => {
    const open = await send("OPTIONS", "/core/open/x");
    expect(open.status).toBe(204);
    expect(open.headers.get("access-control-allow-origin")).toBe("*");
    expect((await send("OPTIONS", "/core/notes")).headers.get("access-control-allow-origin")).toBeNull();
  });

  test("every answer has the security headers", async () => {
    for (const path of ["/core/notes", "/core/nothing", "/health"]) {
      const { headers } = await send("GET", path);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    }
  });
});
