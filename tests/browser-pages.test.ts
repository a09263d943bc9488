/** What a person sees in a browser where a program gets JSON: refusals, the icon, the way out. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { adminPassword, startTestApp, type TestApp } from "./harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const browser = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

/** Not the harness's `request`, which compares answers with what is documented for programs. */
function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${app.origin}${path}`, { redirect: "manual", ...init });
}

async function signedIn(): Promise<string> {
  const body = new URLSearchParams({ login: "admin", password: adminPassword });
  const answer = await ask("/login", { method: "POST", body, headers: { origin: app.origin } });
  expect(answer.status).toBe(303);
  return (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}

describe("a refusal", () => {
  test.each([
    ["GET", "/nothing/here", 404, "Not found"],
    ["GET", "/core/prompts.json", 401, "Sign in first"],
    ["GET", "/core/prompts/7.json", 401, "Sign in first"],
    ["PUT", "/core/prompts", 405, "Not possible here"],
    ["PATCH", "/health", 405, "Not possible here"],
  ])("%s %s is a page for a browser, and JSON for a program", async (method, path, status, title) => {
    const page = await ask(path, { method, headers: browser });
    expect(page.status).toBe(status);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("vary")).toBe("accept, accept-language, cookie");
    const text = await page.text();
    expect(text).toContain(`<h1>${title}</h1>`);
    const style = /<style>([^]*)<\/style>/.exec(text)?.[1] ?? "";
    const hash = new Bun.CryptoHasher("sha256").update(style).digest("base64");
    expect(page.headers.get("content-security-policy")).toContain(`style-src 'sha256-${hash}'`);
    for (const accept of ["*/*", "application/json", "application/json, text/html;q=0.1", ""]) {
      const answer = await ask(path, { method, headers: accept === "" ? {} : { accept } });
      expect([answer.status, await answer.json()]).toEqual([status, { error: expect.any(String) }]);
    }
  });

  test("401 leads to the sign-in page and back", async () => {
    const page = await (await ask("/core/dbs.json?limit=1&q=%22x", { headers: browser })).text();
    const [, address = ""] = /<a href="([^"]+)">Sign in</.exec(page) ?? [];
    expect(address).toBe("/login?return_to=%2Fcore%2Fdbs.json%3Flimit%3D1%26q%3D%2522x");
    expect((await ask(address, { headers: browser })).status).toBe(200);
  });

  test("says the field that is wrong", async () => {
    const headers = { ...browser, cookie: await signedIn(), origin: app.origin, "content-type": "application/json" };
    const answer = await ask("/core/prompts.json", { method: "POST", headers, body: '{"prompt":{"name":"<b>"}}' });
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain("content is required");
  });

  test("shows nothing of the request but text", async () => {
    const page = await (await ask("/%3Cscript%3E?<script>alert(1)</script>", { headers: browser })).text();
    expect(page).not.toContain("<script");
  });
});

test("the icon is there", async () => {
  for (const method of ["GET", "HEAD"]) {
    const icon = await ask("/favicon.ico", { method });
    expect([icon.status, icon.headers.get("content-type")]).toEqual([200, "image/svg+xml"]);
    expect(icon.headers.get("cache-control")).toBe("public, max-age=86400");
  }
});

describe("/logout", () => {
  test("is a page whose button signs out; opening it changes nothing", async () => {
    const cookie = await signedIn();
    const page = await ask("/logout", { headers: { ...browser, cookie } });
    expect([page.status, page.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const text = await page.text();
    expect(text).toContain('<form method="post" action="/logout">');
    expect(text).toContain("You are signed in as admin.");
    const me = () => ask("/account/me.json", { headers: { cookie } });
    expect((await me()).status).toBe(200);
    const headers = { ...browser, cookie, origin: app.origin, "content-type": "application/x-www-form-urlencoded" };
    const out = await ask("/logout", { method: "POST", headers });
    expect([out.status, out.headers.get("location")]).toEqual([303, "/login"]);
    expect(out.headers.get("set-cookie")).toContain("Max-Age=0");
    expect((await me()).status).toBe(401);
  });

  test("leads to the sign-in page without a session", async () => {
    for (const cookie of ["", "core_session=gone"]) {
      const answer = await ask("/logout", { headers: { ...browser, cookie } });
      expect([answer.status, answer.headers.get("location")]).toEqual([303, "/login"]);
    }
  });
});
