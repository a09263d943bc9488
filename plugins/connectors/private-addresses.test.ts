import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../tests/receiver.ts";
import { createLog } from "../../runtime/system/log.ts";
import { parseAllow } from "../../runtime/net/addresses.ts";
import { fetchOutside, type Fetch } from "../../runtime/outbound/outbound.ts";
import { privateHosts } from "../../tests/fixtures/outbound.ts";
import { plugins } from "../index.ts";
import { customConnector } from "./custom.ts";

/** No connector reaches what OUTBOUND_ALLOW does not name. */
let app: TestApp;
let remote: Receiver;
let port = "";
beforeAll(async () => {
  app = await startTestApp({ plugins, env: { OUTBOUND_ALLOW: "" } });
  remote = startReceiver();
  ({ port } = new URL(remote.url));
});
afterAll(async () => {
  await app.stop();
  await remote.stop();
});

const kinds: [kind: string, url: (host: string) => string, method: string, params: object, fields: object][] = [
  ["core/custom_connector", (host) => `http://${host}:${port}`, "get", {}, { methods: { get: { path: "/" } } }],
  [
    "core/smtp",
    (host) => `smtp://${host}:${port}`,
    "send",
    { to: "a@b.pl", subject: "s", text: "t" },
    { from: "a@b.pl" },
  ],
  [
    "core/llm",
    (host) => `http://${host}:${port}/v1`,
    "chat",
    { messages: [{ role: "user", content: "hi" }] },
    { api: "openai", model: "m" },
  ],
  ["core/postgres", (host) => `postgres://user@${host}:${port}/db`, "query", { sql: "select 1" }, {}],
];

test.each(kinds)(
  "%s: an address that is not public is refused, however it is written",
  async (kind, url, method, params, fields) => {
    for (const host of privateHosts) {
      const connector = { name: "Private", kind, url: url(host), fields };
      const made = await app.post("/connect/connectors.json", { connector });
      expect([host, made.status]).toEqual([host, 201]);
      const answer = await app.post(`/connect/connectors/${made.json.code}/${method}`, params);
      expect([host, answer.status, answer.json]).toEqual([
        host,
        502,
        { error: expect.stringContaining("not a public address"), status: null, data: null },
      ]);
    }
    expect(remote.requests).toHaveLength(0);
  },
);

test("a name that changes its answer, and a redirect to a private address, lead nowhere", async () => {
  const answers = ["127.0.0.1", "10.0.0.1", "127.0.0.1", "127.0.0.1", "10.0.0.1"];
  let asked = 0;
  const outside = {
    allow: parseAllow("127.0.0.1"),
    log: createLog("error", () => {}),
    lookup: async () => [answers[asked++] ?? "10.0.0.1"],
  };
  const send: Fetch = (url, request) => fetchOutside(outside, url, request);
  const kind = customConnector(send);
  const url = `http://rebind.example:${port}`;
  const connector = { accountId: 1, code: "c", url, secret: null, fields: { methods: { get: { path: "/" } } } };
  const call = () => kind.call(connector, { method: "get", params: {}, timeoutMs: 5000 });
  expect(await call()).toMatchObject({ ok: true });
  expect(await call()).toMatchObject({ ok: false, error: expect.stringContaining("not a public address") });
  expect([asked, remote.requests.length]).toEqual([2, 1]);
  for (const location of [
    "http://169.254.169.254/latest",
    "http://[::1]/",
    `http://127.0.0.1:${port}/`,
    "//10.0.0.1/",
  ]) {
    asked = 2;
    remote.answer = () => new Response(null, { status: 302, headers: { location } });
    expect(await call()).toMatchObject({ ok: false, error: expect.stringContaining("another origin") });
  }
  // Within the origin it is looked up and checked anew.
  asked = 3;
  remote.answer = () => new Response(null, { status: 302, headers: { location: "/again" } });
  expect(await call()).toMatchObject({ ok: false, error: expect.stringContaining("not a public address") });
});
