/** `/docs` in Chromium: search, "Try it", links into it, a phone. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import type { Locator, Page } from "playwright-core";
import { definePlugin, ok, route } from "../../runtime/sdk.ts";
import { faultsOf, launchChromium, type TestBrowser } from "../chromium.ts";
import { hostileText } from "../docs-fixture.ts";
import { adminPassword, adminToken, startTestApp, type TestApp } from "../harness.ts";

const hostile = definePlugin({
  name: "hostile",
  setup: () => ({
    routes: [
      route(
        "POST",
        "/hostile",
        {
          summary: hostileText,
          description: hostileText,
          access: { open: "a test" },
          body: { schema: Type.Object({ text: Type.String({ description: hostileText }) }) },
          request: { text: hostileText },
          responses: { 200: { text: hostileText } },
        },
        ({ body }) => ok({ text: body.text, html: hostileText }),
      ),
    ],
  }),
});

let app: TestApp;
let browser: TestBrowser;
let page: Page;
let faults: string[];

beforeAll(async () => {
  [app, browser] = await Promise.all([startTestApp({ plugin: hostile }), launchChromium()]);
  page = await browser.newPage({ viewport: { width: 360, height: 740 } });
  faults = faultsOf(page);
  await page.goto(`${app.origin}/docs`);
});
afterAll(async () => {
  await browser.close();
  await app.stop();
});

const operation = (id: string) => page.locator(`details#${id}`);
const shown = () => page.locator("details.operation:not([hidden])").count();

const answerOf = (id: string) => operation(id).locator("form.try [role=status]");

async function find(words: string): Promise<void> {
  await page.getByRole("searchbox").fill(words);
}

async function sent(id: string): Promise<string> {
  const status = answerOf(id);
  await status.locator("pre").nth(1).filter({ hasText: /\S/ }).waitFor();
  return status.innerText();
}

describe("the page", () => {
  test("finds by path, summary and field, with the keyboard alone", async () => {
    const all = await shown();
    await page.keyboard.press("/");
    await page.keyboard.type("ai_placeholder patch");
    const found = await shown();
    expect(found).toBeGreaterThan(0);
    expect(found).toBeLessThan(20);
    expect(await operation("patchCorePromptsId").isVisible()).toBe(true);
    expect(await page.locator("form.tools output").textContent()).toBe(`${found} of ${all} operations`);
    await page.keyboard.press("Escape");
    expect(await shown()).toBe(all);
    await find("/account/me.json");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.waitForURL(/#getAccountMe$/);
    expect(await operation("getAccountMe").getByRole("button", { name: "Send GET" }).isVisible()).toBe(true);
  });

  test("says what a 401 means, and calls with a token that it does not keep", async () => {
    await operation("getAccountMe").getByRole("button", { name: "Send GET" }).click();
    expect(await sent("getAccountMe")).toContain("This needs a sign-in");
    expect(await operation("getAccountMe").getByRole("link", { name: "Sign in" }).getAttribute("href")).toBe(
      "/login?return_to=%2Fdocs%23getAccountMe",
    );
    // Chromium itself notes each refused request.
    expect(faults.splice(0).filter((fault) => !fault.includes("401"))).toEqual([]);
    await page.getByLabel(/^API token/).fill(adminToken);
    await operation("getAccountMe").getByRole("button", { name: "Send GET" }).click();
    await answerOf("getAccountMe").getByText(/^200 /).waitFor();
    const text = await sent("getAccountMe");
    expect(text).toMatch(/^200 OK, \d+ ms/);
    expect(text).toContain("x-request-id: ");
    expect(text).toContain('"login": "admin"');
    const kept = await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie]);
    expect(kept).toEqual([0, 0, ""]);
  });

  test("sends path, query and body", async () => {
    await find("POST /core/prompts.json");
    const make = operation("postCorePrompts");
    await make.locator("> summary").click();
    await make.getByLabel(/^Body/).fill('{"prompt":{"name":"Docs","code":"from_docs","content":"x"}}');
    await make.getByRole("button", { name: "Send POST" }).click();
    expect(await sent("postCorePrompts")).toMatch(/^201 Created/);
    const rows = await app.sql<{ id: string; name: string }[]>`select id, name from prompts where code = 'from_docs'`;
    expect(rows.map(({ name }) => name)).toEqual(["Docs"]);
    await page.goto(`${app.origin}/docs#getCorePromptsId`);
    await find("");
    const read = operation("getCorePromptsId");
    await read.getByLabel("id (path)").fill(rows[0]?.id ?? "");
    await page.getByLabel(/^API token/).fill(adminToken);
    await read.getByRole("button", { name: "Send GET" }).click();
    expect(await sent("getCorePromptsId")).toContain('"code": "from_docs"');
  });

  test("calls by the session: reads, makes, is refused by If-Match, and deletes only when asked twice", async () => {
    await using context = await browser.newContext();
    const own = await context.newPage();
    await own.goto(`${app.origin}/login?return_to=/docs`);
    await own.locator("[autocomplete=username]").fill("admin");
    await own.locator("[autocomplete=current-password]").fill(adminPassword);
    await own.locator("form button").click();
    await own.waitForURL(`${app.origin}/docs`);
    const call = async (id: string, button: string, fill: (one: Locator) => Promise<unknown> = async () => {}) => {
      await own.goto(`${app.origin}/docs#${id}`);
      await own.reload();
      const one = own.locator(`details#${id}`);
      await fill(one);
      await one.getByRole("button", { name: button }).click();
      return one.locator("form.try [role=status] p").first();
    };
    await (await call("getAccountMe", "Send GET")).getByText(/^200 /).waitFor();
    const body = '{"prompt":{"name":"Own","code":"by_session","content":"x"}}';
    await (
      await call("postCorePrompts", "Send POST", (one) => one.getByLabel(/^Body/).fill(body))
    )
      .getByText(/^201 /)
      .waitFor();
    const [row] = await app.sql`select id, created_by_id from prompts where code = 'by_session'`;
    const id: string = row?.["id"];
    const stale = async (one: Locator) => {
      await one.getByLabel("id (path)").fill(id);
      await one.getByLabel(/^If-Match/).fill('"old-1"');
      await one.getByLabel(/^Body/).fill('{"prompt":{"name":"Stale"}}');
    };
    await (await call("patchCorePromptsId", "Send PATCH", stale)).getByText(/^412 /).waitFor();
    const answers = [false, true];
    const asked: string[] = [];
    own.on("dialog", (dialog) => {
      asked.push(dialog.message());
      void (answers.shift() ? dialog.accept() : dialog.dismiss());
    });
    const which = (one: Locator) => one.getByLabel("id (path)").fill(id);
    await call("deleteCorePromptsId", "Send DELETE", which);
    expect((await app.get(`/core/prompts/${id}.json`)).status).toBe(200);
    await (await call("deleteCorePromptsId", "Send DELETE", which)).getByText(/^204 /).waitFor();
    expect(asked).toEqual(Array(2).fill(`Send DELETE /core/prompts/${id}.json?`));
    expect((await app.get(`/core/prompts/${id}.json`)).status).toBe(404);
  });

  test("opens where a link leads", async () => {
    await page.goto(`${app.origin}/docs#deleteCoreDbsId`);
    await operation("deleteCoreDbsId").getByRole("button", { name: "Send DELETE" }).waitFor();
    expect(await operation("deleteCoreDbsId").evaluate((one: HTMLDetailsElement) => one.open)).toBe(true);
    await page.evaluate(() => location.assign("#type-Prompt"));
    await page.locator("details#type-Prompt[open]").waitFor();
  });

  test("shows hostile words of a plugin as words, its answer too", async () => {
    await page.goto(`${app.origin}/docs#postHostile`);
    await operation("postHostile").getByRole("button", { name: "Send POST" }).click();
    expect(await sent("postHostile")).toContain("<img src=x onerror=");
    expect(await page.locator("img").count()).toBe(0);
    expect(await page.title()).toBe("Corestead API");
  });

  test("fits a phone and reports no fault", async () => {
    for (const one of await page
      .locator("details.operation")
      .all()
      .then((list) => list.slice(0, 12)))
      await one.evaluate((element: HTMLDetailsElement) => element.setAttribute("open", ""));
    const [wide, width] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(wide).toBeLessThanOrEqual(width ?? 0);
    expect(faults).toEqual([]);
  });

  test("can be read without scripts", async () => {
    await using context = await browser.newContext({ javaScriptEnabled: false });
    const plain = await context.newPage();
    await plain.goto(`${app.origin}/docs`);
    expect(await plain.getByRole("search").isVisible()).toBe(false);
    await plain.locator("#patchCorePromptsId > summary").click();
    expect(await plain.locator("#patchCorePromptsId").getByText("prompt.name").isVisible()).toBe(true);
  });
});
