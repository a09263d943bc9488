/** No page of the Studio has an accessibility fault that axe can find: light and dark, wide and narrow. */
import { AxeBuilder } from "@axe-core/playwright";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
let paths: string[];
beforeAll(async () => {
  studio = await startStudio();
  const { app } = studio;
  const prompt = await app.post("/core/prompts.json", {
    prompt: { name: "Greeting", code: "greeting", content: "Hi" },
  });
  await app.post("/core/dbs.json", {
    db: { name: "People", code: "people", schema: { fields: { email: "string", age: "integer" } } },
  });
  const record = await app.post("/core/dbs/people/records.json", {
    record: { data: { email: "a@example.com", age: 7 } },
  });
  const made = await app.post("/core/apps.json", {
    app: { name: "Counter", app_engine: "html", css_engine: "none", source_code: "<h1>Hello</h1>" },
  });
  const appPage = `/studio/core/apps/${made.json.id}`;
  paths = [
    "/studio/core/apps",
    "/studio/core/apps/new",
    appPage,
    `${appPage}?tab=data`,
    `${appPage}?tab=actions`,
    `${appPage}?tab=settings`,
    `/studio/core/prompts/${prompt.json.id}?tab=cascade`,
    "/studio/core/dbs/new",
    "/studio/core/dbs/people/schema",
    "/studio/core/dbs/people/public",
    "/studio/core/dbs/people/import",
    "/studio/core/dbs/people/export",
    "/studio",
    "/studio/core/prompts",
    "/studio/core/prompts/new",
    `/studio/core/prompts/${prompt.json.id}`,
    `/studio/core/prompts/${prompt.json.id}/versions`,
    "/studio/core/dbs/people",
    "/studio/core/dbs/people/records",
    `/studio/core/dbs/people/records/${record.json.id}`,
    "/studio/connect/flows",
    "/studio/connect/flows/new",
    "/studio/account/people/1",
    "/studio/account/tokens/new",
    "/studio/account/webhooks/new",
    "/studio/cms/sites",
    "/studio/nothing/at/all",
  ];
});
afterAll(() => studio.stop());

async function faultsOn(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page })
    .withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"])
    .analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

describe.each([
  ["light", 1280],
  ["dark", 1280],
  ["light", 360],
  ["dark", 360],
] as const)("%s, %i px", (colorScheme, width) => {
  test("no fault on any page", async () => {
    await using opened = await studio.signedIn({ colorScheme, viewport: { width, height: 800 } });
    const { page } = opened;
    const found: Record<string, string[]> = {};
    for (const path of paths) {
      await page.goto(studio.app.origin + path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.getByText("Loading…").waitFor({ state: "detached" });
      const faults = await faultsOn(page);
      if (faults.length > 0) found[path] = faults;
    }
    expect(found).toEqual({});
  });

  test("no fault in dialogs, menus and errors", async () => {
    await using opened = await studio.signedIn({ colorScheme, viewport: { width, height: 800 } });
    const { page } = opened;
    const found: Record<string, string[]> = {};
    const check = async (name: string) => {
      const faults = await faultsOn(page);
      if (faults.length > 0) found[name] = faults;
    };
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Commands" }).waitFor();
    await check("palette");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Account menu" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await check("account menu");
    await page.goto(`${studio.app.origin}/studio/core/prompts/new`);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").first().waitFor();
    await check("errors");
    await page.getByRole("button", { name: "Show as API" }).click();
    await page.getByRole("dialog", { name: "Show as API" }).waitFor();
    await check("dialog");
    expect(found).toEqual({});
  });
});
