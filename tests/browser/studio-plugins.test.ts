/** Pages of plugins in the Studio: the kit's elements, and pages that fail in every way. */
import { AxeBuilder } from "@axe-core/playwright";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { definePlugin } from "platform";
import type { Page } from "playwright-core";
import { startStudio, type Studio } from "./studio-fixture.ts";

/** Every element, and a line that says what the page was told. */
const kit = `
const make = (name, properties) => Object.assign(document.createElement(name), properties);
export function mount(element, { params, t, theme, toast, confirm, locale, navigate }) {
  const said = make("output", { id: "said" });
  const say = (text) => { said.textContent = text; };
  const form = make("form", { className: "stack" });
  const title = make("studio-field", { name: "title", label: "Title", required: true, help: "What it is called" });
  const size = make("studio-field", { name: "size", label: "Size", kind: "number", value: 7 });
  const colour = make("studio-field", { name: "colour", label: "Colour", kind: "choice", choices: [{ value: "r", label: "Red" }, "blue"], value: "blue" });
  const kept = make("studio-field", { name: "kept", label: "Kept", kind: "flag", value: true });
  const tags = make("studio-field", { name: "tags", label: "Tags", kind: "choices", choices: ["new", "old"], value: ["old"] });
  const note = make("studio-editor", { name: "note", label: "Note", language: "json", rows: 3, value: "{}" });
  form.append(title, size, colour, kept, tags, note, make("button", { textContent: "Send", className: "primary" }), make("button", { type: "reset", textContent: "Reset" }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    say(JSON.stringify([...new FormData(form)]));
    title.messages = title.value === "taken" ? ["is taken"] : [];
  });
  form.addEventListener("studio-change", ({ target }) => say(target.name + "=" + JSON.stringify(target.value) + (target.mistake ?? "")));
  const grid = make("studio-grid", {
    label: "Boats", selectable: true, columns: [{ name: "name", sorts: true }, { name: "built_at", label: "Year" }],
    rows: [{ id: 1, name: "<b>Ada</b>", built_at: 1999 }, { id: 2, name: "Bob", built_at: 2001 }],
  });
  grid.addEventListener("studio-open", ({ detail }) => say("opened " + detail.row.id));
  grid.addEventListener("studio-sort", ({ detail }) => say("sorted " + detail.sort));
  grid.addEventListener("studio-choose", ({ detail }) => say("chosen " + detail.rows.map(({ id }) => id)));
  const dialog = make("studio-dialog", { label: "Sure?" });
  const inside = make("button", { textContent: "Yes" });
  inside.onclick = () => { dialog.open = false; toast("Done.", { undo: () => say("undone") }); };
  dialog.append(make("p", { textContent: "It stays so." }), inside, make("studio-editor", { label: "Reason", language: "json", rows: 2 }));
  dialog.addEventListener("studio-close", () => say("closed"));
  const open = make("button", { textContent: "Ask" });
  open.onclick = () => { dialog.open = true; };
  const sure = make("button", { textContent: "Sure" });
  sure.onclick = async () => say("answer " + (await confirm("Delete <b>all</b>?")));
  const count = { en: { one: "{count} boat of {owner}", other: "{count} boats of {owner}" }, pl: { one: "{count} łódź", few: "{count} łodzie", many: "{count} łodzi", other: "{count} łodzi" } };
  const words = make("p", { id: "words", textContent: [params.id, theme, locale, t(count, { count: 2, owner: "Ada" })].join(" ") });
  element.className = "stack";
  element.append(words, form, grid, open, sure, dialog, said);
  return () => element.replaceChildren();
}`;

const failing = {
  import: `throw new Error("broken at import");`,
  mount: `export function mount() { throw new Error("broken in mount"); }`,
  rejected: `export const mount = async () => { throw new Error("broken later in mount"); };`,
  unmount: `export const mount = (element) => { element.append("fine so far"); return () => { throw new Error("broken in unmount"); }; };`,
  timer: `export const mount = (element) => { element.append("fine so far"); setTimeout(() => { throw new Error("broken in a timer"); }); };`,
  promise: `export const mount = (element) => { element.append("fine so far"); Promise.reject(new Error("broken in a promise")); };`,
  bare: `export const mount = (element) => { element.append("fine so far"); Promise.reject("bare words"); };`,
  markup: `export const mount = (element) => { element.innerHTML = "<img src=x onerror=alert(1)>"; };`,
  after: `export const mount = () => { addEventListener("late", () => { throw new Error("broken after all"); }); };`,
  nothing: "export default 1;",
};
const never = `export const mount = () => new Promise(() => {});`;
const waits = `await new Promise(() => {}); export const mount = () => {};`;
const hostile = "<script>alert(1)</script><b>x</b>{{7*7}}";

const plugin = definePlugin({
  name: "fleet",
  studio: [
    { path: "fleet/kit", title: { en: "Kit", pl: "Zestaw" }, icon: "star", view: "contacts/index", module: kit },
    { path: "fleet/kit/:id", title: { en: "One of the kit" }, view: "contacts/show", module: kit },
    { path: "fleet/title", title: { en: hostile }, module: "export const mount = (e) => e.append('here');" },
    ...Object.entries({ ...failing, never, waits }).map(([name, module]) => ({
      path: `fleet/${name}`,
      title: { en: `Page ${name}` },
      module,
    })),
  ],
  setup: () => ({}),
});

let studio: Studio;
beforeAll(async () => {
  studio = await startStudio({ plugin });
});
afterAll(() => studio.stop());

const pathOf = (path: string) => `/studio/fleet/${path}`;
const at = (path: string) => studio.app.origin + pathOf(path);
const said = (page: Page, text: string) => page.locator("#said").getByText(text, { exact: true }).waitFor();
describe("the kit's elements", () => {
  test("fields and an editor belong to their form, and tell of changes", async () => {
    await using opened = await studio.signedIn({ at: pathOf("kit") });
    const { page, faults } = opened;
    await page.getByLabel("Title").fill("Boat");
    await said(page, 'title="Boat"');
    await page.getByLabel("Size").fill("many");
    await page.getByText("This is not a number.", { exact: true }).waitFor();
    await page.getByLabel("Size").fill("12");
    await said(page, "size=12");
    await page.getByLabel("Colour").selectOption({ label: "Red" });
    await page.getByLabel("new").check();
    await said(page, 'tags=["old","new"]');
    await page.getByLabel("Kept").uncheck();
    await page.locator(".cm-content").first().waitFor();
    await page.getByRole("textbox", { name: "Note" }).press("Control+End");
    await page.keyboard.type("7");
    await said(page, 'note="{}7"');
    await page.getByRole("button", { name: "Send" }).click();
    await said(page, '[["title","Boat"],["size","12"],["colour","r"],["tags","old"],["tags","new"],["note","{}7"]]');
    await page.getByLabel("Title").fill("taken");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("is taken").waitFor();
    expect(await page.getByLabel("Title").getAttribute("aria-invalid")).toBe("true");
    await page.getByRole("button", { name: "Reset" }).click();
    expect(await page.getByLabel("Title").inputValue()).toBe("");
    // What the page has put there comes back.
    expect(await page.getByLabel("Size").inputValue()).toBe("7");
    const [was, is] = [page.getByLabel("old"), page.getByLabel("new")];
    expect([await was.isChecked(), await is.isChecked(), await page.getByLabel("Kept").isChecked()]).toEqual([
      true,
      false,
      true,
    ]);
    // The browser itself says that a required field is empty.
    await page.getByRole("button", { name: "Send" }).click();
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-describedby"))).toContain("-help");
    expect(faults).toEqual([]);
  });

  test("a grid is used by keyboard and mouse, and shows no markup", async () => {
    await using opened = await studio.signedIn({ at: pathOf("kit") });
    const { page, faults } = opened;
    const grid = page.getByRole("grid", { name: "Boats" });
    await grid.getByRole("gridcell", { name: "<b>Ada</b>", exact: true }).click();
    await said(page, "opened 1");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await said(page, "opened 2");
    await page.keyboard.press("Shift+Space");
    await said(page, "chosen 2");
    await grid.getByRole("checkbox", { name: "Choose <b>Ada</b>" }).check();
    await said(page, "chosen 1,2");
    await grid.getByRole("button", { name: "Name" }).click();
    await said(page, "sorted name");
    await page.keyboard.press("Enter");
    await said(page, "sorted -name");
    expect(await grid.getByRole("columnheader", { name: "Name" }).getAttribute("aria-sort")).toBe("descending");
    expect(faults).toEqual([]);
  });

  test("a dialog takes the focus and gives it back; a toast can be taken back", async () => {
    await using opened = await studio.signedIn({ at: pathOf("kit") });
    const { page, faults } = opened;
    await page.getByRole("button", { name: "Ask", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Sure?" }).waitFor();
    await page.getByText("It stays so.").waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Yes");
    await page.keyboard.press("Escape");
    await said(page, "closed");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Ask");
    // In an editor the first Esc makes Tab leave it, and the second one closes the dialog.
    await page.keyboard.press("Enter");
    const reason = page.locator("studio-dialog .cm-content");
    await reason.click();
    await page.keyboard.type("x");
    await page.keyboard.press("Escape");
    expect(await reason.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Ask");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("Done.").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await said(page, "undone");

    const question = page.getByRole("dialog", { name: "Delete <b>all</b>?" });
    for (const [press, answer] of [
      [() => page.keyboard.press("Enter"), "true"],
      [() => page.keyboard.press("Escape"), "false"],
      [() => question.getByRole("button", { name: "Cancel" }).click(), "false"],
    ] as const) {
      await page.getByRole("button", { name: "Sure", exact: true }).click();
      await question.waitFor();
      await press();
      await said(page, `answer ${answer}`);
      await page.locator("#said").evaluate((element) => element.replaceChildren());
    }
    // One who leaves has said no, and the question does not stay.
    await page.getByRole("button", { name: "Sure", exact: true }).click();
    await question.waitFor();
    await page.goBack();
    await question.waitFor({ state: "detached" });
    expect(faults).toEqual([]);
  });

  test("a page is told its parameters, theme and language, and is mounted anew in another language", async () => {
    await using opened = await studio.signedIn({ at: pathOf("kit/7"), colorScheme: "dark" });
    const { page, faults } = opened;
    await page.locator("#words").getByText("7 dark en 2 boats of Ada").waitFor();
    await page.getByRole("button", { name: "Account menu" }).click();
    await page.getByLabel("Language").selectOption("pl");
    await page.locator("#words").getByText("7 dark pl 2 łodzie").waitFor();
    await page.locator("#menu").getByRole("link", { name: "Zestaw" }).waitFor();
    expect(await page.locator("#words").count()).toBe(1);
    expect(faults).toEqual([]);
  });

  test("apps of the page's view are embedded, with the record", async () => {
    for (const view of ["contacts/index", "contacts/show"]) {
      const source_code = `<pre id="out"></pre><script>out.textContent = location.search</script>`;
      const app = { name: `App of ${view}`, app_engine: "html", css_engine: "none", source_code, show_in_module: view };
      expect((await studio.app.post("/core/apps.json", { app })).status).toBe(201);
    }
    await using opened = await studio.signedIn({ at: pathOf("kit") });
    const { page } = opened;
    await page.getByRole("region", { name: "App of contacts/index" }).waitFor();
    expect(await page.getByRole("region", { name: "App of contacts/show" }).count()).toBe(0);
    await page.goto(at("kit/7"));
    await page.frameLocator("iframe").getByText("record_id=7").waitFor();
  });

  test.each([
    ["light", 1280],
    ["dark", 1280],
    ["light", 360],
    ["dark", 360],
  ] as const)("have no fault that axe finds, nor a sideways scroll: %s, %i px", async (colorScheme, width) => {
    await using opened = await studio.signedIn({ colorScheme, viewport: { width, height: 800 } });
    const { page } = opened;
    const check = async (part = "body") => {
      const { violations } = await new AxeBuilder({ page })
        .include(part)
        .withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"])
        .exclude("iframe")
        .analyze();
      return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
    };
    await page.goto(at("kit"));
    await page.locator(".cm-content").first().waitFor();
    expect(await check()).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await page.getByRole("dialog", { name: "Sure?" }).waitFor();
    expect(await check("studio-dialog")).toEqual([]);
    await page.goto(at("mount"));
    await page.getByRole("alert").waitFor();
    expect(await check()).toEqual([]);
  });
});

describe("a page that fails says so, and the rest of the Studio works", () => {
  const shown: [name: keyof typeof failing, words: string][] = [
    ["import", "broken at import"],
    ["mount", "broken in mount"],
    ["rejected", "broken later in mount"],
    ["timer", "broken in a timer"],
    ["promise", "broken in a promise"],
    ["bare", "bare words"],
    ["markup", "TrustedHTML"],
    ["nothing", "exports no mount(element, ctx)"],
  ];
  test("at import, in mount, in a timer, in a promise", async () => {
    await using opened = await studio.signedIn();
    const { page } = opened;
    const menu = page.getByRole("navigation", { name: "Menu" });
    for (const [name, words] of shown) {
      await menu.getByRole("link", { name: `Page ${name}`, exact: true }).click();
      await page.getByRole("alert").getByText(words).waitFor();
      await page.getByRole("heading", { level: 1, name: `Page ${name}` }).waitFor();
      await menu.getByRole("link", { name: "Kit", exact: true }).click();
      await page.getByRole("grid", { name: "Boats" }).waitFor();
      expect(await page.getByRole("alert").count()).toBe(0);
    }
  });

  test("when it is left, and after that", async () => {
    await using opened = await studio.signedIn();
    const { page } = opened;
    const menu = page.getByRole("navigation", { name: "Menu" });
    await menu.getByRole("link", { name: "Page unmount" }).click();
    await page.getByText("fine so far").waitFor();
    await menu.getByRole("link", { name: "Apps", exact: true }).first().click();
    await page.getByRole("alert").getByText("broken in unmount").waitFor();
    await page.getByRole("heading", { level: 1, name: "Apps" }).waitFor();

    await menu.getByRole("link", { name: "Page after" }).click();
    await page.getByText("Loading…").waitFor({ state: "detached" });
    await menu.getByRole("link", { name: "Kit", exact: true }).click();
    await page.getByRole("grid", { name: "Boats" }).waitFor();
    await page.evaluate(() => setTimeout(() => dispatchEvent(new Event("late"))));
    await page.getByRole("alert").getByText("broken after all").waitFor();
    await page.getByRole("grid", { name: "Boats" }).waitFor();
  });

  test.each(["never", "waits"])("when it never comes to an end (%s)", async (name) => {
    await using opened = await studio.signedIn();
    const { page, faults } = opened;
    await page.clock.install();
    await page.goto(at(name));
    await page.getByText("Loading…").waitFor();
    await page.clock.fastForward(11_000);
    await page.getByText("It takes longer than usual.").waitFor();
    await page.getByRole("navigation", { name: "Menu" }).getByRole("link", { name: "Kit", exact: true }).click();
    await page.getByRole("grid", { name: "Boats" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("until it can be loaded again", async () => {
    await using opened = await studio.signedIn();
    const { page } = opened;
    await page.route("**/studio/ext/**", (route) => route.abort(), { times: 1 });
    await page.goto(at("kit"));
    await page.getByRole("alert").waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("grid", { name: "Boats" }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });
});

test("a hostile title is a text in the menu, the palette, the heading and the breadcrumbs", async () => {
  await using opened = await studio.signedIn();
  const { page, faults } = opened;
  await page.getByRole("navigation", { name: "Menu" }).getByRole("link", { name: hostile }).click();
  await page.getByRole("heading", { level: 1, name: hostile }).waitFor();
  await page.getByText("here", { exact: true }).waitFor();
  await page.getByRole("navigation", { name: "Breadcrumbs" }).getByText(hostile).waitFor();
  expect(await page.title()).toStartWith(hostile);
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Find or do" }).getByRole("option", { name: hostile }).waitFor();
  expect(await page.locator("main script, nav script, dialog script").count()).toBe(0);
  expect(faults).toEqual([]);
});
