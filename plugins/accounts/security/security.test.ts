import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { adminPassword, eventually, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { reportsIn } from "./routes.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({
    env: { SECURITY_CONTACT: "mailto:security@example.com", HSTS_SECONDS: "86400", TRUSTED_PROXIES: "127.0.0.1" },
  });
});
afterAll(() => app.stop());

const strict = {
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": expect.stringContaining("camera=()"),
};
const headersOf = async (path: string, headers: Record<string, string> = {}) =>
  Object.fromEntries((await app.get(path, { headers: { accept: "text/html", ...headers } })).headers);

describe("every answer", () => {
  test.each(["/health", "/docs", "/login", "/core/apps.json", "/nothing"])(
    "of %s keeps features and openers out",
    async (path) => {
      expect(await headersOf(path)).toMatchObject(strict);
    },
  );

  test("of an app in its sandbox has no opener policy, which browsers would refuse there", async () => {
    const given = {
      name: "Open",
      url_code: "open",
      app_engine: "html",
      css_engine: "none",
      source_code: "x",
      public: true,
    };
    expect((await app.post("/core/apps.json", { app: given })).status).toBe(201);
    const headers = await headersOf("/a/open");
    expect(headers["content-security-policy"]).toMatch(
      /sandbox [^]*report-uri \/csp-report|report-uri \/csp-report[^]*sandbox /,
    );
    expect(headers["cross-origin-opener-policy"]).toBe("unsafe-none");
    expect(headers["permissions-policy"]).toContain("camera=()");
  });

  test("by https keeps browsers there where HSTS_SECONDS says so", async () => {
    const https = { "x-forwarded-proto": "https" };
    expect((await headersOf("/health", https))["strict-transport-security"]).toBe("max-age=86400");
    expect((await headersOf("/health"))["strict-transport-security"]).toBeUndefined();
    const { login, password } = { login: "admin", password: adminPassword };
    const signedIn = await app.post("/account/session.json", { login, password }, { token: null, headers: https });
    expect(signedIn.headers.get("set-cookie")).toMatch(
      /^__Host-core_session=core_\w+; Path=\/; HttpOnly; [^]*; Secure$/,
    );
    const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    expect((await app.get("/account/me.json", { token: null, headers: { cookie } })).json.login).toBe("admin");
  });
});

test("security.txt tells the contact, for half a year", async () => {
  const { status, text, headers } = await app.get("/.well-known/security.txt", { token: null });
  expect([status, headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
  const [, expires = ""] = /^Contact: mailto:security@example\.com\nExpires: (\S+)\n$/.exec(text) ?? [];
  expect(Date.parse(expires)).toBeGreaterThan(Date.now());
});

describe("a report", () => {
  const report = (body: unknown, type = "application/csp-report") =>
    app.post("/csp-report", undefined, { token: null, raw: JSON.stringify(body), headers: { "content-type": type } });
  const logged = () =>
    app.logged
      .join("\n")
      .split("\n")
      .filter((line) => line.includes("a page broke its policy"));

  test("is logged without the queries of its addresses, thirty a minute", async () => {
    const one = {
      "document-uri": "https://x.test/a/b?key=secret",
      "effective-directive": "img-src",
      "blocked-uri": "https://y.test/p?q=secret",
    };
    const answer = await report({ "csp-report": one });
    expect([answer.status, answer.text]).toEqual([204, ""]);
    await eventually(() => logged().length === 1, "the report is in the log");
    expect(logged()[0]).toContain("https://x.test/a/b");
    expect(logged()[0]).not.toContain("secret");
    for (let sent = 0; sent < 40; sent++) expect((await report({ "csp-report": one })).status).toBe(204);
    await eventually(() => logged().length >= 30, "the reports are in the log");
    expect(logged()).toHaveLength(30);
    expect((await report({ "csp-report": { "document-uri": "x".repeat(20_000) } })).status).toBe(413);
    expect((await report("x", "text/plain")).status).toBe(415);
  });

  test.each<[unknown, Record<string, string>[]]>([
    [{ "csp-report": { "violated-directive": "script-src" } }, [{ directive: "script-src", page: "", blocked: "" }]],
    [
      [
        {
          type: "csp-violation",
          body: { effectiveDirective: "img-src", documentURL: "https://x/y#z", blockedURL: "inline" },
        },
      ],
      [{ directive: "img-src", page: "https://x/y", blocked: "inline" }],
    ],
    [
      { "csp-report": { "effective-directive": "d".repeat(500) } },
      [{ directive: "d".repeat(200), page: "", blocked: "" }],
    ],
    [{ "csp-report": { "effective-directive": 5 } }, []],
    [{ "csp-report": null }, []],
    [[null, 5, {}, { body: [] }], []],
    ["text", []],
    [null, []],
  ])("%j says %j", (body, said) => expect(reportsIn(body)).toEqual(said));
});
