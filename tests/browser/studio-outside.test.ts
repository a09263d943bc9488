/** What other sites, hosts and addresses try on somebody who is signed in to the Studio. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, type TestApp } from "../harness.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
let app: TestApp;
beforeAll(async () => {
  studio = await startStudio();
  ({ app } = studio);
});
afterAll(() => studio.stop());

test.each(["/studio", "/studio/core/prompts", "/login", "/logout", "/docs"])(
  "no other site can frame %s",
  async (path) => {
    await using opened = await studio.signedIn();
    const { page } = opened;
    await page.route("http://elsewhere.invalid/", (around) =>
      around.fulfill({ contentType: "text/html", body: `<iframe src="${app.origin}${path}"></iframe>` }),
    );
    await page.goto("http://elsewhere.invalid/");
    await eventually(() => page.frames()[1]?.url().startsWith("chrome-error:"), "the frame's refusal");
  },
);

test("no form and no script of another site changes anything with the person's cookie", async () => {
  await using opened = await studio.signedIn();
  const { page } = opened;
  const document: { paths: Record<string, Record<string, unknown>> } = (await app.get("/openapi.json")).json;
  const changes = Object.entries(document.paths).flatMap(([path, methods]) =>
    ["post", "patch", "delete"].flatMap((method) =>
      // Public methods of databases and reports of browsers come from any site, without a person.
      method in methods && !/^\/(core\/db\/|csp-report|_rt)/.test(path)
        ? [[method.toUpperCase(), path.replaceAll(/\{\w+\}/g, "1")] as const]
        : [],
    ),
  );
  expect(changes.length).toBeGreaterThan(60);
  const cookie = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  const foreign: readonly Record<string, string>[] = [
    { origin: "http://elsewhere.invalid", "sec-fetch-site": "cross-site" },
    { origin: "null", "sec-fetch-site": "cross-site" },
  ];
  for (const [method, path] of changes)
    for (const headers of foreign) {
      const type = method === "POST" ? "text/plain" : "application/json";
      const body = method === "DELETE" ? {} : { body: "{}" };
      const answer = await fetch(app.origin + path, {
        method,
        headers: { cookie, "content-type": type, ...headers },
        redirect: "manual",
        ...body,
      });
      // Signing out needs no cookie's rights: without its own origin it ends nothing.
      expect([method, path, answer.status >= 400 || path === "/logout"]).toEqual([method, path, true]);
    }
  expect((await page.context().request.get(`${app.origin}/account/me.json`)).status()).toBe(200);

  await page.route("http://elsewhere.invalid/", (site) => {
    const fields = '<input name=\'{"prompt":{"name":"Forged","code":"forged","content":"x\' value=\'"}}\'>';
    const form = `<form method="post" enctype="text/plain" action="${app.origin}/core/prompts.json">${fields}</form>`;
    return site.fulfill({ contentType: "text/html", body: `${form}<script>document.forms[0].submit()</script>` });
  });
  const refused = page.waitForResponse("**/core/prompts.json");
  await page.goto("http://elsewhere.invalid/");
  expect((await refused).status()).toBeGreaterThanOrEqual(400);
  expect(await app.sql`select from prompts where code = 'forged'`).toHaveLength(0);
});

test.each([
  "//evil.invalid",
  "\\\\evil.invalid",
  "/\\evil.invalid",
  "javascript:alert(1)",
  "%2f%2fevil.invalid",
  "/\t/evil.invalid",
  "https://evil.invalid",
])("signing in leads to no other site: %j", async (to) => {
  await using context = await studio.browser.newContext();
  const page = await context.newPage();
  await page.goto(`${app.origin}/login?return_to=${encodeURIComponent(to)}`);
  expect(await page.locator("[name=return_to]").inputValue()).toMatch(/^\/(?![/\\])/);
});

test("the session's token stands in no storage, address or page, its pages are not kept, and HTML is parsed from nothing", async () => {
  await using opened = await studio.signedIn();
  const { page } = opened;
  const [session] = await page.context().cookies();
  expect(session?.httpOnly).toBe(true);
  const answer = await page.goto(`${app.origin}/studio/account/me`);
  expect(answer?.headers()["cache-control"]).toBe("no-store");
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  const seen = await page.evaluate(() =>
    JSON.stringify([localStorage, sessionStorage, document.cookie, location.href, document.documentElement.outerHTML]),
  );
  expect(seen).not.toContain(session?.value ?? "?");
  const parsed = await page.evaluate(() => {
    try {
      document.body.innerHTML = "<img src=x>";
      return "parsed";
    } catch (error) {
      return error instanceof TypeError ? "refused" : "?";
    }
  });
  expect(parsed).toBe("refused");
  // A token that an attacker has planted before is not the one that signing in gives.
  await using other = await studio.browser.newContext();
  await other.addCookies([{ name: session?.name ?? "", value: "core_planted", url: app.origin }]);
  const fixed = await other.newPage();
  await fixed.goto(`${app.origin}/login`);
  await fixed.locator("[autocomplete=username]").fill("admin");
  await fixed.locator("[autocomplete=current-password]").fill("correct horse battery staple");
  await fixed.locator("form button").click();
  await fixed.getByRole("heading", { level: 1 }).waitFor();
  expect((await other.cookies()).map(({ value }) => value)).not.toContain("core_planted");
});
