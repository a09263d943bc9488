/** The code editor of the Studio in Chromium, as the form of a prompt has it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { eventually } from "../harness.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
beforeAll(async () => {
  studio = await startStudio();
});
afterAll(() => studio.stop());

/** The editor, once it has taken the place of the area. */
function editorOf(page: Page, label = "Content") {
  return page.locator(`.cm-content[aria-label="${label}"]`);
}

async function contentOf(code: string): Promise<string | undefined> {
  const [row] = await studio.app.sql`select content from prompts where code = ${code}`;
  return row?.["content"];
}

test("a text of several lines is typed and pasted, coloured, and saved as it is", async () => {
  await using opened = await studio.signedIn({ at: "/studio/core/prompts/new" });
  const { page, faults } = opened;
  await page.locator(".cm-content").first().waitFor();
  await page.getByLabel("Name", { exact: true }).fill("Lines");
  const text = "# Title\n\n{% if account.name %}\n  Hi {{ date }}\n{% endif %}\n";
  await page.getByLabel("Content").fill(text);
  await editorOf(page).locator("span[class]").first().waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { level: 1, name: "Lines" }).waitFor();
  expect(await contentOf("lines")).toBe(text);
  // The policy lets its styles in.
  expect(await editorOf(page).evaluate((element) => getComputedStyle(element).whiteSpace)).toBe("break-spaces");
  expect(faults).toEqual([]);
});

test("a fault is marked in its line, told in words, and a click leads to it", async () => {
  await using opened = await studio.signedIn({ at: "/studio/core/prompts/new" });
  const { page } = opened;
  await page.locator(".cm-content").first().waitFor();
  await page.getByLabel("Name", { exact: true }).fill("Faulty");
  await page.getByLabel("Content").fill("One\nTwo\n{{ date | nothing }}\n");
  await page.getByRole("button", { name: "Save" }).click();
  const fault = page.getByRole("button", { name: /^Line 3, column \d+: undefined filter/ });
  await fault.waitFor();
  expect(await editorOf(page).getAttribute("aria-invalid")).toBe("true");
  expect(await page.locator(".cm-lint-marker-error").count()).toBe(1);
  await fault.click();
  expect(await editorOf(page).evaluate((element) => element === document.activeElement)).toBe(true);
  expect(await page.locator(".cm-activeLine").textContent()).toBe("{{ date | nothing }}");
  await page.keyboard.press("Home");
  await page.keyboard.press("Shift+End");
  await page.keyboard.insertText("{{ date }}");
  expect(await fault.count()).toBe(0);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { level: 1, name: "Faulty" }).waitFor();
  expect(await contentOf("faulty")).toBe("One\nTwo\n{{ date }}\n");
});

describe("the keyboard", () => {
  test("indents by Tab, and leaves by Esc and Tab, also after another key in between", async () => {
    await using opened = await studio.signedIn({ at: "/studio/core/prompts/new" });
    const { page } = opened;
    await page.locator(".cm-content").first().waitFor();
    const editor = editorOf(page);
    await page.getByText("Content", { exact: true }).click(); // the label
    await page.keyboard.type("a");
    await page.keyboard.press("Tab");
    expect(await editor.textContent()).toBe("  a");
    const isInside = () => editor.evaluate((element) => element === document.activeElement);
    await page.keyboard.press("Escape");
    await page.keyboard.type("b");
    await page.keyboard.press("Tab");
    expect(await isInside()).toBe(true);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    expect(await isInside()).toBe(false);
    expect(await editor.textContent()).toContain("ab");
    await page.keyboard.press("Shift+Tab");
    expect(await isInside()).toBe(true);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Shift+Tab");
    expect(await isInside()).toBe(false);
  });

  test("searches in the words of the person's language", async () => {
    await using opened = await studio.signedIn({ at: "/studio/core/prompts/new", locale: "pl-PL" });
    const { page, faults } = opened;
    await page.locator(".cm-content").first().waitFor();
    await editorOf(page, "Treść").focus();
    await page.keyboard.press("Control+f");
    await page.getByLabel("Znajdź").waitFor();
    expect(faults).toEqual([]);
  });
});

test("a field that is no JSON says where", async () => {
  await studio.app.post("/connect/flows.json", { flow: { name: "Broken", code: "broken", fields: { program: [] } } });
  await using opened = await studio.signedIn({ at: "/studio/flows/broken?step=json" });
  const { page } = opened;
  await page.locator(".cm-content").first().waitFor();
  const label = (await page.locator(".cm-content").first().getAttribute("aria-label")) ?? "";
  await page.getByRole("textbox", { name: label, exact: true }).fill('{\n  "a": 1,\n  oops\n}');
  await page.getByRole("button", { name: "Publish" }).click();
  await page.getByRole("button", { name: "Line 3, column 3: This is not JSON." }).waitFor();
});

test("200 kB are edited with only the lines in view in the page", async () => {
  const content = `${"A line of {{ date }} and words.\n".repeat(6200)}end`;
  const made = await studio.app.post("/core/prompts.json", { prompt: { name: "Long", code: "long", content } });
  await using opened = await studio.signedIn({ at: `/studio/core/prompts/${made.json.id}` });
  const { page } = opened;
  const editor = editorOf(page);
  await editor.focus();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("ing");
  await page.getByText("ending", { exact: true }).waitFor();
  expect(await page.locator(".cm-line").count()).toBeLessThan(200);
  await page.getByRole("button", { name: "Save" }).click();
  await eventually(async () => (await contentOf("long")) === `${content}ing`);
  // All of it is replaced, not only what is in view.
  await editor.focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText("short");
  await page.getByRole("button", { name: "Save" }).click();
  await eventually(async () => (await contentOf("long")) === "short");
});

test("what is typed over a coloured text breaks no policy, and can be undone", async () => {
  const content = "{% if name %}\nHello {{ name | upcase }}\n{% endif %}";
  const made = await studio.app.post("/core/prompts.json", { prompt: { name: "Bright", code: "bright", content } });
  await using opened = await studio.signedIn({ at: `/studio/core/prompts/${made.json.id}` });
  const { page, faults } = opened;
  const editor = editorOf(page);
  await editor.locator("span[class]").first().waitFor();
  await editor.focus();
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("Shift+End");
  await page.keyboard.type("three");
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText("{{ all }}");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("x");
  await page.getByRole("button", { name: "Save" }).click();
  await eventually(async () => (await contentOf("bright")) === "x");
  await editor.focus();
  await page.keyboard.press("Control+z");
  await page.getByRole("button", { name: "Save" }).click();
  await eventually(async () => (await contentOf("bright")) === "{{ all }}");
  expect(faults).toEqual([]);
});

test("where the editor can not be loaded, an area with the same name takes the text", async () => {
  await using opened = await studio.signedIn();
  const { page } = opened;
  await page.route("**/studio/-/*.js", async (route) => {
    const response = await route.fetch();
    const isEditor = (await response.text()).includes("cm-scroller");
    await (isEditor ? route.abort() : route.fulfill({ response }));
  });
  await page.goto(`${studio.app.origin}/studio/core/prompts/new`);
  await page.getByLabel("Name", { exact: true }).fill("Plain");
  await page.getByLabel("Content").fill("Typed");
  expect(await page.getByLabel("Content").inputValue()).toBe("Typed");
  await page.getByRole("button", { name: "Save" }).click();
  await eventually(async () => (await contentOf("plain")) === "Typed");
});
