/** Flows in the Studio: the program as a list of steps, its test, its processes, a new one; and a step moved by keys alone. */
/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { eventually, type TestApp } from "../harness.ts";
import { hasFocus, Keyboard } from "./keyboard.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
let app: TestApp;
beforeAll(async () => {
  studio = await startStudio();
  ({ app } = studio);
});
afterAll(() => studio.stop());

const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
const at = (page: Page, path: string) => page.goto(`${app.origin}/studio/${path}`);
const button = (of: Page | Locator, name: string) => of.getByRole("button", { name, exact: true });
const row = (page: Page, path: string) => page.locator(`[role="treeitem"][data-path="${path}"]`);
const programOf = async (code: string) => (await app.get(`/connect/flows/${code}.json`)).json.fields.program;

async function flow(code: string, program: unknown): Promise<void> {
  const answer = await app.post("/connect/flows.json", { flow: { name: code, code, fields: { program } } });
  expect(answer.status).toBe(201);
}

/** Over what an editor holds, as one pastes. */
async function write(editor: Locator, words: string): Promise<void> {
  await editor.focus();
  await editor.press("Control+a");
  await editor.press("Delete");
  await editor.page().keyboard.insertText(words);
}

const serious = (faults: readonly string[]) => faults.filter((fault) => !/status of (409|422)/.test(fault));

test("a flow begins with an example, is built step by step, refused at its places, tested and started", async () => {
  await using opened = await studio.signedIn({ at: "/studio/connect/flows/new" });
  const { page, faults } = opened;
  await page.getByRole("radio", { name: "Decision", exact: true }).check();
  await row(page, "1.else.0").waitFor();
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("Advice");
  await button(page, "Save").click();
  await heading(page, "Advice");

  // A step at the end of a branch, with a name of the scope completed.
  await row(page, "1.then").click();
  await button(page, "Add step").click();
  await page
    .getByRole("dialog", { name: "Add step" })
    .getByRole("button", { name: /^Use a connection/ })
    .click();
  await row(page, "1.then.1").and(page.locator("[aria-selected=true]")).waitFor();
  await page.getByLabel("Method", { exact: true }).fill("now");
  await button(page, "Add to Params").click();
  await page.getByLabel("Name in Params").fill("q");
  await page.getByLabel("Name in Params").press("Tab");
  const value = page.getByLabel("Value of q", { exact: true });
  await value.click();
  await value.pressSequentially("{{ adv");
  await page.getByRole("option", { name: /^advice/ }).waitFor();
  await value.press("Enter");
  await value.pressSequentially(" }}");
  expect(await value.inputValue()).toBe("{{ advice }}");
  await page.getByText("Not saved yet").first().waitFor();
  await button(page, "Save").click();
  // At the step in the list, at its field, and in the text.
  await row(page, "1.then.1").getByText("connector is required").waitFor();
  await page.getByLabel("Connector", { exact: true }).and(page.locator("[aria-invalid=true]")).waitFor();
  await button(page, "JSON").click();
  await page
    .getByRole("button", { name: /^Line \d+, column \d+: program\[1\]\.then\[1\]\.connector is required/ })
    .waitFor();
  await button(page, "Step").click();
  await page.getByLabel("Connector", { exact: true }).fill("nowhere");
  await button(page, "Save").click();
  await page.getByRole("status").getByText("Saved").first().waitFor();
  await row(page, "1.then.1").getByText("does not exist yet").waitFor();
  expect((await programOf("advice"))[1].then[1]).toMatchObject({ connector: "nowhere", params: { q: "{{ advice }}" } });

  // Deleted with undo, and kept as a draft.
  await row(page, "1.then.1").click();
  await button(page, "Delete step").click();
  await row(page, "1.then.1").waitFor({ state: "detached" });
  await page.reload();
  await button(page, "Restore").click();
  await row(page, "1.else.0").waitFor();
  expect(await row(page, "1.then.1").count()).toBe(0);
  await button(page, "Cancel").click();
  await row(page, "1.then.1").waitFor();

  await page.getByRole("link", { name: "Test", exact: true }).click();
  await write(page.getByRole("textbox", { name: "Input", exact: true }), '{ "sum": 500 }');
  await button(page, "Run the test").click();
  await page.getByRole("alert").getByText('no answer was given for "nowhere.now"').waitFor();
  await write(page.getByRole("textbox", { name: "nowhere.now", exact: true }), '{ "ok": true }');
  await button(page, "Run the test").click();
  const tested = page.getByRole("region", { name: "Test", exact: true });
  await tested.locator("pre").filter({ hasText: "Ask somebody" }).first().waitFor();
  expect(await app.sql`select from flow_processes where flow_code = 'advice'`).toHaveLength(0);
  await write(page.getByRole("textbox", { name: "Input", exact: true }), '{ "sum": 5 }');
  await button(page, "Start with this input").click();
  const started = page.getByRole("region", { name: "Started", exact: true });
  await started.locator("pre").filter({ hasText: "Send it at once" }).first().waitFor();
  await page.getByRole("link", { name: "Runs", exact: true }).last().click();
  await page.getByRole("cell").filter({ hasText: "finished" }).waitFor();
  const link = page.getByRole("link", { name: "All runs", exact: true });
  await link.waitFor();
  expect(await link.getAttribute("href")).toBe("/studio/connect/processes?flow_code=advice");

  // The program before the connector was added, compared and taken back.
  await page.getByRole("link", { name: "Versions", exact: true }).click();
  await page.getByRole("link", { name: /^Version 1/ }).click();
  await page.getByRole("region", { name: "Version 1 compared with the form" }).getByText('"nowhere"').waitFor();
  await button(page, "Restore version 1").click();
  await row(page, "1.then.1").waitFor({ state: "detached" });
  await button(page, "Save").click();
  await eventually(async () => (await programOf("advice"))[1].then.length === 1);
  expect(serious(faults)).toEqual([]);
});

test("a step is moved, nested, duplicated and deleted with nothing but the keyboard", async () => {
  const step = (name: string) => ({ type: "mutation", set: { [name]: 1 } });
  await flow("keys", [step("a"), { type: "if", condition: "a == 1", then: [step("b")] }, step("c")]);
  await using opened = await studio.signedIn();
  const { page, faults } = opened;
  const keys = new Keyboard(page);
  await at(page, "connect/flows/keys");
  await row(page, "2").waitFor();
  await keys.tabToElement(row(page, "0"));
  await keys.press("End");
  await eventually(() => hasFocus(row(page, "2")));
  await keys.press("Alt+Shift+ArrowRight");
  await eventually(() => hasFocus(row(page, "1.then.1")));
  await keys.press("Alt+ArrowUp");
  await eventually(() => hasFocus(row(page, "1.then.0")));
  await page.getByRole("status").getByText("Set variables is now at 1.then.0").waitFor();
  await keys.press("Alt+Shift+ArrowDown");
  await eventually(() => hasFocus(row(page, "1.then.1")));
  await keys.press("Alt+Shift+ArrowLeft");
  await eventually(() => hasFocus(row(page, "2")));
  await keys.press("Home", "Delete");
  await eventually(() => hasFocus(row(page, "0")));
  await keys.press("Control+z");
  await row(page, "2").waitFor();
  await keys.press("Control+s");
  await eventually(async () => (await programOf("keys"))[1].then.length === 2);
  expect(await programOf("keys")).toEqual([
    step("a"),
    { type: "if", condition: "a == 1", then: [step("c"), step("b")] },
    step("c"),
  ]);
  expect(serious(faults)).toEqual([]);
});

test("what somebody else has saved meanwhile is merged", async () => {
  await flow("two", [{ type: "return", value: 1 }]);
  await using opened = await studio.signedIn({ at: "/studio/connect/flows/two?beside=json" });
  const { page } = opened;
  const text = page.getByRole("textbox", { name: "Program", exact: true });
  await text.waitFor();
  await write(text, JSON.stringify([{ type: "return", value: 2 }]));
  await app.patch("/connect/flows/two.json", { flow: { name: "Theirs" } });
  await button(page, "Save").click();
  await page.getByRole("alert").getByText("merged with yours").waitFor();
  await button(page, "Save").click();
  await eventually(async () => (await programOf("two"))[0].value === 2);
  expect((await app.get("/connect/flows/two.json")).json.name).toBe("Theirs");
});
