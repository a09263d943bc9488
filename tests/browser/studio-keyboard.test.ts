/** The Studio by keyboard alone: the first day of a new person, and what the mouse does elsewhere. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { faultsOf } from "../chromium.ts";
import { adminPassword, eventually } from "../harness.ts";
import { hasFocus, Keyboard } from "./keyboard.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
beforeAll(async () => {
  studio = await startStudio();
});
afterAll(() => studio.stop());

test("the first day: a database, an import, visitors, an app, a tile, a token, a prompt", async () => {
  const { app, browser } = studio;
  await using context = await browser.newContext({ locale: "en-US", viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const faults = faultsOf(page);
  const keys = new Keyboard(page);
  const heading = (name: string | RegExp) => page.getByRole("heading", { level: 1, name });
  /** A new page has the focus at its heading. */
  const arrived = async (name: string | RegExp) => {
    await heading(name).waitFor();
    await eventually(() => hasFocus(page.locator("main h1, main")));
  };

  await page.goto(app.origin);
  await keys.fill("textbox", "Login or e-mail", "admin");
  await keys.press("Tab");
  await keys.type(adminPassword);
  await keys.press("Enter");
  await heading(/admin/i).waitFor();

  // A database with a number beside the name. Tab leads to the menu, its arrows to an entry.
  await keys.tabTo("link", "Home");
  const databases = page.getByRole("navigation", { name: "Menu" }).getByRole("link", { name: "Data", exact: true });
  await databases.waitFor();
  for (let at = 0; at < 6 && !(await hasFocus(databases)); at++) await keys.press("ArrowDown");
  await keys.press("Enter");
  await arrived("Tables");
  await keys.enter("button", "New table");
  await arrived("New table");
  await keys.fill("textbox", "Name", "Guests");
  await keys.enter("button", "Add field");
  await eventually(() => hasFocus(page.getByLabel("Field name").last()));
  await keys.type("age");
  await keys.press("Tab");
  await keys.type("Number");
  await keys.press("Control+s");
  await arrived("Guests");

  // A file with three faulty rows, which are mended.
  await keys.enter("button", "Fields, import, export and more");
  await keys.enter("link", "Import");
  await arrived("Import into Guests");
  const csv = "name,age\nAnn,30\nBob,old\n,40\nCyd,?\n";
  const choosing = page.waitForEvent("filechooser");
  await keys.enter("button", "Choose a file");
  await (await choosing).setFiles({ name: "guests.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
  await page.getByText("1 of 3").waitFor();
  for (const [field, value] of [
    ["age of row 3", "41"],
    ["name of row 4", "Bea"],
    ["age of row 5", "50"],
  ] as const) {
    if (field.startsWith("age of row 3")) await keys.tabTo("textbox", field);
    await eventually(() => hasFocus(page.getByRole("textbox", { name: field })));
    await keys.press("Control+a");
    await keys.type(value);
    await keys.press("Enter");
  }
  await eventually(() => hasFocus(page.getByRole("button", { name: "Import 4 rows" })));
  await keys.press("Enter");
  await page.getByRole("heading", { name: "4 rows imported" }).waitFor();
  await keys.enter("link", "See the records");
  await arrived("Guests");

  // Visitors may read it.
  await keys.enter("button", "Fields, import, export and more");
  await keys.enter("link", /^Public/);
  await arrived("Public form and link");
  await keys.tabToElement(page.getByRole("group", { name: "list" }).getByRole("checkbox"));
  await keys.press("Space", "Control+s");
  await eventually(async () => (await fetch(`${app.origin}/core/db/guests/list`)).ok);

  // An app over it, on the dashboard.
  await keys.enter("link", /Records/, { back: true });
  await arrived("Guests");
  await keys.enter("button", "Fields, import, export and more");
  await keys.enter("link", "Build an app");
  await arrived("New app");
  const name = page.getByRole("textbox", { name: "Name", exact: true });
  await eventually(async () => (await name.inputValue()) === "Guests");
  await keys.enter("link", "Choose records and columns");
  await page.getByRole("heading", { name: "A list of this table" }).waitFor();
  await keys.enter("button", "Create the list");
  await arrived(/admin/i);
  await page.frameLocator('iframe[title="Guests"]').getByText("Bea").waitFor();

  // A token that can do nothing but databases.
  await keys.command("New access token");
  await arrived("New access token");
  await keys.fill("textbox", /^Name/, "Nightly import");
  await keys.choose("Access to Guests", "Can manage");
  await keys.press("Control+s");
  const dialog = page.getByRole("dialog");
  const token = ((await dialog.getByText(/core_/).first().textContent()) ?? "").trim();
  expect((await app.get("/core/dbs/guests.json", { token })).status).toBe(200);
  expect((await app.get("/core/prompts.json", { token })).status).toBe(403);
  await keys.enter("button", "Done");
  await arrived("Nightly import");

  // A built-in prompt in one's own words.
  await keys.command("Prompts");
  await arrived("Prompts");
  await keys.fill("searchbox", "Find a built-in prompt", "prompts_api");
  await keys.enter("button", "Write one for everyone");
  await page.waitForURL(/\/ai\/prompts\/[0-9a-f-]{36}/);
  await eventually(async () => (await app.sql`select from prompts where code = 'prompts_api'`).length === 1);

  await arrived(/./);
  await keys.enter("button", /Account menu$/, { back: true });
  await keys.enter("button", "Sign out");
  await heading("Sign in").waitFor();
  expect(faults.filter((fault) => !/\b422\b/.test(fault))).toEqual([]);
}, 600_000);

describe("the grid of records", () => {
  test("is one stop of Tab; a cell is changed and taken back, rows are chosen, columns arranged", async () => {
    const { app } = studio;
    const schema = { fields: { name: "string", age: "integer" }, indexed_fields: ["name"] };
    await app.post("/core/dbs.json", { db: { name: "Cells", code: "cells", schema } });
    for (const name of ["Ann", "Bob"])
      await app.post("/core/dbs/cells/records.json", { record: { data: { name, age: 30 } } });
    await using opened = await studio.signedIn();
    const { page, faults } = opened;
    const keys = new Keyboard(page);
    const grid = page.getByRole("grid", { name: "Records" });
    const cell = (name: string) => grid.getByRole("gridcell", { name, exact: true });
    const ages = async () =>
      (await app.get("/core/dbs/cells/search.json?sort=name")).json.map(({ age }: { age: unknown }) => age);
    await page.goto(`${app.origin}/studio/core/dbs/cells/records?sort=name`);
    await cell("Ann").waitFor();

    await keys.tabToElement(cell("Ann"));
    await keys.press("ArrowRight", "F2", "Control+a");
    await keys.type("31");
    await keys.press("Enter");
    await page.getByRole("status").getByText("Age: 31").waitFor();
    // Enter goes down.
    await eventually(() => hasFocus(grid.locator("[aria-rowindex='3'] [aria-colindex='3']")));
    await keys.press("Control+z");
    await eventually(async () => (await ages())[0] === 30);
    await keys.press("ArrowUp");

    // The header has a menu that sorts; the next Tab leaves the grid.
    await keys.press("ArrowUp", "Enter");
    await page.locator("button:focus", { hasText: "Sort: Smallest" }).waitFor();
    await keys.press("Enter");
    await page.waitForURL(/sort=age/);
    await eventually(() => hasFocus(grid.getByRole("columnheader", { name: "Age" })));
    await keys.press("ArrowLeft", "Enter");
    await page.locator("button:focus", { hasText: "Sort: A to Z" }).waitFor();
    await keys.press("ArrowDown");
    await page.locator("button:focus", { hasText: "Sort: Z to A" }).waitFor();
    await keys.press("Enter");
    await page.waitForURL(/sort=-name/);
    await eventually(() => hasFocus(grid.getByRole("columnheader", { name: "Name" })));
    await keys.press("Tab");
    expect(await grid.locator(":focus").count()).toBe(0);
    await keys.press("Shift+Tab");
    expect(await hasFocus(grid.getByRole("columnheader", { name: "Name" }))).toBe(true);

    // A record is opened, and Esc leads back to its cell.
    await grid.getByRole("gridcell", { name: "Bob", exact: true }).waitFor();
    await keys.press("ArrowDown", "Home", "Enter");
    const panel = page.getByRole("complementary", { name: "Bob" });
    await panel.getByRole("button", { name: "Name Bob" }).waitFor();
    // K and J go along the list; E changes the first field, and Esc leaves it before it closes the record.
    await keys.press("j");
    await page.getByRole("complementary", { name: "Ann" }).getByText("2 of 2").waitFor();
    await keys.press("k");
    await panel.getByText("1 of 2").waitFor();
    await panel.getByRole("button", { name: "Age 30" }).waitFor();
    await keys.press("e");
    await eventually(() => hasFocus(panel.getByRole("textbox", { name: "Name" })));
    await keys.type("nobody");
    await keys.press("Escape");
    await eventually(() => hasFocus(panel.getByRole("button", { name: "Name Bob" })));
    await keys.press("Escape");
    await panel.waitFor({ state: "detached" });
    expect(await hasFocus(grid.locator("[aria-rowindex='2'] [aria-colindex='1']"))).toBe(true);

    // Both rows are deleted and brought back.
    await keys.press("ArrowUp", "Space");
    await page.getByText("Chosen: 2").waitFor();
    await keys.enter("button", "Delete", { back: true });
    await page.getByText("Chosen: 2").waitFor({ state: "detached" });
    await page.getByText("2 records deleted").first().waitFor();
    // Without a record there is no grid: the page has the focus.
    await eventually(async () => (await page.locator("body:focus").count()) === 0);
    await keys.press("Control+z");
    await eventually(async () => (await ages()).length === 2);

    await keys.tabToElement(page.locator("summary", { hasText: "Columns" }), { back: true });
    await keys.press("Enter");
    const later = await keys.tabTo("button", "Move later: Name");
    await keys.press("Enter");
    await page.waitForURL(/cols=age%2Cname/);
    await eventually(() => hasFocus(later));
    await keys.press("Escape");
    expect(await later.count()).toBe(0);
    expect(await page.locator("summary:focus").textContent()).toBe("Columns");
    expect(faults).toEqual([]);
  });
});

test("a list is one stop of Tab: arrows move in it, Space chooses, and a deletion leaves the focus in it", async () => {
  const { app } = studio;
  for (const name of ["Alpha", "Beta"])
    await app.post("/core/prompts.json", { prompt: { name, code: `listed_${name}`.toLowerCase(), content: "Hello" } });
  await using opened = await studio.signedIn({ at: "/studio/core/prompts?q=listed" });
  const { page } = opened;
  const keys = new Keyboard(page);
  const grid = page.getByRole("grid", { name: "Prompts" });
  const row = (name: string) => grid.getByRole("row").filter({ hasText: name });
  await row("Beta").waitFor();
  await keys.tabToElement(grid.locator("[role=gridcell]"));
  await keys.press("Tab");
  expect(await grid.locator(":focus").count()).toBe(0);
  await keys.press("Shift+Tab", "ArrowUp", "Home", "ArrowRight");
  expect(await hasFocus(grid.getByRole("columnheader", { name: "Name" }))).toBe(true);
  await keys.press("ArrowDown", "End", "Home", "Space");
  await page.getByText("1 chosen").waitFor();
  await keys.enter("button", "Delete", { back: true });
  await eventually(async () => (await grid.locator(":focus").count()) === 1);
  await keys.press("Control+z");
  await eventually(async () => (await grid.getByRole("row").count()) === 3);
  // Enter opens the row: the page has the focus at its heading, and so has the list that one comes back to.
  await keys.press("Control+End", "Enter");
  await page.getByRole("heading", { level: 1, name: /Alpha|Beta/ }).waitFor();
  await eventually(() => hasFocus(page.locator("main h1, main")));
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "Prompts" }).waitFor();
  await eventually(() => hasFocus(page.locator("main h1, main")));
});

test("a conflict of two people is solved: the dialog stays until it is, and the focus comes back", async () => {
  const { app } = studio;
  const prompt = { name: "Sales", code: "sales", content: "Hello" };
  const { id } = (await app.post("/core/prompts.json", { prompt })).json;
  const address = `/core/prompts/${id}.json`;
  await using opened = await studio.signedIn({ at: `/studio/core/prompts/${id}` });
  const { page } = opened;
  const keys = new Keyboard(page);
  await keys.fill("textbox", "Name", "Mine");
  await app.patch(address, { prompt: { name: "Theirs", ai_placeholder: "Ask" } });
  await keys.enter("button", "Save");
  const dialog = page.getByRole("dialog", { name: "Somebody else has changed this" });
  await dialog.waitFor();
  await keys.press("Escape", "Escape", "Escape");
  expect(await dialog.evaluate((element) => element.matches(":modal"))).toBe(true);
  // The shortcuts of the page behind do nothing, and Tab stays in the dialog.
  await keys.press("Control+s", "Control+k");
  expect(await page.getByRole("dialog").count()).toBe(1);
  await keys.tabTo("radio", /Keep mine/);
  await keys.press("ArrowUp");
  expect(await dialog.getByRole("radio", { name: /Take theirs/ }).isChecked()).toBe(true);
  await keys.press("ArrowDown");
  await keys.enter("button", "Apply");
  await dialog.waitFor({ state: "detached" });
  expect(await hasFocus(page.getByRole("button", { name: "Save" }))).toBe(true);
  await keys.press("Enter");
  await eventually(async () => (await app.get(address)).json.name === "Mine");
  expect((await app.get(address)).json.ai_placeholder).toBe("Ask");
});

test("each dialog, panel and menu gives the focus back to what opened it", async () => {
  const { app } = studio;
  const id = (await app.post("/core/dbs.json", { db: { name: "Closing", code: "closing" } })).json.id;
  await using opened = await studio.signedIn({ at: `/studio/core/dbs/${id}/settings` });
  const { page } = opened;
  const keys = new Keyboard(page);
  await page.getByRole("button", { name: "Delete" }).waitFor();
  for (const [button, dialog] of [
    ["Show as API", "Show as API"],
    ["Delete", "Delete"],
  ] as const) {
    const opener = await keys.tabTo("button", button);
    await keys.press("Enter");
    await page.getByRole("dialog", { name: dialog }).waitFor();
    // Tab goes around in it, or to the browser's own bar; never to the page behind.
    for (let stop = 0; stop < 5; stop++) {
      await keys.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.matches("body, dialog *"))).toBe(true);
    }
    await keys.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await hasFocus(opener)).toBe(true);
  }
  await keys.press("Control+k");
  await page.getByRole("combobox", { name: "Find things, records and actions" }).waitFor();
  await keys.press("Control+k");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await hasFocus(page.getByRole("button", { name: "Delete" }))).toBe(true);

  const account = await keys.tabTo("button", /Account menu$/, { back: true });
  await keys.press("Enter");
  await keys.tabTo("button", "Sign out");
  await keys.press("Escape");
  expect(await hasFocus(account)).toBe(true);
  expect(await page.getByRole("button", { name: "Sign out" }).count()).toBe(0);

  await page.goto(`${app.origin}/studio/core/prompts`);
  await page.getByRole("heading", { level: 1, name: "Prompts" }).waitFor();
  const filters = await keys.tabToElement(page.locator("summary", { hasText: "Filters" }));
  await keys.press("Enter");
  await keys.tabTo("combobox", "Used for");
  await keys.press("Escape");
  expect(await hasFocus(filters)).toBe(true);
  // A panel that the focus leaves does not stay over what has it then.
  await keys.press("Enter");
  await keys.tabToElement(page.locator("summary", { hasText: "Columns" }));
  expect(await page.getByRole("combobox", { name: "Used for" }).count()).toBe(0);
});

test("shortcuts are told where they work, and leave alone what is typed", async () => {
  const { app } = studio;
  const id = (await app.post("/account/departments.json", { department: { name: "Gone soon" } })).json.id;
  await using opened = await studio.signedIn();
  const { page } = opened;
  const keys = new Keyboard(page);
  const search = page.getByRole("button", { name: "Search" });
  expect(await search.getAttribute("title")).toBe("Find or do (Ctrl+K)");
  expect(await search.getAttribute("aria-keyshortcuts")).toBe("Control+K");
  await page.goto(`${app.origin}/studio/account/departments/${id}`);
  expect(await page.getByRole("button", { name: "Save" }).getAttribute("title")).toBe("Save (Ctrl+S)");
  await keys.press("Control+k");
  await page.getByRole("option", { name: /^Save.*Ctrl\+S$/ }).waitFor();
  await keys.press("Escape");
  await keys.enter("button", "Delete");
  await page.getByRole("heading", { level: 1, name: "Departments" }).waitFor();
  await page.getByRole("button", { name: "Undo" }).waitFor();
  expect(await page.getByRole("button", { name: "Undo" }).getAttribute("title")).toBe("Undo (Ctrl+Z)");

  // In a field Ctrl+Z takes back what was typed; elsewhere the deletion.
  await keys.command("New department");
  await keys.fill("textbox", "Name", "New words");
  await keys.press("Control+z");
  await eventually(async () => (await page.getByRole("textbox", { name: "Name" }).inputValue()) !== "New words");
  expect(page.url()).toEndWith("/new");
  await keys.enter("link", "Cancel");
  await page.getByRole("heading", { level: 1, name: "Departments" }).waitFor();
  await keys.press("Control+z");
  await page.getByRole("heading", { level: 1, name: "Gone soon" }).waitFor();
  expect((await app.get(`/account/departments/${id}.json`)).status).toBe(200);
});

test("tiles are arranged with the focus staying on the tile that moves", async () => {
  const { app } = studio;
  for (const name of ["First", "Second"])
    await app.post("/core/apps.json", {
      app: { name, app_engine: "html", css_engine: "none", source_code: `<p>${name}</p>`, dashboard_widget: true },
    });
  await using opened = await studio.signedIn();
  const { page } = opened;
  const keys = new Keyboard(page);
  await keys.enter("button", "Edit tiles");
  for (const name of ["First", "Second"]) {
    await keys.tabTo("combobox", "Add a tile");
    await keys.type(name);
    await keys.enter("button", "Add a tile");
    await page.getByRole("article", { name }).waitFor();
    await keys.tabTo("button", "Edit tiles", { back: true });
  }
  const before = await page.getByRole("article").count();
  const earlier = await keys.tabTo("button", "Move earlier: Second");
  for (let moves = 1; moves < before; moves++) {
    await keys.press("Enter");
    await eventually(() => hasFocus(earlier));
  }
  await eventually(async () => (await earlier.getAttribute("aria-disabled")) === "true");
  expect(await hasFocus(earlier)).toBe(true);
  await keys.press("Enter"); // it is the first already
  await keys.enter("button", "Wider: Second");
  expect(await hasFocus(page.getByRole("button", { name: "Wider: Second" }))).toBe(true);
  await keys.enter("button", "Remove: First");
  expect(await hasFocus(page.getByRole("combobox", { name: "Add a tile" }))).toBe(true);
  await eventually(async () => {
    const tiles = (await app.get("/account/me/preferences.json")).json["studio.dashboard"]?.tiles;
    return tiles?.length === before - 1 && tiles[0].width === 2;
  });
});

test("on a phone the menu opens, closes and leads on, and the header of a list is seen while it has the focus", async () => {
  const { app } = studio;
  await app.post("/account/groups.json", { group: { name: "On a phone" } });
  await using opened = await studio.signedIn({ viewport: { width: 360, height: 700 } });
  const { page } = opened;
  const keys = new Keyboard(page);
  const button = await keys.tabTo("button", "Menu");
  await keys.press("Enter");
  await keys.tabTo("link", "Prompts");
  await keys.press("Escape");
  expect(await hasFocus(button)).toBe(true);
  expect(await button.getAttribute("aria-expanded")).toBe("false");
  await keys.press("Enter");
  await keys.enter("link", "People");
  await page.getByRole("heading", { level: 1, name: "People" }).waitFor();
  expect(await button.getAttribute("aria-expanded")).toBe("false");
  await keys.enter("link", "Groups");
  await page.getByRole("heading", { level: 1, name: "Groups" }).waitFor();
  expect(await button.getAttribute("aria-expanded")).toBe("false");
  const grid = page.getByRole("grid", { name: "Groups" });
  await keys.tabToElement(grid.locator("[role=gridcell]"));
  await keys.press("ArrowUp");
  const { width, height } = (await page.locator("[role=columnheader]:focus").boundingBox()) ?? { width: 0, height: 0 };
  expect(Math.min(width, height)).toBeGreaterThan(20);
});
