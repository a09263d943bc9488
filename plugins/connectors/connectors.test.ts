import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { otherAccount, person, startTestApp, type TestApp } from "../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../tests/receiver.ts";
import { plugins } from "../index.ts";
import { connectors } from "./api.ts";

let app: TestApp;
let remote: Receiver;
const secret = "sk_live_0123456789abcdef";

beforeAll(async () => {
  app = await startTestApp({ plugins, env: { CONNECTOR_PUBLIC_LIMIT: "5" } });
  remote = startReceiver();
});
beforeEach(() => {
  remote.requests.length = 0;
  remote.answer = () => Response.json({ ok: true });
});
afterAll(async () => {
  await app.stop();
  await remote.stop();
});

let made = 0;
async function connector(methods: object, fields: object = {}): Promise<string> {
  const code = `connector-${++made}`;
  const given = { name: code, code, url: remote.url, secret_token: secret, fields: { methods }, ...fields };
  expect((await app.post("/connect/connectors.json", { connector: given })).status).toBe(201);
  return code;
}
const call = (code: string, method: string, params: object = {}, options?: object) =>
  app.post(`/connect/connectors/${code}/${method}`, params, options);

describe("a connector", () => {
  test("takes null in its fields as what is left out", async () => {
    const go = { method: null, path: "/go", query: null, headers: null, body: null, public: null, timeout: null };
    const code = await connector({}, { fields: { methods: { go }, auth: { in: null, name: null, prefix: null } } });
    expect((await call(code, "go")).status).toBe(200);
    expect(remote.requests[0]?.method).toBe("GET");
    expect(remote.requests[0]?.headers.get("authorization")).toBe(`Bearer ${secret}`);
    expect((await call(code, "go", {}, { token: null })).status).toBe(401);
    await connector({}, { fields: { methods: null, auth: null } });
  });

  test("names keys of its fields that nobody reads", async () => {
    const kinds = [
      [{ method: { go: {} } }, '"fields.method": did you mean "methods"?'],
      [{ methods: { go: { metod: "POST" } } }, '"fields.methods.go.metod": did you mean "method"?'],
      [{ auth: { perfix: "Token" } }, '"fields.auth.perfix": did you mean "prefix"?'],
    ] as const;
    for (const [fields, hint] of kinds) {
      const given = { name: "Hinted", url: remote.url, fields };
      const answer = await app.post("/connect/connectors.json", { connector: given });
      expect([answer.status, answer.headers.get("warning")]).toEqual([
        201,
        expect.stringContaining(hint.replaceAll('"', String.raw`\"`)),
      ]);
      const changed = await app.patch(`/connect/connectors/${answer.json.id}.json`, { connector: { fields } });
      expect(changed.headers.get("warning")).toBe(answer.headers.get("warning"));
    }
    const smtp = {
      name: "M",
      kind: "core/smtp",
      url: "smtp://m.example.com",
      fields: { from: "a@example.com", tsl: "none" },
    };
    expect((await app.post("/connect/connectors.json", { connector: smtp })).headers.get("warning")).toContain(
      "fields.tsl",
    );
  });

  test("tells its methods with the parameters that a call fills in, and those of its kind", async () => {
    const code = await connector({
      search: {
        path: "/find/{id}",
        query: { q: "{words}", "{key}": 1 },
        headers: { "X-Id": "{id}" },
        description: "Finds",
      },
      notify: { method: "POST", path: "/notify", body: { text: "{event.data.name} {n}" }, public: true },
    });
    const path = `/connect/connectors/${code}/methods.json`;
    const list = await app.get(path);
    expect([list.status, list.headers.get("x-total-count"), list.json]).toEqual([
      200,
      "2",
      [
        { name: "search", description: "Finds", parameters: ["id", "words", "key"], public: false },
        { name: "notify", description: null, parameters: ["event", "n"], public: true },
      ],
    ]);
    expect((await app.get(`${path}?limit=1&offset=1`)).json).toEqual([list.json[1]]);
    const mail = { name: "M", code: "m-methods", kind: "core/smtp", url: "smtp://mail.example.com" };
    await app.post("/connect/connectors.json", { connector: mail });
    expect((await app.get("/connect/connectors/m-methods/methods.json")).json).toEqual([
      { name: "send", description: null, parameters: ["to", "subject", "text"], public: false },
    ]);
    expect((await app.get("/connect/connectors/nowhere/methods.json")).status).toBe(404);
    const { token } = await person(app, { role: "user" });
    expect((await app.get(path, { token })).status).toBe(403);
  });

  test("of another account has no methods to be seen", async () => {
    const code = await connector({ mine: { path: "/" } });
    const other = await otherAccount(app);
    const answer = await other.get(`/connect/connectors/${code}/methods.json`);
    expect(answer.status).toBe(404);
  });

  test("form learns from the API's description what each kind holds", async () => {
    const { json } = await app.get("/openapi.json");
    const body = json.paths["/connect/connectors.json"].post.requestBody.content["application/json"].schema;
    const { kind, fields } = body.properties.connector.properties;
    expect(kind["x-choices"]).toEqual([
      { values: ["core/custom_connector", "core/smtp", "core/postgres", "core/llm"] },
    ]);
    expect(fields["x-by"].field).toBe("kind");
    expect(Object.keys(fields["x-by"].schemas["core/smtp"].properties)).toContain("from");
    expect(fields["x-by"].schemas["core/smtp"].properties.tls.enum).toEqual(["required", "optional", "none"]);
  });

  test("is made, shown, listed, changed and deleted, its secret never shown", async () => {
    const given = {
      name: "Pogoda Łódź",
      url: "https://api.test/v1",
      secret_token: secret,
      fields: { methods: {}, note: 1 },
    };
    const answer = await app.post("/connect/connectors.json", { connector: given });
    expect([answer.status, answer.json]).toMatchObject([
      201,
      {
        code: "pogoda-lodz",
        kind: "core/custom_connector",
        active: true,
        secret_token_info: "sk_l...cdef",
        fields: given.fields,
      },
    ]);
    const again = await app.post("/connect/connectors.json", { connector: given });
    expect(again.json.code).toBe("pogoda-lodz-2");
    const path = `/connect/connectors/${answer.json.id}.json`;
    expect((await app.get(path)).json).toEqual(answer.json);
    expect((await app.get("/connect/connectors/pogoda-lodz.json")).json).toEqual(answer.json);
    const list = await app.get("/connect/connectors.json?q=pogoda");
    expect([list.json.length, list.headers.get("x-total-count")]).toEqual([2, "2"]);
    const changed = await app.patch(path, { connector: { name: "Weather", secret_token: null } });
    expect([changed.status, changed.json]).toMatchObject([
      200,
      { name: "Weather", code: "pogoda-lodz", secret_token_info: null },
    ]);
    expect(`${answer.text}${list.text}${changed.text}`).not.toContain(secret);
    const [row] = await app.sql`select secret_token from connectors where code = 'pogoda-lodz-2'`;
    expect(row?.["secretToken"]).not.toContain(secret);
    expect((await app.delete(path)).status).toBe(204);
    expect((await app.get(path)).status).toBe(404);
    expect((await app.delete(path)).status).toBe(404);
  });

  test("is refused with every mistake named", async () => {
    const wrong: [connector: object, field: string, text: string][] = [
      [{ url: "https://a.test" }, "name", "is required"],
      [{ name: 7, url: "https://a.test" }, "name", "must be a string"],
      [{ name: "x" }, "url", "can't be blank"],
      [{ name: "x", url: "ftp://a.test" }, "url", "http"],
      [{ name: "x", url: "https://u:p@a.test" }, "url", "user name"],
      [{ name: "x", url: "not an address" }, "url", "absolute"],
      [{ name: "x", url: "https://a.test", kind: "core/nothing" }, "kind", "core/custom_connector"],
      [{ name: "x", url: "https://a.test", code: crypto.randomUUID() }, "code", "form of an id"],
      [{ name: "x", url: "https://a.test", code: "a/b" }, "code", "letters"],
      [{ name: "x", url: "https://a.test", secret_token: "a\nb" }, "secret_token", "one line"],
      [{ name: "x", url: "https://a.test", secret_token: 7 }, "secret_token", "must be"],
      [{ name: "x", url: "https://a.test", fields: "x" }, "fields", "must be"],
      [{ name: "x", url: "https://a.test", active: 1 }, "active", "true or false"],
      ...(
        [
          [{ methods: [] }, "methods must be"],
          [{ methods: { "a b": {} } }, "name is letters"],
          [{ methods: { m: 7 } }, "methods.m must be"],
          [{ methods: { m: { method: "TRACE" } } }, "methods.m.method"],
          [{ methods: { m: { method: 7 } } }, "methods.m.method"],
          [{ methods: { m: { path: "//evil.test/x" } } }, "methods.m.path"],
          [{ methods: { m: { path: "https://evil.test/x" } } }, "methods.m.path"],
          [{ methods: { m: { path: "/a/../b" } } }, "methods.m.path"],
          [{ methods: { m: { path: "/a/%2E%2e/b" } } }, "methods.m.path"],
          [{ methods: { m: { path: "/a\\b" } } }, "methods.m.path"],
          [{ methods: { m: { path: "/a b" } } }, "methods.m.path"],
          [{ methods: { m: { path: 7 } } }, "methods.m.path"],
          [{ methods: { m: { query: [] } } }, "methods.m.query"],
          [{ methods: { m: { headers: { "a b": "x" } } } }, "methods.m.headers"],
          [{ methods: { m: { headers: { Host: "x" } } } }, "methods.m.headers"],
          [{ methods: { m: { headers: { "x-a": "a\r\nb: c" } } } }, "methods.m.headers.x-a"],
          [{ methods: { m: { headers: { "x-a": {} } } } }, "methods.m.headers.x-a"],
          [{ methods: { m: { body: {} } } }, "methods.m.body"],
          [{ methods: { m: { method: "POST", body: 7 } } }, "methods.m.body"],
          [{ methods: { m: { public: "yes" } } }, "methods.m.public"],
          [{ methods: { m: { timeout: 61 } } }, "methods.m.timeout"],
          [{ auth: [] }, "auth must be"],
          [{ auth: { in: "body" } }, "auth.in"],
          [{ auth: { in: "query" } }, "auth.name"],
          [{ auth: { name: "a b" } }, "auth.name"],
          [{ auth: { prefix: "a\nb" } }, "auth.prefix"],
        ] as [object, string][]
      ).map(([fields, text]): [object, string, string] => [
        { name: "x", url: "https://a.test", fields },
        "fields",
        text,
      ]),
    ];
    for (const [given, name, text] of wrong) {
      const answer = await app.post("/connect/connectors.json", { connector: given });
      expect([given, answer.status, Object.keys(answer.json ?? {})]).toEqual([given, 422, [name]]);
      expect(answer.json[name].join("; ")).toContain(text);
    }
    const code = await connector({});
    expect(
      (await app.post("/connect/connectors.json", { connector: { name: "x", code, url: "https://a.test" } })).json,
    ).toEqual({ code: ["is already taken"] });
  });

  test("sends its kept secret to no new address", async () => {
    const code = await connector({ get: { path: "/x" } });
    const path = `/connect/connectors/${code}.json`;
    const { port } = new URL(remote.url);
    const patch = (change: object) => app.patch(path, { connector: change });
    for (const url of [
      `http://localhost:${port}`,
      `https://127.0.0.1:${port}`,
      "http://127.0.0.1:1",
      "https://evil.test",
    ]) {
      const answer = await patch({ url });
      expect([url, answer.status, Object.keys(answer.json)]).toEqual([url, 422, ["secret_token"]]);
    }
    expect((await app.get(path)).json.url).toBe(remote.url);
    expect((await patch({ url: `${remote.url}/v2` })).status).toBe(200);
    expect((await patch({ url: `http://127.0.0.1:1`, secret_token: "the key of the new one" })).status).toBe(200);
    expect((await patch({ url: remote.url, secret_token: null })).status).toBe(200);
    expect((await patch({ url: "https://anywhere.test" })).status).toBe(200);
    for (const [url, moved] of [
      ["smtp://mail.test:25", "smtp://evil.test:25"],
      ["smtp://mail.test:25", "smtps://mail.test:25"],
      ["smtp://mail.test:25", "smtp://mail.test:26"],
    ]) {
      const given = { name: "Mail", kind: "core/smtp", url, secret_token: secret, fields: { user: "u" } };
      const { json } = await app.post("/connect/connectors.json", { connector: given });
      const answer = await app.patch(`/connect/connectors/${json.id}.json`, { connector: { url: moved } });
      expect([moved, answer.status, Object.keys(answer.json)]).toEqual([moved, 422, ["secret_token"]]);
    }
  });

  test("of another account is 404", async () => {
    const code = await connector({ m: { path: "/" } });
    const { id } = (await app.get(`/connect/connectors/${code}.json`)).json;
    const other = await otherAccount(app);
    expect((await other.get(`/connect/connectors/${id}.json`)).status).toBe(404);
    expect((await other.patch(`/connect/connectors/${id}.json`, { connector: { name: "x" } })).status).toBe(404);
    expect((await other.delete(`/connect/connectors/${id}.json`)).status).toBe(404);
    expect((await other.post(`/connect/connectors/${code}/m`, {})).status).toBe(404);
    expect((await app.get("/connect/connectors/7.json")).status).toBe(404);
  });
});

describe("a call", () => {
  test("fills the method and answers { status, data }", async () => {
    const code = await connector({
      send: {
        method: "post",
        path: "/orders/{id}",
        query: { v: "2" },
        headers: { "X-Tag": "{tag}" },
        body: { n: "{n}" },
      },
    });
    remote.answer = () => Response.json({ id: 9 }, { status: 201 });
    const answer = await call(code, "send", { id: "a/b", tag: "t1", n: 7 });
    expect([answer.status, answer.json]).toEqual([200, { status: 201, data: { id: 9 } }]);
    const [sent] = remote.requests;
    expect([sent?.method, sent?.path, sent?.body]).toEqual(["POST", "/orders/a%2Fb", '{"n":7}']);
    expect(sent?.headers.get("authorization")).toBe(`Bearer ${secret}`);
    expect(sent?.headers.get("x-tag")).toBe("t1");
    expect(sent?.headers.get("content-type")).toContain("application/json");
  });

  test("without a parameter is 422 that names it, and nothing is sent", async () => {
    const code = await connector({ get: { path: "/{a}/{b}" } });
    const answer = await call(code, "get", { a: 1 });
    expect([answer.status, answer.json]).toEqual([422, { b: ["is required"] }]);
    expect(remote.requests).toHaveLength(0);
    expect((await call(code, "get", { a: "..", b: 1 })).status).toBe(422);
    expect((await app.post(`/connect/connectors/${code}/get`, [1])).status).toBe(400);
  });

  test("that the remote refuses, or does not answer, is 502 with what came", async () => {
    const code = await connector({ get: { path: "/x" }, send: { method: "POST", path: "/x" } });
    remote.answer = () => Response.json({ message: `bad ${secret}` }, { status: 404 });
    expect(await call(code, "get")).toMatchObject({
      status: 502,
      json: { error: "the remote answered 404", status: 404, data: { message: "bad [secret]" } },
    });
    remote.answer = () => new Response("oh no", { status: 500 });
    expect(await call(code, "send")).toMatchObject({ status: 502, json: { status: 500, data: "oh no" } });
    const nowhere = await connector({ get: { path: "/" } }, { url: "http://127.0.0.1:1" });
    expect(await call(nowhere, "get")).toMatchObject({
      status: 502,
      json: { error: expect.stringContaining("no connection"), status: null, data: null },
    });
    const forbidden = await connector({ get: { path: "/" } }, { url: "http://169.254.169.254" });
    expect(await call(forbidden, "get")).toMatchObject({
      status: 502,
      json: { error: expect.stringContaining("not a public address"), status: null },
    });
  });

  test("ends at its time limit, and at five megabytes", async () => {
    const code = await connector({ get: { path: "/x", timeout: 0.1 }, big: { path: "/big" } });
    remote.answer = ({ path }) => (path === "/big" ? new Response("x".repeat(5_000_001)) : new Promise(() => {}));
    expect(await call(code, "get")).toMatchObject({
      status: 502,
      json: { error: expect.stringContaining("no complete answer") },
    });
    expect(await call(code, "big")).toMatchObject({
      status: 502,
      json: { error: expect.stringContaining("5000000 bytes"), status: 200 },
    });
  });

  test("tries again after 429 and 503 where that does no harm, and no more than twice", async () => {
    const code = await connector({
      get: { path: "/g" },
      put: { method: "PUT", path: "/p" },
      send: { method: "POST", path: "/s" },
      late: { path: "/late" },
    });
    let refusals = 2;
    remote.answer = ({ path }) => {
      const headers = { "retry-after": path === "/late" ? "3600" : "0" };
      return refusals-- > 0 ? new Response("", { status: 503, headers }) : Response.json("ok");
    };
    expect(await call(code, "get")).toMatchObject({ status: 200, json: { data: "ok" } });
    refusals = 99;
    expect((await call(code, "put")).json.status).toBe(503);
    expect((await call(code, "send")).json.status).toBe(503);
    expect((await call(code, "late")).json.status).toBe(503);
    expect(["/g", "/p", "/s", "/late"].map((path) => remote.at(path).length)).toEqual([3, 3, 1, 1]);
  });

  test("follows redirects within the origin alone, three at most", async () => {
    const code = await connector({ get: { path: "/1" }, away: { path: "/away" } });
    remote.answer = ({ path }) => {
      const to = path === "/away" ? "http://evil.test/" : `/${Number(path.slice(1)) + 1}`;
      return path === "/4" ? Response.json("there") : new Response(null, { status: 302, headers: { location: to } });
    };
    expect(await call(code, "get")).toMatchObject({ status: 200, json: { data: "there" } });
    expect(await call(code, "away")).toMatchObject({
      status: 502,
      json: { error: expect.stringContaining("another origin") },
    });
    remote.answer = ({ path }) =>
      new Response(null, { status: 302, headers: { location: `/${Number(path.slice(1)) + 1}` } });
    expect(await call(code, "get")).toMatchObject({
      status: 502,
      json: { error: expect.stringContaining("redirects") },
    });
  });

  test("reads JSON, text of any charset, nothing, and JSON that nests too deep", async () => {
    const code = await connector({ get: { path: "/x" } });
    const bodies: [body: string, type: string, data: unknown][] = [
      ['{"a":1}', "application/json", { a: 1 }],
      ["[1]", "text/plain", [1]],
      ["{broken", "text/plain", "{broken"],
      ["plain", "text/plain", "plain"],
      ["", "text/plain", null],
      ["7", "application/vnd.api+json", 7],
    ];
    for (const [body, type, data] of bodies) {
      remote.answer = () => new Response(body, { headers: { "content-type": type } });
      expect([body, (await call(code, "get")).json]).toEqual([body, { status: 200, data }]);
    }
    const polish: [bytes: number[], type: string][] = [
      [[0xbf, 0xf3, 0xb3, 0x77], "text/plain; charset=ISO-8859-2"],
      [[0xbf, 0xf3, 0xb3, 0x77], 'text/plain;charset="windows-1250"'],
      [[0xc5, 0xbc, 0xc3, 0xb3, 0xc5, 0x82, 0x77], "text/plain; charset=no-such-one"],
    ];
    for (const [bytes, type] of polish) {
      remote.answer = () => new Response(new Uint8Array(bytes), { headers: { "content-type": type } });
      expect([type, (await call(code, "get")).json.data]).toEqual([type, "żółw"]);
    }
    const broken = { headers: { "content-type": "application/json" } };
    remote.answer = () => new Response("<html>", broken);
    expect(await call(code, "get")).toMatchObject({
      status: 502,
      json: { error: expect.stringContaining("is not JSON"), status: 200, data: "<html>" },
    });
    remote.answer = () => new Response("[".repeat(1000) + "]".repeat(1000));
    expect(await call(code, "get")).toMatchObject({
      status: 502,
      json: { error: expect.stringContaining("nests deeper") },
    });
  });

  test("names the parameters that the method has no place for", async () => {
    const methods = {
      find: { method: "GET", path: "/find/{id}", query: { q: "{who.name}" } },
      remove: { method: "DELETE", path: "/x" },
      note: { method: "POST", path: "/x", body: { text: "{text}" } },
      send: { method: "POST", path: "/x" },
    };
    const code = await connector(methods);
    const cases: [method: string, params: object, hint: string | null][] = [
      ["find", { id: 1, who: { name: "a" } }, null],
      ["find", { id: 1, who: { name: "a" }, idd: 2 }, 'has no place for the parameter "idd": did you mean "id"?'],
      ["remove", { id: 1 }, 'the method "remove" has no place for the parameter "id": none is known here'],
      ["note", { text: "a", txt: "b" }, 'did you mean "text"?'],
      ["send", { anything: "a" }, null],
    ];
    for (const [method, params, hint] of cases) {
      const expected = hint === null ? null : expect.stringContaining(hint);
      const answers = [
        await call(code, method, params),
        await app.post(`/connect/connectors/${code}/methods/${method}/try.json`, { params }),
      ];
      const told = answers.map(({ headers }) => headers.get("warning")?.replaceAll("\\", "") ?? null);
      expect([method, ...told]).toEqual([method, expected, expected]);
    }
  });

  test("without sign-in only where the method is public, and not too often", async () => {
    const code = await connector({ open: { path: "/o", public: true }, closed: { path: "/c" } });
    const { token } = await person(app, { role: "user" });
    expect((await call(code, "closed", {}, { token: null })).status).toBe(401);
    expect((await call(code, "closed", {}, { token })).status).toBe(403);
    expect((await call(code, "nothing", {}, { token: null })).status).toBe(404);
    expect((await call("nobody", "open", {}, { token: null })).status).toBe(404);
    expect((await call(code, "open", {}, { token })).status).toBe(200);
    const answers = await Promise.all(Array.from({ length: 9 }, () => call(code, "open", {}, { token: null })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
    const refused = answers.find(({ status }) => status === 429);
    expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(0);
    await app.patch(`/connect/connectors/${code}.json`, { connector: { active: false } });
    expect((await call(code, "open", {}, { token: null })).status).toBe(404);
    expect((await call(code, "closed")).status).toBe(404);
  });

  test("of a public method are limited for each client: an IPv6 address counts by its /64", async () => {
    const code = await connector({ open: { path: "/open", public: true } });
    const proxied = await startTestApp({
      plugins,
      target: app.target,
      env: { CONNECTOR_PUBLIC_LIMIT: "5", TRUSTED_PROXIES: "127.0.0.1" },
    });
    const from = async (ip: string) => {
      const options = { token: null, headers: { "x-forwarded-for": ip } };
      return (await proxied.post(`/connect/connectors/${code}/open`, {}, options)).status;
    };
    for (let at = 0; at < 5; at++) expect(await from(`2001:db8:1:2::${at}`)).toBe(200);
    expect([await from("2001:db8:1:2:9::9"), await from("2001:db8:1:3::1")]).toEqual([429, 200]);
    await proxied.stop();
  });

  test("uses what was changed at once", async () => {
    const code = await connector({ get: { path: "/old" } });
    await call(code, "get");
    await app.patch(`/connect/connectors/${code}.json`, {
      connector: {
        secret_token: "another-secret-token",
        fields: { methods: { get: { path: "/new" } }, auth: { name: "X-Key" } },
      },
    });
    await call(code, "get");
    expect(
      remote.requests.map(({ path, headers }) => [path, headers.get("authorization"), headers.get("x-key")]),
    ).toEqual([
      ["/old", `Bearer ${secret}`, null],
      ["/new", null, "another-secret-token"],
    ]);
  });
});

test("an event goes to the method named like its kind, else `default`, else the first; the record is its body", async () => {
  const service = app.service(connectors);
  const event = (kind: string) => ({ source_type: "Core::Record", kind, data: { id: "7", n: 1 } });
  const code = await connector({
    first: { method: "POST", path: "/first/{event.kind}" },
    create: { method: "POST", path: "/create/{id}", body: { n: "{n}" } },
  });
  expect(
    await service.callForEvent({ accountId: 1, code, event: event("create"), idempotencyKey: "k1" }),
  ).toMatchObject({ ok: true, status: 200, error: null });
  expect(await service.callForEvent({ accountId: 1, code, event: event("update") })).toMatchObject({ ok: true });
  const withDefault = await connector({ first: { path: "/first" }, default: { method: "POST", path: "/default" } });
  await service.callForEvent({ accountId: 1, code: withDefault, event: event("update") });
  expect(remote.requests.map(({ path, body }) => [path, body])).toEqual([
    ["/create/7", '{"n":1}'],
    ["/first/update", '{"id":"7","n":1}'],
    ["/default", '{"id":"7","n":1}'],
  ]);
  expect(remote.requests[0]?.headers.get("idempotency-key")).toBe("k1");
  const needy = await connector({ create: { path: "/{missing}" } });
  expect(await service.callForEvent({ accountId: 1, code: needy, event: event("create") })).toMatchObject({
    ok: false,
    status: null,
    error: "missing is required",
  });
  expect(await service.callForEvent({ accountId: 2, code, event: event("create") })).toBeUndefined();
  expect(
    await service.callForEvent({ accountId: 1, code: await connector({}), event: event("create") }),
  ).toBeUndefined();
});

test("secrets are in no log line", () => {
  expect(app.logged.join("")).not.toContain(secret);
});
