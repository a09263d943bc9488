/** The pages of prompts in Chromium. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { eventually, person } from "../harness.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
beforeAll(async () => {
  studio = await startStudio();
});
afterAll(() => studio.stop());

async function add(prompt: object): Promise<string> {
  const answer = await studio.app.post("/core/prompts.json", { prompt });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.json.id;
}
const open = (page: Page, path: string) => page.goto(`${studio.app.origin}/studio/core/prompts${path}`);
const focused = (page: Page) =>
  page.evaluate(
    () => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent?.trim(),
  );

/** Tab, until this has the focus: a keyboard has no other way. */
async function tabTo(page: Page, name: string, key = "Tab"): Promise<void> {
  for (let presses = 0; presses < 120; presses++) {
    await page.keyboard.press(key);
    const found = await page.evaluate((wanted) => {
      const element = document.activeElement;
      const labels =
        element instanceof HTMLInputElement ? [...(element.labels ?? [])].map(({ textContent }) => textContent) : [];
      return [element?.getAttribute("aria-label"), element?.textContent?.trim(), ...labels].some(
        (text) => text?.trim() === wanted,
      );
    }, name);
    if (found) return;
  }
  throw new Error(`no Tab leads to ${name}; the focus is on ${await focused(page)}`);
}

describe("by the keyboard alone", () => {
  test("a prompt is made, and a fault of its template is mended at its line", async () => {
    await using opened = await studio.signedIn({ at: "/studio/core/prompts" });
    const { page, faults } = opened;
    await page.getByRole("button", { name: "New prompt" }).waitFor();
    await tabTo(page, "New prompt");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "New prompt" }).waitFor();
    await page.locator(".cm-content").waitFor();
    await tabTo(page, "Name");
    await page.keyboard.type("By keys");
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("Content");
    await page.keyboard.insertText("Hello\nThe client is {{ client_id | upcas }}.\nBye");
    // The server's words stand at the line before anything is saved.
    await page.getByRole("button", { name: /^Line 2, column \d+: undefined filter/ }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await tabTo(page, "Save");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("Some fields need your attention").waitFor();
    // The focus is in the editor, the cursor at the fault: F8 is not even needed.
    await eventually(async () => (await focused(page)) === "Content");
    expect(await page.locator(".cm-activeLine").textContent()).toContain("client_id");
    await page.keyboard.press("End");
    await page.keyboard.press("Shift+Home");
    await page.keyboard.insertText("The client is {{ client_id | upcase }}.");
    await page.getByRole("button", { name: /^Line 2/ }).waitFor({ state: "detached" });
    await page.getByLabel("client_id").waitFor();
    await page.keyboard.press("Escape"); // closes the list of words, if it is open
    await page.keyboard.press("Escape");
    await tabTo(page, "client_id");
    await page.keyboard.type("abc");
    await page.locator("[data-preview]").getByText("The client is ABC.").waitFor();
    await tabTo(page, "Save", "Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "By keys" }).waitFor();
    const [row] = await studio.app.sql`select content from prompts where code = 'by-keys'`;
    expect(row?.["content"]).toBe("Hello\nThe client is {{ client_id | upcase }}.\nBye");
    expect(faults.filter((fault) => !fault.includes("422"))).toEqual([]);
  });

  test("variables and filters of the server are completed", async () => {
    await using opened = await studio.signedIn();
    const { page } = opened;
    await page.evaluate(() => localStorage.setItem("corestead.language", "de"));
    await open(page, "/new");
    await page.locator(".cm-content").focus();
    const option = page.getByRole("option", { name: /^ACCOUNT_URL\s*die Adresse des Kontos$/ });
    // The words may come after the first letters, and a list that has just come takes no Enter yet.
    await eventually(
      async () => {
        await page.keyboard.press("Control+a");
        await page.keyboard.press("Delete"); // a bracket would go around what is selected
        await page.keyboard.type("{{ ACC");
        const isOffered = await option.waitFor({ timeout: 2000 }).then(
          () => true,
          () => false,
        );
        if (isOffered) await page.keyboard.press("Enter");
        return (await page.locator(".cm-content").textContent())?.includes("ACCOUNT_URL");
      },
      "the completion",
      30_000,
    );
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Delete");
    await page.keyboard.type('{{ "a" | api_b');
    await page.getByRole("option", { name: /api_block/ }).waitFor();
  });

  test("a built-in prompt is overridden, and comes back", async () => {
    await using opened = await studio.signedIn({ at: "/studio/core/prompts" });
    const { page } = opened;
    await page.getByLabel("Find a built-in prompt").waitFor();
    await tabTo(page, "Find a built-in prompt");
    await page.keyboard.type("prompts_api");
    await tabTo(page, "Write one for everyone");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/ai\/prompts\/[0-9a-f-]{36}$/);
    await page.getByText("This prompt replaces the built-in prompt prompts_api.").waitFor();
    const [row] = await studio.app.sql`select scope, content, fields from prompts where code = 'prompts_api'`;
    const file = (await studio.app.get("/core/prompts/system/prompts_api.md")).text;
    expect(row).toMatchObject({ scope: "account" });
    expect(row?.["content"]).not.toContain("---\nname:");
    expect(file).toEndWith(row?.["content"]);
    // It can not be overridden for everyone twice.
    await open(page, "/system/prompts_api");
    await page.getByRole("button", { name: "Write mine: For me" }).waitFor();
    expect(await page.getByRole("button", { name: "Set: Everyone" }).count()).toBe(0);
    await page.getByRole("listitem").filter({ hasText: "Everyone" }).getByText("You get this").waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Back to the built-in prompt" }).waitFor();
    await tabTo(page, "Back to the built-in prompt");
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("The built-in prompt prompts_api applies again").waitFor();
    await page.close({ runBeforeUnload: true });
    await eventually(async () => (await studio.app.sql`select from prompts where code = 'prompts_api'`).length === 0);
  });

  test("two versions are compared, and the older one is restored", async () => {
    const id = await add({ name: "Report", code: "report", content: "One\nTwo\nThree" });
    await studio.app.patch(`/core/prompts/${id}.json`, { prompt: { content: "One\n2\nThree", name: "Reports" } });
    await studio.app.patch(`/core/prompts/${id}.json`, { prompt: { content: "One\n2\n3" } });
    await using opened = await studio.signedIn({ at: `/studio/core/prompts/${id}` });
    const { page, faults } = opened;
    const table = page.getByRole("region", { name: "Version 2 and version 3" });
    await table.locator("del").getByText("Three", { exact: true }).waitFor();
    await page.getByLabel("Compare version 1").focus();
    await page.keyboard.press("Space");
    await page.getByRole("region", { name: "Version 1 and version 3" }).locator("del").getByText("Two").waitFor();
    expect(page.url()).toContain("from=1&to=3");
    await page.getByText("Name: Report → Reports").waitFor();
    await tabTo(page, "Restore version 1", "Shift+Tab"); // it stands beside the list, before it
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("Version 1 is restored").waitFor();
    await page.getByRole("heading", { level: 1, name: "Report", exact: true }).waitFor();
    expect((await studio.app.get(`/core/prompts/${id}.json`)).json.content).toBe("One\nTwo\nThree");
    await page.getByRole("region", { name: "Version 3 and version 4" }).waitFor();
    expect(faults).toEqual([]);
  });
});

describe("the cascade", () => {
  test("is shown for another person, with instructions that are added in one step", async () => {
    const team = (await studio.app.post("/account/teams.json", { team: { name: "Sales" } })).json.id;
    const anna = await person(studio.app, { teamIds: [team] });
    await add({ name: "For all", code: "shared", content: "All" });
    const id = await add({ name: "For sales", code: "shared", content: "Sales", scope: "team", scope_id: team });
    await using opened = await studio.signedIn({ at: `/studio/core/prompts/${id}` });
    const { page, faults } = opened;
    const steps = page.getByRole("region", { name: "Who gets what", exact: true }).getByRole("listitem");
    await steps.getByText("For all").waitFor();
    expect(await steps.allTextContents()).toEqual([
      expect.stringMatching(/For me.*No wording of your own.*Write mine/s),
      expect.stringMatching(/Team.*Nothing set/s),
      expect.stringMatching(/Department.*Nothing set/s),
      expect.stringMatching(/Everyone.*For all.*You get this/s),
    ]);
    await page.getByLabel("Person").selectOption(String(anna.id));
    await steps.getByText("For sales").waitFor();
    expect(await steps.allTextContents()).toEqual([
      expect.stringMatching(/For the person.*No wording/s),
      expect.stringMatching(/Team.*Sales.*For sales.*They get this/s),
      expect.stringMatching(/Department.*Nothing set/s),
      expect.stringMatching(/^\s*Everyone.*For all\s*$/s),
    ]);
    await open(page, `/${id}`);
    await page.getByText("Additional instructions").click();
    await page.getByRole("textbox", { name: "New instructions" }).fill("Be brief.");
    await page.getByRole("button", { name: "Add" }).click();
    const extras = page.getByRole("region", { name: "Additional instructions" }).getByRole("listitem");
    await extras.getByText("shared: Additional instructions").waitFor();
    expect((await studio.app.get("/core/prompt/shared.md")).text).toContain("Be brief.");
    // One's own wording begins with the one that stands there.
    await page.getByRole("button", { name: "Write mine: For me" }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(id));
    await page.getByRole("listitem").filter({ hasText: "For me" }).getByText("You get this").waitFor();
    expect((await studio.app.get("/core/prompts.json?code=shared&scope=user")).json).toMatchObject([
      { content: "Sales" },
    ]);
    expect(faults).toEqual([]);
  });
});

describe("a preview", () => {
  test("shows hostile texts as they are, and never a token", async () => {
    const hostile = "<script>window.hit=1</script></style><img src=x onerror=window.hit=1>\u202e {{ TOKEN }}";
    const id = await add({
      name: hostile.slice(0, 40),
      code: "hostile",
      content: hostile,
      ai_placeholder: "<b>hint</b>",
    });
    await using opened = await studio.signedIn({ at: `/studio/core/prompts/${id}` });
    const { page, faults } = opened;
    const shown = page.locator("[data-preview]");
    await shown.waitFor();
    expect(await shown.textContent()).toBe(hostile);
    await page.getByRole("paragraph").getByText("<b>hint</b>", { exact: true }).waitFor();
    expect(await page.evaluate(() => "hit" in window)).toBe(false);
    expect(faults).toEqual([]);
  });
});

test("a phone shows every page without scrolling sideways, in the dark and in Polish", async () => {
  const long = "x".repeat(90);
  const id = await add({ name: `Long ${long}`, code: long, content: `{{ ${long} }} ${long.repeat(5)}` });
  await studio.app.patch(`/core/prompts/${id}.json`, { prompt: { content: `${long.repeat(5)} other` } });
  await add({ name: long, code: `${long}_extra`, content: long });
  await using opened = await studio.signedIn({
    viewport: { width: 360, height: 700 },
    colorScheme: "dark",
    locale: "pl-PL",
  });
  const { page, faults } = opened;
  for (const [path, ready] of [
    ["", ".about"],
    [`/${id}`, "[data-preview]"],
    [`/${id}?from=1&to=2`, "del"],
    ["/system", ".about"],
    ["/system/prompts_api", "[data-preview]"],
  ] as const) {
    await open(page, path);
    await page.locator(ready).first().waitFor();
    expect([path, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([path, 360]);
  }
  expect(faults).toEqual([]);
});
