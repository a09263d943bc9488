/** Refused calls of connectors: nothing reaches the remote, nothing is stored and nobody is told. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { otherAccount, person, startTestApp, type OtherAccount, type TestApp } from "../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../tests/receiver.ts";
import { follower, traces } from "../../tests/traces.ts";
import { plugins } from "../index.ts";
import { connectors } from "./api.ts";

let app: TestApp;
let other: OtherAccount;
let remote: Receiver;
const tokens: Record<string, string | null> = { nobody: null };
const methods = {
  open: { method: "POST", path: "/open/{id}", body: { note: "{note}" }, public: true },
  closed: { method: "POST", path: "/closed", headers: { "X-Note": "{note}" } },
};
beforeAll(async () => {
  remote = startReceiver();
  app = await startTestApp({ plugins: [...plugins, follower] });
  other = await otherAccount(app);
  for (const [code, active] of [
    ["on", true],
    ["off", false],
  ] as const) {
    const connector = { name: code, code, active, url: remote.url, fields: { methods } };
    expect((await app.post("/connect/connectors.json", { connector })).status).toBe(201);
  }
  tokens["user"] = (await person(app, { role: "user" })).token;
  tokens["narrowed"] = (await person(app, { role: "admin", narrowedTo: ["dbs"] })).token;
});
beforeEach(() => void (remote.requests.length = 0));
afterAll(async () => {
  await app.stop();
  await remote.stop();
});

const params = { id: 7, note: "hello" };
const refused: [who: string, path: string, body: unknown, status: number, field: string][] = [
  ["nobody", "on/closed", params, 401, ""],
  ["user", "on/closed", params, 403, ""],
  ["narrowed", "on/closed", params, 403, ""],
  ["admin", "on/unknown", params, 404, ""],
  ["admin", "on/__proto__", params, 404, ""],
  ["admin", "off/open", params, 404, ""],
  ["nobody", "off/open", params, 404, ""],
  ["admin", "nowhere/open", params, 404, ""],
  ["admin", "a%20b/open", params, 404, ""],
  ["admin", `${"x".repeat(101)}/open`, params, 404, ""],
  ["nobody", "on/open", [], 400, ""],
  ["nobody", "on/open", "text", 400, ""],
  ["nobody", "on/open", null, 400, ""],
  ["nobody", "on/open", {}, 422, "id"],
  ["nobody", "on/open", { id: 7 }, 422, "note"],
  ["nobody", "on/open", { id: "", note: "x" }, 422, "id"],
  ["nobody", "on/open", { id: "..", note: "x" }, 422, "id"],
  ["nobody", "on/open", { id: { a: 1 }, note: "x" }, 422, "id"],
  ["admin", "on/closed", { note: "a\r\nX-Evil: 1" }, 422, "note"],
  ["admin", "on/closed", { note: "ż" }, 422, "note"],
];
describe("a call is refused", () => {
  test.each(refused)("by %s to %s with %j: %i %s", async (who, path, body, status, field) => {
    const before = await traces(app, "connectors");
    const options = who === "admin" ? {} : { token: tokens[who] ?? null };
    const answer = await app.post(`/connect/connectors/${path}.json`, body, options);
    expect([answer.status, answer.text]).toEqual([status, expect.any(String)]);
    if (field !== "") expect(answer.json).toHaveProperty(field);
    expect(remote.requests).toHaveLength(0);
    expect(await traces(app, "connectors")).toEqual(before);
  });

  test("of another account", async () => {
    expect((await other.post("/connect/connectors/on/open", params)).status).toBe(404);
    expect((await other.post("/connect/connectors/on/open", params, { token: null })).status).toBe(404);
    expect(remote.requests).toHaveLength(0);
  });

  test("and one that is not refused arrives, filled", async () => {
    remote.answer = () => Response.json({ ok: true });
    const answer = await app.post("/connect/connectors/on/open", params, { token: null });
    expect([answer.status, answer.json]).toEqual([200, { status: 200, data: { ok: true } }]);
    expect(remote.requests.map(({ path }) => path)).toEqual(["/open/7"]);
  });
});

describe("the service gives nothing", () => {
  const service = () => app.service(connectors);
  const calls: [what: string, accountId: () => number, code: string, method: string][] = [
    ["for an unknown method", () => 1, "on", "unknown"],
    ["for an inactive connector", () => 1, "off", "open"],
    ["for an unknown connector", () => 1, "nowhere", "open"],
    ["for another account", () => other.id, "on", "open"],
    ["for what cannot be a code", () => 1, "a\0b", "open"],
  ];
  test.each(calls)("%s", async (_, accountId, code, method) => {
    expect(await service().call({ accountId: accountId(), code, method, params })).toBeUndefined();
    const event = { source_type: "Core::Record", kind: "create", data: params };
    if (method === "open")
      expect(await service().callForEvent({ accountId: accountId(), code, event })).toBeUndefined();
    expect(remote.requests).toHaveLength(0);
  });

  const exists: [code: string, exists: boolean, hasMethods: boolean][] = [
    ["on", true, true],
    ["off", true, false],
    ["nowhere", false, false],
    ["a b", false, false],
  ];
  test.each(exists)("%j exists: %p, and has methods: %p", async (code, isThere, hasMethods) => {
    expect(await service().exists(1, code)).toBe(isThere);
    expect((await service().methodsOf(1, code)) !== undefined).toBe(hasMethods);
    expect(await service().exists(other.id, code)).toBe(false);
  });
});
