import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../tests/harness.ts";
import { createSecrets } from "../../runtime/base/secrets.ts";

const key = "a secret key of the tests, 32 characters or more";
const proof = (at = Date.now(), purpose = "probe", of = key) => ({
  "x-corestead-probe": createSecrets(of).sign(purpose, `${at}`),
});

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { TRUSTED_PROXIES: "127.0.0.1" } });
  await app.post("/cms/sites.json", { site: { code: "shop", name: "Shop", locale: "en" } });
  await app.post("/cms/domains.json", { domain: { name: "shop.test", site_code: "shop", locale: "en" } });
});
afterAll(() => app.stop());

const ask = (headers: Record<string, string>, body = "") =>
  app.request("POST", "/core/probe", undefined, {
    token: null,
    raw: body,
    headers: { "content-type": "application/octet-stream", ...headers },
  });

test("the probe says what of a request arrives, also at a site's host", async () => {
  for (const host of ["core.test", "shop.test"]) {
    const forwarded = { "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https" };
    const answer = await ask({ ...proof(), host, ...forwarded }, "12345");
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        host,
        ip: "203.0.113.9",
        forwarded_host: null,
        forwarded_proto: "https",
        forwarded_for: "203.0.113.9",
        bytes: 5,
      },
    ]);
  }
});

test.each<[string, Record<string, string>]>([
  ["no proof", {}],
  ["an empty proof", { "x-corestead-probe": "" }],
  ["an old one", proof(Date.now() - 301_000)],
  ["one of the future", proof(Date.now() + 400_000)],
  ["one for another purpose", proof(Date.now(), "page")],
  ["one of another key", proof(Date.now(), "probe", "another secret key of 32 characters or more")],
  ["a time that is none", { "x-corestead-probe": createSecrets(key).sign("probe", "soon") }],
  ["an administrator's token alone", { authorization: "Bearer test-admin-token-0123456789abcdefghijklmnop" }],
])("with %s it does not exist", async (_, headers) => {
  for (const host of ["core.test", "shop.test"]) {
    const events = await app.request("GET", "/core/probe/events", undefined, {
      token: null,
      headers: { host, ...headers },
    });
    expect([(await ask({ host, ...headers })).status, events.status]).toEqual([404, 404]);
  }
});

test("its events come one after the other", async () => {
  const response = await fetch(`${app.origin}/core/probe/events`, { headers: proof() });
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const reader = response.body?.getReader();
  const first = new TextDecoder().decode((await reader?.read())?.value);
  expect(first).toBe("data: 1\n\n");
  await reader?.cancel();
});
