/** What a new person does on the first day, with the mouse and without any documentation. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../harness.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
beforeAll(async () => {
  studio = await startStudio();
});
afterAll(() => studio.stop());

test("from signing in to signing out: a database, an import, visitors, an app, a tile, a token, a prompt", async () => {
  const { app } = studio;
  await using opened = await studio.signedIn();
  const { page, faults } = opened;
  const menu = page.getByRole("navigation", { name: "Menu" });
  const save = () => page.getByRole("button", { name: "Save", exact: true }).click();
  const open = async (name: string) => {
    await menu.getByRole("link", { name, exact: true }).click();
    await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  };

  // A database with a number beside the name.
  await menu.getByRole("link", { name: "Add a table" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Guests");
  await page.getByRole("button", { name: "Add field" }).click();
  await page.getByLabel("Field name").last().fill("age");
  await page.getByLabel("Kind of age").selectOption("Number");
  await page.getByRole("button", { name: "Create table" }).click();
  await page.getByRole("heading", { level: 1, name: "Guests" }).waitFor();

  // A file with three faulty rows, which are mended.
  const gear = () => page.getByRole("button", { name: "Fields, import, export and more" }).click();
  await gear();
  await page.getByRole("link", { name: "Import", exact: true }).click();
  const csv = "name,age\nAnn,30\nBob,old\n,40\nCyd,?\n";
  await page
    .locator("input[type=file]")
    .setInputFiles({ name: "guests.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
  for (const [field, value] of [
    ["age of row 3", "41"],
    ["name of row 4", "Bea"],
    ["age of row 5", "50"],
  ] as const) {
    await page.getByLabel(field, { exact: true }).fill(value);
    await page.getByRole("button", { name: "Put right" }).click();
  }
  await page.getByRole("button", { name: "Import 4 rows" }).click();
  await page.getByRole("heading", { name: "4 rows imported" }).waitFor();
  await page.getByRole("link", { name: "See the records" }).click();

  // Visitors may read it.
  await gear();
  await page.getByRole("link", { name: /^Public/ }).click();
  await page.getByRole("group", { name: "list" }).getByRole("checkbox").check();
  await save();
  await eventually(async () => (await fetch(`${app.origin}/core/db/guests/list`)).ok);

  // An app over it, on the dashboard.
  await page.getByRole("navigation", { name: "Parts of the table" }).getByRole("link", { name: "Records" }).click();
  await gear();
  await page.getByRole("link", { name: "Build an app" }).click();
  await page.getByRole("radio", { name: "List of a table", checked: true }).waitFor();
  await page.getByRole("link", { name: "Choose records and columns" }).click();
  await page.getByRole("button", { name: "Create the list" }).click();
  await page.frameLocator('iframe[title="Guests"]').getByText("Bea").waitFor();

  // A token that can do nothing but databases.
  await open("Access tokens");
  await page.getByRole("button", { name: "New access token" }).click();
  await page.getByRole("textbox", { name: /^Name/ }).fill("Nightly import");
  await page.getByLabel("Access to Guests").selectOption("manage");
  await page.getByRole("button", { name: "Create a token for: Guests: Can manage" }).click();
  const dialog = page.getByRole("dialog");
  const token = ((await dialog.getByText(/core_/).first().textContent()) ?? "").trim();
  expect((await app.get("/core/dbs/guests.json", { token })).status).toBe(200);
  expect((await app.get("/core/prompts.json", { token })).status).toBe(403);
  await dialog.getByRole("button", { name: "Done" }).click();

  // A built-in prompt in one's own words.
  await open("Prompts");
  await page.getByLabel("Find a built-in prompt").fill("prompts_api");
  await page.getByRole("button", { name: "Write one for everyone" }).first().click();
  await page.waitForURL(/\/ai\/prompts\/[0-9a-f-]{36}/);
  await eventually(async () => (await app.sql`select from prompts where code = 'prompts_api'`).length === 1);

  // A preview may be on its way still when the session ends.
  expect(faults.filter((fault) => !/\b422\b/.test(fault))).toEqual([]);
  await page.getByRole("button", { name: "Account menu" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
});
