/** Trying a method: the request beside the answer, and the secret in neither. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { otherAccount, person, startTestApp, type TestApp } from "../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../tests/receiver.ts";

let app: TestApp;
let remote: Receiver;
const secret = "sk/live 0123456789";
const methods = {
  find: { method: "GET", path: "/find/{place}", query: { q: "{word}" }, headers: { "X-Note": "{note}" } },
  order: { method: "POST", path: "/order", body: { id: "{id}", note: "for {id}" } },
};

beforeAll(async () => {
  remote = startReceiver();
  remote.answer = ({ path, headers }) =>
    Response.json({ echoed: headers.get("authorization"), path }, { status: path === "/order" ? 409 : 200 });
  app = await startTestApp();
  for (const [code, fields] of [
    ["shop", { methods }],
    ["keyed", { methods, auth: { in: "query", name: "key" } }],
  ] as const) {
    const connector = { name: code, code, url: remote.url, secret_token: secret, fields };
    expect((await app.post("/connect/connectors.json", { connector })).status).toBe(201);
  }
});
afterAll(async () => {
  await app.stop();
  await remote.stop();
});

const at = (code: string, method: string) => `/connect/connectors/${code}/methods/${method}/try.json`;

test("a trial shows the request and the answer, without the secret", async () => {
  const params = { place: "a b", word: "x&y", note: "hello" };
  const { status, json, text } = await app.post(at("shop", "find"), { params });
  expect([status, json]).toEqual([
    200,
    {
      ok: true,
      status: 200,
      data: { echoed: "Bearer [secret]", path: "/find/a%20b" },
      error: null,
      duration_ms: expect.any(Number),
      request: {
        method: "GET",
        url: `${remote.url}/find/a%20b?q=x%26y`,
        headers: { accept: expect.any(String), "x-note": "hello", authorization: "Bearer [secret]" },
        body: null,
      },
    },
  ]);
  expect(text).not.toContain(secret);
  expect(remote.at("/find/a%20b")[0]?.headers.get("authorization")).toBe(`Bearer ${secret}`);
  const inQuery = await app.post(at("keyed", "find"), { params });
  expect(inQuery.json.request.url).toBe(`${remote.url}/find/a%20b?q=x%26y&key=[secret]`);
});

test("what the remote refuses is an answer of the trial", async () => {
  const { status, json } = await app.post(at("shop", "order"), { params: { id: 7 } });
  expect([status, json.ok, json.status, json.error]).toEqual([200, false, 409, "the remote answered 409"]);
  expect([json.request.method, JSON.parse(json.request.body)]).toEqual(["POST", { id: 7, note: "for 7" }]);
});

test("a kind that does not speak HTTP tells no request", async () => {
  const connector = {
    name: "Mail",
    code: "mail",
    kind: "core/smtp",
    url: "smtp://127.0.0.1:9",
    fields: { from: "a@b.de" },
  };
  expect((await app.post("/connect/connectors.json", { connector })).status).toBe(201);
  const params = { to: "c@d.de", subject: "x", text: "y" };
  const { status, json } = await app.post(at("mail", "send"), { params });
  expect([status, json.ok, json.request]).toEqual([200, false, null]);
});

test("a trial is refused without the privilege, for another account, and with wrong parameters", async () => {
  const before = remote.requests.length;
  const user = (await person(app, { role: "user" })).token;
  const narrowed = (await person(app, { role: "admin", narrowedTo: ["dbs"] })).token;
  const other = await otherAccount(app);
  const body = { params: { id: 7 } };
  const off = { name: "Off", code: "off", url: remote.url, active: false, fields: { methods } };
  expect((await app.post("/connect/connectors.json", { connector: off })).status).toBe(201);
  const cases: [path: string, token: string | null | undefined, body: unknown, status: number, field?: string][] = [
    [at("shop", "order"), null, body, 401],
    [at("shop", "order"), user, body, 403],
    [at("shop", "order"), narrowed, body, 403],
    [at("nowhere", "order"), undefined, body, 404],
    [at("shop", "nothing"), undefined, body, 404],
    [at("shop", "__proto__"), undefined, body, 404],
    [at("off", "order"), undefined, body, 422, "base"],
    [at("shop", "order"), undefined, {}, 422, "id"],
    [at("shop", "order"), undefined, { params: [] }, 422, "params"],
    [at("shop", "find"), undefined, { params: { place: "..", word: "x", note: "y" } }, 422, "place"],
  ];
  for (const [path, token, given, status, field] of cases) {
    const answer = await app.post(path, given, token === undefined ? {} : { token });
    expect([path, answer.status]).toEqual([path, status]);
    if (field !== undefined) expect(Object.keys(answer.json.errors ?? answer.json)).toContain(field);
  }
  expect((await other.post(at("shop", "order"), body)).status).toBe(404);
  expect(remote.requests.length).toBe(before);
});

test("one that is not stored is tried, and checked as a save checks it", async () => {
  const path = "/connect/connectors/try.json";
  const all = async () => (await app.get("/connect/connectors.json")).json.length;
  const before = await all();
  const connector = { kind: "core/custom_connector", url: remote.url, secret_token: secret, fields: { methods } };
  const params = { place: "a", word: "b", note: "c" };
  const { status, json, text } = await app.post(path, { connector, method: "find", params });
  expect([status, json.ok, json.data]).toEqual([200, true, { echoed: "Bearer [secret]", path: "/find/a" }]);
  expect(text).not.toContain(secret);
  expect(json.request.headers.authorization).toBe("Bearer [secret]");
  const refused = await app.post(path, { connector, method: "order", params: { id: 1 } });
  expect([refused.status, refused.json.ok, refused.json.status]).toEqual([200, false, 409]);
  const wrong: [object, string][] = [
    [{ connector: { ...connector, url: "nowhere" }, method: "find" }, "url"],
    [{ connector: { ...connector, kind: "none" }, method: "find" }, "kind"],
    [{ connector, method: "other" }, "method"],
    [{ connector, method: "find", params: {} }, "place"],
  ];
  for (const [body, field] of wrong) {
    const answer = await app.post(path, body);
    expect([field, answer.status, Object.keys(answer.json)]).toEqual([field, 422, expect.arrayContaining([field])]);
  }
  expect(await all()).toBe(before);
  const { token } = await person(app, { role: "user" });
  expect((await app.post(path, { connector, method: "find" }, { token })).status).toBe(403);
});
