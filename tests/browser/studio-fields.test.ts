/** The fields of a table as people change them: a new table, its fields, their editor, and its settings. */
import { AxeBuilder } from "@axe-core/playwright";
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

const button = (of: Page | Locator, name: string) => of.getByRole("button", { name, exact: true });
const schema = async (code = "orders") => (await app.get(`/core/dbs/${code}.json`)).json.schema;
const names = async () => Object.keys((await schema()).fields);
const say = (page: Page, words: string) => page.getByRole("status").getByText(words).first().waitFor();

async function axe(page: Page, where: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).include(where).analyze();
  expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
}

async function newTable(page: Page): Promise<void> {
  await button(page, "Create table").click();
  await page.getByRole("alert").getByText("Some fields need your attention").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("Orders");
  await page.getByLabel("Field name").fill("Order no");
  await button(page, "Add field").click();
  await page.getByLabel("Field name").last().fill("Status");
  await page.getByLabel("Kind of Status").selectOption("Choice");
  await page.getByLabel("Values of Status").fill("New, Done");
  await page.getByText("For developers").click();
  await button(page, "Show as API").click();
  const api = page.getByRole("dialog", { name: "Show as API" });
  expect(await api.locator("pre").innerText()).toContain('"order_no"');
  await button(api, "Close").click();
  await button(page, "Create table").click();
  await page.getByRole("heading", { level: 1, name: "Orders" }).waitFor();
  expect(await schema()).toEqual({
    fields: {
      order_no: { type: "string", required: true, label: { en: "Order no" } },
      status: {
        type: "string",
        choices: [
          { value: "New", color: "sky" },
          { value: "Done", color: "plum" },
        ],
        label: { en: "Status" },
      },
    },
    indexed_fields: ["order_no"],
    history: true,
  });
}

/** From the grid: the header's menu opens the same editor over it. */
async function changeChoice(page: Page): Promise<void> {
  await app.post("/core/dbs/orders/records.json", { record: { data: { order_no: "O-1", status: "New" } } });
  await page.reload();
  await page.getByRole("columnheader", { name: "Status" }).getByRole("button").click();
  await button(page, "Edit field").click();
  const panel = page.getByRole("dialog", { name: "Field Status" });
  await panel.getByText("1 record uses it").waitFor();
  await panel.getByLabel("Value 1").fill("Just in");
  await button(panel, "Names in 3 languages").click();
  await panel.getByLabel("Just in (PL)").fill("Nowe");
  await button(panel, "Colour of Done, now Plum").click();
  await button(panel, "Green").click();
  await button(panel, "Value").click();
  await page.keyboard.type("Late");
  await panel.getByLabel("A new record has").selectOption("Just in");
  await button(panel, "Save field").click();
  await panel.waitFor({ state: "detached" });
  await page.getByRole("gridcell", { name: "Just in", exact: true }).waitFor();
  const { status } = (await schema()).fields;
  expect(status.choices).toEqual([
    { value: "New", color: "sky", label: { en: "Just in", pl: "Nowe" } },
    { value: "Done", color: "green" },
    { value: "Late", color: "teal" },
  ]);
  expect(status.default).toBe("New");
}

/** A link, and what the linked record says of it. */
async function addLink(page: Page): Promise<void> {
  await button(page, "Fields, import, export and more").click();
  await page.getByRole("link", { name: "Fields", exact: true }).click();
  await button(page, "Add field").click();
  const adding = page.getByRole("region", { name: "Add field" });
  await adding.getByRole("searchbox").fill("relation");
  await page.keyboard.press("Enter");
  await adding.getByLabel("Field name").fill("Customer");
  await adding.getByLabel("Links to").selectOption("Customers");
  await button(adding, "Add field").click();
  const panel = page.getByRole("complementary", { name: "Field Customer" });
  await panel.getByText("A record of Customers lists what links to it, under “Orders”.").waitFor();
  await panel
    .getByLabel("When the linked record is deleted")
    .selectOption("it cannot be deleted as long as it is linked");
  await axe(page, "main");
  await button(panel, "Save field").click();
  await eventually(async () => (await schema()).fields.customer.on_delete === "restrict");
  await page.getByText("Linked record · Customers").waitFor();
}

test("a table is made and its fields are changed, mended, moved, deleted and restored", async () => {
  const made = await app.post("/core/dbs.json", {
    db: { name: "Customers", code: "customers", schema: { fields: { name: "string" } } },
  });
  expect(made.status).toBe(201);
  await using opened = await studio.signedIn({ at: "/studio/core/dbs/new" });
  const { page, faults } = opened;
  await newTable(page);
  await changeChoice(page);
  await addLink(page);

  // A new short name takes the values along. A value that repeats is told of at the switch.
  await app.post("/core/dbs/orders/records.json", { record: { data: { order_no: "O-1" } } });
  await page.getByRole("link", { name: "Order no" }).click();
  const panel = page.getByRole("complementary", { name: /^Field / });
  await panel.getByLabel("Name (Polish)").fill("Numer");
  await panel.getByText("For developers").click();
  await panel.getByLabel("Short name").fill("no");
  await panel.getByRole("switch", { name: /^Unique/ }).check();
  await button(panel, "Save field").click();
  await panel.getByText('these values repeat: "O-1"').waitFor();
  await eventually(() => hasFocus(panel.getByRole("switch", { name: /^Unique/ })));
  await panel.getByRole("switch", { name: /^Unique/ }).uncheck();
  // Somebody else changes another part of it meanwhile: both are kept.
  const theirs = await schema();
  theirs.fields.no.help = { en: "On the paper" };
  expect((await app.patch("/core/dbs/orders.json", { db: { schema: theirs } })).status).toBe(200);
  await button(panel, "Save field").click();
  await say(page, "The field Order no is saved.");
  expect((await schema()).fields.no).toEqual({
    type: "string",
    required: true,
    label: { en: "Order no", pl: "Numer" },
    help: { en: "On the paper" },
  });
  expect((await app.get("/core/dbs/orders/records.json")).json[0].data.no).toBe("O-1");

  // Another kind says what happens; what was typed is kept when the panel is closed, and offered again.
  await page.getByRole("link", { name: "Order no" }).click();
  await panel.getByRole("button", { name: /^Text/ }).click();
  await panel.getByRole("searchbox").fill("count");
  await page.keyboard.press("Enter");
  await panel.getByText("What records have in it stays as it is.").waitFor();
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Order no" }).click();
  await button(panel, "Restore").click();
  await panel.getByText("What records have in it stays as it is.").waitFor();
  await button(panel, "Cancel").click();

  // By keys and by dragging.
  await page.getByRole("link", { name: "Customer", exact: true }).focus();
  await page.keyboard.press("Alt+ArrowUp");
  await page.keyboard.press("Alt+ArrowUp");
  await eventually(async () => (await names()).join() === "customer,no,status");
  expect(await hasFocus(page.getByRole("link", { name: "Customer", exact: true }))).toBe(true);
  await button(page, "Move Status").dragTo(button(page, "Move Customer"));
  await eventually(async () => (await names()).join() === "status,customer,no");

  await page.getByRole("link", { name: "Status" }).click();
  await button(panel, "Delete field").click();
  await say(page, "The field Status is deleted");
  await say(page, "2 records keep what they have in it: see “Deleted fields” below the fields.");
  await eventually(async () => !(await names()).includes("status"));
  await button(page, "Undo").click();
  await eventually(async () => (await names()).join() === "status,customer,no");

  // Without the toast, and after another visit.
  await page.getByRole("link", { name: "Status" }).press("Delete");
  await eventually(async () => !(await names()).includes("status"));
  await page.reload();
  await page.getByText("Deleted fields (1)").click();
  await page.getByRole("listitem").getByText("In 2 records").waitFor();
  await axe(page, ".fields");
  await button(page, "Bring back: Status").click();
  await say(page, "The field Status is back.");
  expect((await schema()).fields.status).toMatchObject({ type: "string", label: { en: "Status" } });
  await page.getByRole("link", { name: "Status" }).press("Delete");
  await page.getByText("Deleted fields (1)").click();
  await button(page, "Delete the values too: Status").click();
  await button(page.getByRole("dialog"), "Yes").click();
  await say(page, "The values of Status are deleted.");
  expect((await app.get("/core/dbs/orders/records.json")).json[0].data.status ?? null).toBe(null);
  expect(faults.filter((fault) => !/412|422/.test(fault))).toEqual([]);
});

test("with keys alone a field is opened, required and saved, on a phone and in the dark", async () => {
  await app.post("/core/dbs.json", {
    db: { name: "Guests", code: "guests", schema: { fields: { name: "string", age: "integer" } } },
  });
  await using opened = await studio.signedIn({
    at: "/studio/core/dbs/guests/schema",
    viewport: { width: 360, height: 740 },
    colorScheme: "dark",
  });
  const { page, faults } = opened;
  const keys = new Keyboard(page);
  await keys.enter("link", "Age");
  const panel = page.getByRole("complementary", { name: "Field Age" });
  await panel.waitFor();
  await axe(page, ".field-panel");
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await keys.tabTo("switch", "Required");
  await keys.press("Space", "Control+s");
  await panel.waitFor({ state: "detached" });
  expect((await schema("guests")).fields.age).toEqual({ type: "integer", required: true });
  expect(await hasFocus(page.getByRole("link", { name: "Age" }))).toBe(true);
  expect(faults).toEqual([]);
});

test("the settings of a table are saved at once, and its fields as JSON with both sides of a conflict", async () => {
  await app.post("/core/dbs.json", {
    db: { name: "Sorted", code: "sorted", schema: { fields: { name: "string", age: "integer" } } },
  });
  await using opened = await studio.signedIn({ at: "/studio/core/dbs/sorted/settings" });
  const { page, faults } = opened;
  await page.getByRole("switch", { name: /^Keep every change/ }).check();
  await eventually(async () => (await schema("sorted")).history === true);
  for (const name of ["Name", "Age"]) {
    await page.getByRole("switch", { name }).check();
    await page.getByText("Saved").waitFor();
  }
  await page.getByLabel("Filter by").selectOption("Name");
  await page.getByLabel("Sort by").selectOption("Age");
  await button(page, "Add").click();
  await page.getByText("Name, largest Age first").waitFor();
  expect(await schema("sorted")).toMatchObject({ indexed_fields: ["name", "age"], sorts: [["name", "-age"]] });
  await button(page, "Remove: Name, largest Age first").click();
  await eventually(async () => !(await schema("sorted")).sorts?.length);

  const write = async (json: string) => {
    await page.getByRole("textbox", { name: "Fields as JSON" }).press("Control+a");
    await page.keyboard.insertText(json);
  };
  await write('{"fields": {"name": "nothing"}}');
  await button(page, "Save JSON").click();
  await page.getByRole("alert").getByText("must be one of string").waitFor();
  await app.patch("/core/dbs/sorted.json", { db: { schema: { fields: { name: "string" } } } });
  await write('{"fields": {"name": "text"}}');
  await button(page, "Save JSON").click();
  const conflict = page.getByRole("dialog");
  await button(conflict, "Apply").click();
  await eventually(async () => (await schema("sorted")).fields.name === "text");
  expect(faults.filter((fault) => !/412|422/.test(fault))).toEqual([]);
});

test("texts become links to the records that they name, or choices of what they have", async () => {
  await app.post("/core/dbs.json", { db: { name: "Firms", code: "firms", schema: { fields: { name: "string" } } } });
  const nord = await app.post("/core/dbs/firms/records.json", { record: { data: { name: "Nord AG" } } });
  await app.post("/core/dbs.json", {
    db: { name: "Bills", code: "bills", schema: { fields: { firm: "string", state: "string" } } },
  });
  for (const [firm, state] of [
    ["Nord AG", "open"],
    ["nord ag ", "paid"],
    ["Nobody", "open"],
  ])
    await app.post("/core/dbs/bills/records.json", { record: { data: { firm, state } } });
  await using opened = await studio.signedIn({ at: "/studio/core/dbs/bills/schema" });
  const { page, faults } = opened;
  const panel = page.getByRole("complementary", { name: /^Field / });
  const become = async (field: string, kind: RegExp) => {
    await page.getByRole("link", { name: field, exact: true }).click();
    await panel.getByRole("button", { name: /^Text/ }).click();
    await panel.getByRole("button", { name: kind }).click();
  };
  await become("Firm", /^Linked record/);
  await panel.getByText("Choose the table.").waitFor();
  await panel.getByLabel("Links to").selectOption("Firms");
  await button(panel, "Save field").click();
  await say(page, "2 of 3 values are links now. The texts stay in “Firm (text)”");
  const links = async () =>
    (await app.get("/core/dbs/bills/records.json?sort=created_at")).json.map(
      ({ data }: { data: Record<string, unknown> }) => data["firm_2"] ?? null,
    );
  expect(await links()).toEqual([nord.json.id, nord.json.id, null]);
  expect((await schema("bills")).fields).toMatchObject({
    firm: { type: "string", label: "Firm (text)" },
    firm_2: { type: "string", link: "firms" },
  });
  await button(page, "Undo").click();
  await eventually(async () => Object.keys((await schema("bills")).fields).join() === "firm,state");

  await become("State", /^Choice/);
  await eventually(async () => (await panel.getByLabel("Value 2").inputValue()) === "paid");
  await button(panel, "Save field").click();
  await say(page, "The field State is saved.");
  const { choices } = (await schema("bills")).fields.state;
  expect(choices.map(({ value }: { value: string }) => value)).toEqual(["open", "paid"]);
  expect(faults).toEqual([]);
});

test("a rollup says of which field what is worked out, and the grid shows it at once", async () => {
  await app.post("/core/dbs.json", { db: { name: "Trips", code: "trips", schema: { fields: { name: "string" } } } });
  const fields = {
    trip: { type: "string", link: "trips", label: "Trip" },
    cost: { type: "number", format: "money", currency: "EUR" },
    note: "string",
  };
  await app.post("/core/dbs.json", { db: { name: "Costs", code: "costs", schema: { fields } } });
  const { json: trip } = await app.post("/core/dbs/trips/records.json", { record: { data: { name: "Oslo" } } });
  for (const cost of [20, 30.5])
    await app.post("/core/dbs/costs/records.json", { record: { data: { trip: trip.id, cost } } });
  await using opened = await studio.signedIn({ at: "/studio/core/dbs/trips/records" });
  const { page, faults } = opened;
  await button(page, "Add field").click();
  const adding = page.getByRole("group", { name: "Add field" });
  await adding.getByRole("searchbox").fill("average");
  await adding.getByRole("searchbox").press("Enter");
  await adding.getByLabel("Field name").fill("Spent");
  await adding.getByLabel("It shows").selectOption("the sum");
  await button(adding, "Add field").click();
  await adding.getByText("must name the linking field").waitFor();
  await adding.getByLabel("Works it out of").selectOption("Costs · Trip");
  await button(adding, "Add field").click();
  await adding.getByText("must name the field that sum").waitFor();
  expect(await adding.getByLabel("Of the field").locator("option").allInnerTexts()).toEqual(["", "Cost"]);
  await adding.getByLabel("Of the field").selectOption("Cost");
  await button(adding, "Add field").click();
  await page.getByRole("gridcell", { name: "50.50" }).waitFor();
  expect((await schema("trips")).fields.spent).toEqual({
    type: "number",
    rollup: { of: "costs.trip", op: "sum", field: "cost" },
    format: "money",
    currency: "EUR",
    label: { en: "Spent" },
  });

  // Something else is worked out: the grid follows. Whoever is quicker than the answer about the tables waits for it.
  const held = Promise.withResolvers<void>();
  await page.route("**/core/dbs.json?limit=200", async (route) => held.promise.then(() => route.continue()));
  await page.getByRole("columnheader", { name: "Spent" }).getByRole("button").click();
  await button(page, "Edit field").click();
  const panel = page.getByRole("dialog", { name: "Field Spent" });
  expect(await panel.getByLabel("It shows").isDisabled()).toBe(true);
  held.resolve();
  await panel.getByLabel("It shows").selectOption("the largest or latest");
  await button(panel, "Save field").click();
  await page.getByRole("gridcell", { name: "30.50" }).waitFor();
  expect(faults.filter((fault) => !/422/.test(fault))).toEqual([]);
});
