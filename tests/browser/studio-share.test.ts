/** A table is shared in the Studio: with whom, within which limits, as they see it, and with the public. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, person, type TestApp } from "../harness.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

const admin = { to: "user:1", may: "manage" };
const password = "a long pass phrase";
let studio: Studio;
let app: TestApp;
let jan: number;
beforeAll(async () => {
  studio = await startStudio();
  ({ app } = studio);
  jan = (await person(app, { login: "jan", role: "user", password })).id;
  await app.patch(`/account/users/${jan}.json`, { user: { name: "Jan Example" } });
  await app.post("/core/dbs.json", { db: { name: "Clients", code: "clients", access: [admin] } });
  const client = { type: "string", link: "clients" };
  const fields = { no: "string", client, owner: "integer", amount: "integer", margin: "number" };
  await app.post("/core/dbs.json", { db: { name: "Deals", code: "deals", schema: { fields } } });
  for (const [no, owner, amount] of [
    ["D-1", jan, 5],
    ["D-2", jan, 50],
    ["D-3", 1, 500],
  ])
    await app.post("/core/dbs/deals/records.json", { record: { data: { no, owner, amount, margin: 0.1 } } });
});
afterAll(() => studio.stop());

const stored = async () => (await app.get("/core/dbs/deals.json")).json;

test("with a person, their own records and no margins: as they see it, and what is wrong stands at its place", async () => {
  await using opened = await studio.signedIn({ at: "/studio/core/dbs/deals/records" });
  const { page } = opened;
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Share Deals" });
  await dialog.getByText("Everybody who may use tables sees Deals").waitFor();
  await dialog.getByRole("combobox", { name: /People, teams or roles/ }).fill("Jan");
  await page.keyboard.press("Enter");
  await dialog.getByLabel("They can").selectOption({ label: "Can edit" });
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await eventually(async () => (await stored()).access?.length === 2, "the first grants");
  expect((await stored()).access).toEqual([
    { to: "user:1", may: "manage" },
    { to: `user:${jan}`, may: "edit" },
  ]);

  // What it links to is closed to them: that is said, and opened at once.
  const other = async () => (await app.get("/core/dbs/clients.json")).json.access;
  await dialog.getByRole("note").getByText("Deals links to Clients, which Jan Example cannot see").waitFor();
  await dialog.getByRole("button", { name: "Give read access to Clients too" }).click();
  await dialog.getByRole("note").waitFor({ state: "detached" });
  expect(await other()).toEqual([admin, { to: `user:${jan}`, may: "read" }]);

  await dialog.getByLabel("Look as").selectOption({ label: "Jan Example" });
  await dialog.getByText("Jan Example would see 3 of 3 records. Can edit.").waitFor();
  await dialog.getByRole("button", { name: "Limits for Jan Example" }).click();
  await dialog.getByLabel("Only their own records, by the field").check();
  expect(await dialog.getByLabel("The field that says whose a record is").inputValue()).toBe("owner");
  await dialog.getByText("Jan Example would see 2 of 3 records.").waitFor();
  await dialog.getByText("Own records", { exact: true }).waitFor();
  await dialog.getByRole("checkbox", { name: "Margin" }).check();
  const seen = dialog.getByRole("region", { name: "As Jan Example sees it" });
  await seen.getByRole("columnheader", { name: "Margin" }).waitFor({ state: "detached" });
  expect(await seen.getByRole("cell", { name: "D-2" }).count()).toBe(1);

  await dialog.getByRole("button", { name: "Add a condition" }).click();
  await dialog.getByLabel("Field", { exact: true }).last().selectOption({ label: "Amount" });
  await dialog.getByLabel("Condition").last().selectOption({ label: "is at least" });
  await dialog.getByLabel("Value").last().fill("many");
  await dialog.getByLabel("Value").last().press("Tab");
  await dialog.getByRole("alert").getByText("amount").waitFor();
  await dialog.getByLabel("Value").last().fill("10");
  await dialog.getByLabel("Value").last().press("Tab");
  await dialog.getByText("Jan Example would see 1 of 3 records.").waitFor();
  await dialog.getByRole("alert").waitFor({ state: "detached" });
  expect((await stored()).access[1]).toEqual({
    to: `user:${jan}`,
    may: "edit",
    where: { owner: "{user_id}", amount: { gte: "10" } },
    hide: ["margin"],
  });
  await dialog.getByRole("button", { name: "Done" }).click();
  await dialog.waitFor({ state: "detached" });

  // Jan sees that one, and shares nothing.
  await using theirs = await studio.signedIn({ login: "jan", password, at: "/studio/core/dbs/deals/records" });
  await theirs.page.getByRole("gridcell", { name: "D-2", exact: true }).waitFor();
  expect(await theirs.page.getByRole("gridcell", { name: "D-1", exact: true }).count()).toBe(0);
  expect(await theirs.page.getByRole("button", { name: "Share", exact: true }).count()).toBe(0);
  await theirs.page.goto(`${app.origin}/studio/core/dbs/deals/events`);
  const tabs = theirs.page.getByRole("navigation", { name: "Parts of the table" }).getByRole("link");
  await eventually(async () => (await tabs.count()) > 1, "the parts");
  expect(await tabs.allTextContents()).toEqual([
    "← Records",
    "Import",
    "Export",
    "Changes",
    "Charts",
    "Bin",
    "Background work",
  ]);
  await theirs.page.goto(`${app.origin}/studio/core/dbs/deals/schema`);
  await theirs.page.getByText("Whoever may manage this table can change this.").waitFor();
  expect(await theirs.page.getByRole("button", { name: "Add field" }).count()).toBe(0);
  expect(theirs.faults).toEqual([]);
}, 600_000);

test("with somebody who sees only what they make: the rule and the new records go by the same thing", async () => {
  const fields = { task: "string", by: { type: "string", default: "{user_name}" } };
  await app.post("/core/dbs.json", { db: { name: "Tasks", code: "tasks", schema: { fields } } });
  await app.post("/core/dbs/tasks/records.json", { record: { data: { task: "Of the boss" } } });
  const access = [
    { to: "user:1", may: "manage" },
    { to: `user:${jan}`, may: "edit" },
  ];
  await app.patch("/core/dbs/tasks.json", { db: { access } });
  await using opened = await studio.signedIn({ at: "/studio/core/dbs/tasks/records" });
  const { page, faults } = opened;
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Share Tasks" });
  await dialog.getByRole("button", { name: "Limits for Jan Example" }).click();
  const of = dialog.getByLabel("The field that says whose a record is");
  expect(await of.locator("option").allTextContents()).toEqual(["By", "Made by", "Task"]);
  await dialog.getByLabel("Only their own records, by the field").check();
  await of.selectOption("Made by");
  const now = async () => (await app.get("/core/dbs/tasks.json")).json;
  await eventually(async () => (await now()).access[1].where?.made_by === "{user_id}", "the rule");
  expect((await now()).schema.fields.made_by).toMatchObject({
    format: "user",
    default: "{user_id}",
    label: { de: "Erstellt von" },
  });
  await using theirs = await studio.signedIn({ login: "jan", password, at: "/studio/core/dbs/tasks/records" });
  await theirs.page.getByRole("button", { name: "New record" }).click();
  await theirs.page
    .getByRole("complementary", { name: "New record" })
    .getByLabel("Task", { exact: true })
    .fill("Of Jan");
  await theirs.page.getByRole("button", { name: "Add record" }).click();
  await theirs.page.getByRole("gridcell", { name: "Of Jan", exact: true }).waitFor();
  await theirs.page.reload();
  await theirs.page.getByRole("gridcell", { name: "Of Jan", exact: true }).waitFor();
  expect(await theirs.page.getByRole("gridcell", { name: "Of the boss", exact: true }).count()).toBe(0);
  expect([...faults, ...theirs.faults]).toEqual([]);
}, 600_000);

test("a look as somebody shows cells as the table does: choices, days, and names of linked records", async () => {
  const stage = { type: "string", choices: [{ value: "won", label: "Won deal" }] };
  const fields = { no: "string", stage, due: "date", client: { type: "string", link: "clients" } };
  const access = [admin, { to: `user:${jan}`, may: "read" }];
  await app.post("/core/dbs.json", { db: { name: "Offers", code: "offers", schema: { fields }, access } });
  const name = { record: { data: { name: "Acme" } } };
  const client = (await app.post("/core/dbs/clients/records.json", name)).json.id;
  const data = { no: "F-1", stage: "won", due: "2026-03-05", client };
  expect((await app.post("/core/dbs/offers/records.json", { record: { data } })).status).toBe(201);
  await app.patch("/core/dbs/clients.json", { db: { schema: { fields: { name: "string" } }, access: [admin] } });
  await using opened = await studio.signedIn({ at: "/studio/core/dbs/offers/records" });
  const { page, faults } = opened;
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Share Offers" });
  await dialog.getByLabel("Look as").selectOption({ label: "Jan Example" });
  const seen = dialog.getByRole("region", { name: "As Jan Example sees it" });
  await seen.getByRole("cell", { name: "Won deal", exact: true }).waitFor();
  await seen.getByRole("cell", { name: "Mar 5, 2026", exact: true }).waitFor();
  // Clients are closed to Jan: whoever shares reads their names, and Jan does not.
  await seen.getByRole("cell", { name: "Not visible to you" }).waitFor();
  await app.patch("/core/dbs/clients.json", { db: { access } });
  await page.reload();
  await page.getByRole("button", { name: "Share", exact: true }).click();
  await dialog.getByLabel("Look as").selectOption({ label: "Jan Example" });
  await seen.getByRole("cell", { name: "Acme" }).waitFor();
  expect(faults).toEqual([]);
}, 600_000);

test("by a field of the kind Person: picked by name, own records go by it, and a filter means who looks", async () => {
  const fields = { task: "string" };
  await app.post("/core/dbs.json", { db: { name: "Chores", code: "chores", schema: { fields } } });
  await app.post("/core/dbs/chores/records.json", { record: { data: { task: "Sweep" } } });
  const { json: mop } = await app.post("/core/dbs/chores/records.json", { record: { data: { task: "Mop" } } });
  await using opened = await studio.signedIn({ at: "/studio/core/dbs/chores/records" });
  const { page } = opened;
  await page.getByRole("button", { name: "Add field" }).click();
  const adding = page.getByRole("group", { name: "Add field" });
  await adding.getByRole("searchbox").fill("colleague");
  await adding.getByRole("searchbox").press("Enter");
  await adding.getByLabel("Field name").fill("Done by");
  await adding.getByRole("button", { name: "Add field" }).click();
  await page.getByRole("columnheader", { name: "Done by" }).waitFor();
  expect((await app.get("/core/dbs/chores.json")).json.schema.fields.done_by).toMatchObject({
    type: "integer",
    format: "user",
  });

  const owned = async () => (await app.get(`/core/dbs/chores/records/${mop.id}.json`)).json.data.done_by;
  const row = page.getByRole("row", { name: /Mop/ });
  await row.getByRole("gridcell").nth(2).dblclick();
  await page.getByRole("combobox", { name: /Done by/ }).fill("exam");
  await page.getByRole("option", { name: "Jan Example" }).waitFor();
  await page.keyboard.press("Enter");
  await row.getByText("Jan Example").waitFor();
  await eventually(async () => (await owned()) === jan, "the person");

  // The field says whose a record is: one click.
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Share Chores" });
  await dialog.getByRole("combobox", { name: /People, teams or roles/ }).fill("Jan");
  await page.keyboard.press("Enter");
  await dialog.getByLabel("They can").selectOption({ label: "Can edit" });
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await dialog.getByRole("button", { name: "Limits for Jan Example" }).click();
  await dialog.getByLabel("Only their own records, by the field").check();
  expect(await dialog.getByLabel("The field that says whose a record is").inputValue()).toBe("done_by");
  const rule = async () => (await app.get("/core/dbs/chores.json")).json.access?.[1]?.where;
  await eventually(async () => (await rule())?.done_by === "{user_id}", "the rule");

  await using theirs = await studio.signedIn({ login: "jan", password, at: "/studio/core/dbs/chores/records" });
  await theirs.page.getByRole("gridcell", { name: "Mop", exact: true }).waitFor();
  await theirs.page.getByRole("gridcell", { name: "Jan Example" }).waitFor();
  expect(await theirs.page.getByRole("gridcell", { name: "Sweep", exact: true }).count()).toBe(0);

  await page.goto(`${app.origin}/studio/core/dbs/chores/records`);
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("button", { name: "Add filter" }).click();
  await page.getByLabel("Field", { exact: true }).selectOption("done_by");
  await page.getByRole("combobox", { name: "Add to Value" }).click();
  await page.getByRole("option", { name: "me", exact: true }).click();
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByText("Done by is me").waitFor();
  await page.getByRole("gridcell", { name: "Mop", exact: true }).waitFor({ state: "detached" });
  await theirs.page.goto(page.url());
  await theirs.page.getByText("Done by is me").waitFor();
  await theirs.page.getByRole("gridcell", { name: "Mop", exact: true }).waitFor();
  await page.goto(`${app.origin}/studio/core/dbs/chores/records?group=done_by`);
  await page
    .getByRole("rowheader", { name: /Jan Example/ })
    .or(page.getByRole("row", { name: /Jan Example/ }))
    .first()
    .waitFor();
  const board = { name: "Who", kind: "board", group_by: "done_by", shared: true, sort: ["-task"] };
  const { json: view } = await app.post("/core/dbs/chores/views.json", { view: board });
  await page.goto(`${app.origin}/studio/core/dbs/chores/records?view=${view.id}&sort=-task`);
  const lane = page.getByRole("region", { name: "Jan Example" });
  await lane.getByText("Mop").waitFor();
  await page.getByRole("region", { name: "Empty" }).getByRole("button", { name: "Move to" }).click();
  await page.getByRole("button", { name: "Move to Jan Example" }).click();
  await lane.getByText("Sweep").waitFor();
  expect([...opened.faults, ...theirs.faults]).toEqual([]);
}, 600_000);

test("with somebody new, who is invited on the page of invitations", async () => {
  await using opened = await studio.signedIn({ at: "/studio/core/dbs/deals/records" });
  const { page, faults } = opened;
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Share Deals" });
  await dialog.getByRole("combobox", { name: /People, teams or roles/ }).fill("eva@example.com");
  await dialog.getByText("eva@example.com is not here yet.").waitFor();
  await dialog.getByRole("link", { name: "Invite somebody new" }).click();
  await page.getByLabel("Access to Deals").waitFor();
  expect(await page.getByLabel("E-mail", { exact: true }).inputValue()).toBe("eva@example.com");
  expect(faults).toEqual([]);
}, 600_000);

test("with the public: a form that asks for chosen fields, and records to be read", async () => {
  await using opened = await studio.signedIn({ at: "/studio/core/dbs/deals/records" });
  const { page, faults } = opened;
  const visitor = async (operation: string, body: object) => {
    const headers = { "content-type": "application/json" };
    const address = `${app.origin}/core/db/deals/${operation}`;
    const answer = await fetch(address, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: answer.status, text: await answer.text() };
  };
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Share Deals" });
  await dialog.getByText("Nobody outside can see or change anything.").waitFor();
  await dialog.getByRole("tab", { name: "Public form" }).click();
  await dialog.getByRole("switch", { name: /Anybody may add a record/ }).check();
  await dialog.getByText("A public form adds records.").waitFor();
  await dialog.getByRole("checkbox", { name: "Margin", exact: true }).uncheck();
  await dialog.getByRole("checkbox", { name: "Required: No", exact: true }).check();
  await eventually(async () => (await stored()).public_methods?.create?.required_fields?.length === 1, "required");
  expect((await stored()).public_methods).toEqual({
    create: { allowed_fields: ["no", "client", "owner", "amount"], required_fields: ["no"] },
  });
  expect(await dialog.getByLabel("Address for the form").inputValue()).toBe(`${app.origin}/core/db/deals/create`);
  expect((await visitor("create", { data: { amount: 1 } })).status).toBe(422);
  expect((await visitor("create", { data: { no: "D-4" } })).status).toBe(201);
  expect((await visitor("list", {})).status).toBe(403);
  await page.keyboard.press("ArrowRight");
  await dialog.getByRole("tab", { name: "Public link" }).click();
  await dialog.getByRole("switch", { name: /Anybody with the link/ }).check();
  await dialog.getByText("Anybody can read records here").waitFor();
  await dialog.getByRole("checkbox", { name: "Margin", exact: true }).uncheck();
  await eventually(async () => !(await visitor("list", {})).text.includes("margin"), "without the margin");
  await dialog.getByRole("switch").uncheck();
  await eventually(async () => (await visitor("list", {})).status === 403, "closed again");
  expect(faults).toEqual([]);
}, 600_000);

test("somebody without the right to tables works in one from the side, as far as it is opened to them", async () => {
  const eve = (await person(app, { login: "eve", role: "guest", password })).id;
  const grants = (may: string) => [
    { to: "user:1", may: "manage" },
    { to: `user:${eve}`, may, where: { owner: "{user_id}" }, hide: ["margin"] },
  ];
  const fields = { no: "string", owner: "integer", margin: "number" };
  const db = { name: "Leads", code: "leads", schema: { fields, history: true }, access: grants("edit") };
  expect((await app.post("/core/dbs.json", { db })).status).toBe(201);
  for (const [no, owner] of [
    ["L-1", eve],
    ["L-2", 1],
  ])
    await app.post("/core/dbs/leads/records.json", { record: { data: { no, owner, margin: 0.5 } } });
  await using opened = await studio.signedIn({ login: "eve", password });
  const { page, faults } = opened;
  await page.getByRole("navigation", { name: "Menu" }).getByRole("link", { name: "Leads" }).click();
  const cell = (name: string) => page.getByRole("gridcell", { name, exact: true });
  await cell("L-1").waitFor();
  expect(await cell("L-2").count()).toBe(0);
  expect(await page.getByRole("columnheader", { name: "Margin" }).count()).toBe(0);
  expect(await page.getByRole("button", { name: "Add a field" }).count()).toBe(0);
  await page.getByRole("button", { name: "Fields, import, export and more" }).click();
  await page.getByRole("link", { name: "Export" }).waitFor();
  expect(await page.getByRole("link", { name: "Fields", exact: true }).count()).toBe(0);
  await page.keyboard.press("Escape");
  await cell("L-1").dblclick();
  await page.getByRole("textbox", { name: "No", exact: true }).fill("L-9");
  await page.keyboard.press("Enter");
  await cell("L-9").waitFor();
  const isStored = async () => Number((await app.get("/core/dbs/leads/search.json?filter[no]=L-9")).json.length) === 1;
  await eventually(isStored, "the change");

  // Who may only add changes nothing that is there; who may only read makes nothing either.
  await app.patch("/core/dbs/leads.json", { db: { access: grants("add") } });
  await page.reload();
  await page.getByRole("button", { name: "New record" }).click();
  await page.getByRole("complementary", { name: "New record" }).getByLabel("No", { exact: true }).fill("L-3");
  await page.getByRole("textbox", { name: "Owner" }).fill(String(eve));
  await page.getByRole("button", { name: "Add record" }).click();
  await cell("L-3").dblclick();
  const panel = page.getByRole("complementary", { name: "L-3" });
  await panel.getByText("L-3", { exact: true }).nth(1).waitFor();
  expect(await panel.getByRole("button", { name: "No L-3" }).count()).toBe(0);
  await panel.getByRole("textbox", { name: "Write a comment" }).waitFor();
  await app.patch("/core/dbs/leads.json", { db: { access: grants("read") } });
  await page.reload();
  await panel.getByText("L-3", { exact: true }).nth(1).waitFor();
  expect(await page.getByRole("textbox", { name: "Write a comment" }).count()).toBe(0);
  expect(await page.getByRole("button", { name: "New record" }).count()).toBe(0);
  expect(faults).toEqual([]);
}, 600_000);
