/** Flows in the Studio: from a new one with its start to the page of a run; by keys alone; and two people at once. */
/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { eventually, type TestApp } from "../harness.ts";
import { startReceiver, type Receiver } from "../receiver.ts";
import { hasFocus, Keyboard } from "./keyboard.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
let app: TestApp;
let remote: Receiver;
beforeAll(async () => {
  studio = await startStudio();
  remote = startReceiver();
  ({ app } = studio);
});
afterAll(() => Promise.all([studio.stop(), remote.stop()]));

const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
const at = (page: Page, path: string) => page.goto(`${app.origin}/studio/${path}`);
const button = (of: Page | Locator, name: string) => of.getByRole("button", { name, exact: true });
const card = (page: Page, path: string) => page.locator(`[data-path="${path}"]`);
const panel = (page: Page) => page.getByRole("complementary");
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

test("a flow is made from its start, tested in place, mended, published, and started by a record", async () => {
  remote.answer = ({ path }) =>
    path.startsWith("/rates") ? Response.json({ rate: 4.2 }) : new Response("{}", { status: 404 });
  const status = {
    type: "string",
    choices: [
      { value: "new", label: "New", color: "sky" },
      { value: "packing", label: "Packing", color: "plum" },
    ],
  };
  await app.post("/core/dbs.json", {
    db: { name: "Orders", code: "orders", schema: { fields: { number: "string", total: "number", status } } },
  });
  const record = (number: string, total: number) =>
    app.post("/core/dbs/orders/records.json", { record: { data: { number, total, status: "new" } } });
  await record("O-1047", 1240);
  await using opened = await studio.signedIn({ at: "/studio/flows/new" });
  const { page, faults } = opened;

  // First what starts it: an order that is new.
  await page.getByLabel("In the table").selectOption({ label: "Orders" });
  await button(page, "Condition").click();
  await page.getByLabel("Field of the condition").selectOption({ label: "Status" });
  await page.getByLabel("Value of Status").selectOption({ label: "New" });
  await button(page, "Go on").click();
  await heading(page, "New record in Orders");
  await page.waitForURL(/\/studio\/flows\/[a-z-]+$/);
  const code = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const start = page.getByRole("button", { name: /^When A record of Orders is added Only if Status is New/ });
  await start.waitFor();
  expect(await page.getByText(/Core::Record|db_code/).count()).toBe(0);
  expect((await app.get("/account/webhooks.json")).json).toMatchObject([
    { active: false, target_code: code, filter: { db_code: "orders", status: "new" } },
  ]);

  // A step whose connection is made without leaving it.
  await button(page, "Add the first step").click();
  // A mail is one step, called as people call it.
  await page.getByLabel("Find a step").fill("mail");
  await panel(page)
    .getByRole("button", { name: /^Send an e-mail/ })
    .waitFor();
  expect(await panel(page).getByText("mail.send").allTextContents()).toEqual([]);
  await page.getByLabel("Find a step").fill("use a connection");
  await page.keyboard.press("Enter");
  await button(panel(page), "New connection").click();
  const dialog = page.getByRole("dialog", { name: "New connection" });
  await dialog.getByLabel("Address", { exact: true }).fill(`${remote.url}/wrong`);
  await dialog.getByLabel("Name").fill("Rates");
  await button(dialog, "Add the connection").click();
  await dialog.waitFor({ state: "detached" });
  await eventually(
    async () => (await panel(page).getByLabel("Connection").locator("option:checked").innerText()) === "Rates",
  );
  await panel(page).getByLabel("Name of the result", { exact: true }).fill("answer");

  // An `if` with data that is put in from the list, and a step on its way of Yes that would start the flow again.
  await page.locator('[data-add="1"]').click();
  await page.getByLabel("Find a step").fill("two ways");
  await page.keyboard.press("Enter");
  await button(panel(page), "Put data into This").click();
  await page.getByRole("option", { name: /^Total .*1240/ }).click();
  await panel(page).getByLabel("Comparison").selectOption({ label: "is more than" });
  await panel(page).getByLabel("That", { exact: true }).fill("500");
  await card(page, "1").getByText("Total").waitFor();
  await page.locator('[data-add="1.then.0"]').click();
  await button(panel(page).getByRole("region", { name: "Data" }), "Create A new record").click();
  await panel(page).getByLabel("Table", { exact: true }).selectOption({ label: "Orders" });
  await page.getByRole("status").getByText("so the flow starts itself again").waitFor();
  await button(panel(page), "Add Status to Fields").click();
  await panel(page).getByLabel("Value of Status").selectOption({ label: "Packing" });
  await page.getByText("so the flow starts itself again").first().waitFor({ state: "detached" });

  // The test reads the real order, and stops at the step that fails.
  await page.keyboard.press("Control+Enter");
  await page.getByRole("alert").getByText("The test failed at this step.").waitFor();
  await card(page, "0").and(page.locator("[aria-current]")).getByText("nothing at this address").waitFor();
  await card(page, "1").getByText("Not reached").waitFor();
  await button(panel(page), "Change the action").click();
  const action = page.getByRole("dialog", { name: "Change the action" });
  await action.getByLabel("Path").fill("/rates");
  await button(action, "Save the action").click();
  await action.waitFor({ state: "detached" });
  await button(panel(page), "Run the test").click();
  await card(page, "0").getByText("4.2").waitFor();
  await card(page, "1").getByText("Yes", { exact: true }).waitFor();
  await card(page, "1.then.0").getByText("Not changed, this is a test").waitFor();
  await start.getByText("Tested with O-1047").waitFor();
  expect((await app.get("/core/dbs/orders/records.json")).json).toHaveLength(1);

  // What is typed is a draft until it is published; then a real order starts it.
  await page.getByText("Draft", { exact: true }).waitFor();
  await page.getByText("Off", { exact: true }).waitFor();
  expect(await programOf(code)).toEqual([]);
  await page.reload();
  await button(page, "Restore").click();
  await card(page, "1.then.0").waitFor();
  await button(page, "Publish and switch on").click();
  await page.getByText("Live", { exact: true }).waitFor();
  await eventually(async () => (await app.get("/account/webhooks.json")).json[0].active === true);
  expect(await programOf(code)).toMatchObject([
    { type: "connector", as: "answer" },
    { type: "if", then: [{ op: "create", data: { status: "packing" } }] },
  ]);
  await record("O-1048", 900);
  const [run] = await eventually(async () => {
    const runs = (await app.get("/connect/flow_processes.json?status=finished")).json;
    return runs.length === 1 && runs;
  }, "the run of the order");
  await page.getByRole("link", { name: "Runs", exact: true }).last().click();
  await page
    .getByRole("list", { name: "Runs" })
    .getByRole("link", { name: /O-1048/ })
    .click();
  await page.getByRole("heading", { name: "Went well" }).waitFor();
  await page.waitForURL(new RegExp(`run=${run.id}`));
  await page
    .locator("li details", { hasText: "Use a connection" })
    .or(page.locator("li details", { hasText: "rates" }))
    .first()
    .waitFor();

  // The steps before, compared and taken back.
  await page.getByRole("link", { name: "Versions", exact: true }).click();
  await page.getByRole("link", { name: /^Version 1/ }).click();
  await button(page, "Restore version 1").click();
  await button(page, "Add the first step").waitFor();
  await page.getByRole("switch", { name: "On" }).click();
  await eventually(async () => (await app.get(`/connect/flows/${code}.json`)).json.active === false);
  await eventually(async () => (await app.get("/account/webhooks.json")).json[0].active === false);
  expect(await programOf(code)).toHaveLength(2); // the older steps are a draft
  expect(serious(faults)).toEqual([]);
});

test("what becomes paid is sent to an address that is typed in the step; why it fails is found, and it is retried", async () => {
  let isUp = false;
  remote.answer = () => (isUp ? Response.json({}) : Response.json({ error: "no" }, { status: 404 }));
  const status = { type: "string", choices: ["new", "paid"] };
  const schema = { fields: { number: { type: "string", required: true }, total: "number", status } };
  await app.post("/core/dbs.json", { db: { name: "Sales", code: "sales", schema } });
  const data = { number: "S-1", total: 12, status: "new" };
  const sale = (await app.post("/core/dbs/sales/records.json", { record: { data } })).json;
  await using opened = await studio.signedIn({ at: "/studio/flows/new" });
  const { page, faults } = opened;
  await page.getByLabel("What happens").selectOption({ label: "a field becomes …" });
  await page.getByLabel("In the table").selectOption({ label: "Sales" });
  await page.getByLabel("Becomes").selectOption({ label: "paid" });
  await button(page, "Go on").click();
  await heading(page, "Sales: paid");
  await button(page, "Add the first step").click();
  expect(await button(page, "Remove this start").count()).toBe(0);
  await page.getByLabel("Find a step").fill("http");
  await page.keyboard.press("Enter");
  await panel(page).getByLabel("Address", { exact: true }).fill(`${remote.url}/paid`);
  await button(panel(page), "Add Number to Data to send").click();
  await button(panel(page), "Add Total to Data to send").click();
  // As it would be sent, with the real order as if it were paid; the panel stays where it is.
  await button(panel(page), "Run the test").click();
  await card(page, "0").getByText("Not sent, this is a test").waitFor();
  await panel(page).getByText("S-1").waitFor();
  expect(remote.at("/paid")).toEqual([]);
  // It can be sent alone, which says what came of it; later tests take that answer and send nothing.
  const alone = panel(page).getByRole("region", { name: "Try this step" });
  await button(alone, "Try this step").click();
  await alone.getByText("Answered with 404").waitFor();
  isUp = true;
  await button(alone, "Try this step").click();
  await alone.getByText("Answered with 200").waitFor();
  await alone.getByText("Headers of the answer").click();
  await alone.getByText(/content-type: application\/json/).waitFor();
  await button(panel(page), "Run the test").click();
  await card(page, "0").getByText("Not sent, this is a test").waitFor({ state: "detached" });
  await button(panel(page), "Run the test").and(page.locator('[aria-disabled="false"]')).waitFor();
  expect(remote.at("/paid")).toHaveLength(2);
  remote.requests.length = 0;
  isUp = false;
  // A slow line shows that it is not said before the start is stored.
  await page.route("**/account/webhooks*", async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    await eventually(async () => (await app.get("/connect/flows/sales-paid")).json.active === true);
    expect(await page.getByText("Live", { exact: true }).count()).toBe(0);
    await route.continue();
  });
  await button(page, "Publish and switch on").click();
  await page.getByText("Live", { exact: true }).waitFor();
  await page.unrouteAll({ behavior: "wait" });
  await app.patch(`/core/dbs/sales/records/${sale.id}.json`, { record: { data: { ...data, status: "paid" } } });
  await page.getByRole("link", { name: "Runs", exact: true }).last().click();
  await page.getByRole("list", { name: "Runs" }).getByRole("link", { name: /^S-1/ }).click();
  await page.getByRole("heading", { name: "Failed at step 1" }).waitFor();
  await page.locator("li details[open]").getByText("no", { exact: true }).waitFor();
  expect(await page.getByText("with the steps that the run began with").count()).toBe(0);
  await page.locator("li details[open]").getByText(`POST ${remote.url}/paid`).waitFor();
  isUp = true;
  await button(page, "Retry from step 1").click();
  await page.getByRole("heading", { name: "Went well" }).waitFor();
  // The list beside it and the menu say so too.
  await page
    .getByRole("list", { name: "Runs" })
    .getByRole("link", { name: /Went well/ })
    .waitFor();
  const inMenu = page.getByRole("navigation").getByRole("link", { name: /^Sales: paid/ });
  await inMenu.getByText(/failed/i).waitFor({ state: "detached" });
  expect(remote.at("/paid").map(({ body }) => JSON.parse(body))).toEqual([
    { number: "S-1", total: 12 },
    { number: "S-1", total: 12 },
  ]);
  expect(serious(faults)).toEqual([]);
});

test("a message of another service starts a flow, at the address that its start shows", async () => {
  await using opened = await studio.signedIn({ at: "/studio/flows/new" });
  const { page, faults } = opened;
  await page.getByRole("radio", { name: "A message from another service" }).check();
  await page.getByLabel("Who sends").fill("Shop orders");
  await page.getByLabel("How it signs").selectOption("token");
  await button(page, "Make a secret").click();
  const secret = (await page.getByRole("main").locator("code").textContent()) ?? "";
  await page.getByRole("button", { name: "Go on" }).click();
  await heading(page, "A message from Shop orders arrives");
  await button(page, "Publish and switch on").click();
  await page.getByText("Live", { exact: true }).waitFor();
  await page.getByText("A message from Shop orders arrives").last().click();
  const url = (await panel(page).locator("code").textContent()) ?? "";
  const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  const sent = await fetch(`${app.origin}${new URL(url).pathname}`, { method: "POST", body: '{"order":7}', headers });
  expect(sent.status).toBe(200);
  const [run] = await eventually(async () => {
    const runs = (await app.get("/connect/flow_processes.json?started_by=hook&status=finished")).json;
    return runs.length === 1 && runs;
  }, "the run of the message");
  expect(run.input).toMatchObject({ kind: "hook", body: { order: 7 } });
  // Its secret is not shown again: it says that one is stored, and takes another one.
  await panel(page)
    .getByText(`Secret: stored, …${secret.slice(-4)}`)
    .waitFor();
  expect(await panel(page).getByLabel("Secret", { exact: true }).isVisible()).toBe(false);
  await panel(page).getByText("Replace", { exact: true }).click();
  await panel(page).getByLabel("Secret", { exact: true }).fill("another secret of at least 20 characters");
  await button(page, "Publish").click();
  await panel(page).getByText("Secret: stored, …ters").waitFor();
  // The list of runs is narrowed to messages.
  await at(page, "connect/processes");
  await page.locator("summary", { hasText: "Filters" }).click();
  await page.getByRole("combobox", { name: "Started by" }).selectOption({ label: "Incoming webhook" });
  await page.waitForURL(/started_by=hook/);
  await page.getByRole("grid", { name: "Runs" }).getByText("Incoming webhook · Shop orders").waitFor();
  expect(serious(faults)).toEqual([]);
});

test("a step is moved, nested, duplicated and deleted with nothing but the keyboard", async () => {
  const step = (name: string) => ({ type: "mutation", set: { [name]: 1 } });
  await flow("keys", [step("a"), { type: "if", condition: "a == 1", then: [step("b")] }, step("c")]);
  await using opened = await studio.signedIn();
  const { page, faults } = opened;
  const keys = new Keyboard(page);
  await at(page, "flows/keys");
  await card(page, "2").waitFor();
  await keys.tabToElement(card(page, "0"));
  await keys.press("End");
  await eventually(() => hasFocus(card(page, "2")));
  await keys.press("Alt+Shift+ArrowRight");
  await eventually(() => hasFocus(card(page, "1.then.1")));
  await keys.press("Alt+ArrowUp");
  await eventually(() => hasFocus(card(page, "1.then.0")));
  await page.getByRole("status").getByText("Set values is now step 3").waitFor();
  await keys.press("Alt+Shift+ArrowDown");
  await eventually(() => hasFocus(card(page, "1.then.1")));
  await keys.press("Alt+Shift+ArrowLeft");
  await eventually(() => hasFocus(card(page, "2")));
  await keys.press("Home", "Delete");
  await eventually(() => hasFocus(card(page, "0")));
  await keys.press("Control+z");
  await card(page, "2").waitFor();
  // A step is added after the chosen one, and taken back.
  await keys.press("+");
  await eventually(() => hasFocus(page.getByLabel("Find a step")));
  await page.keyboard.type("wait");
  await keys.press("Enter");
  await card(page, "1").getByText("Wait a time").waitFor();
  await keys.press("Escape");
  await eventually(() => hasFocus(card(page, "1")));
  await keys.press("Control+z");
  await card(page, "1").getByText("Wait a time").waitFor({ state: "detached" });
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
  await using opened = await studio.signedIn({ at: "/studio/flows/two?step=json" });
  const { page } = opened;
  const text = page.getByRole("textbox", { name: "Steps", exact: true });
  await text.waitFor();
  await write(text, JSON.stringify([{ type: "return", value: 2 }]));
  await app.patch("/connect/flows/two.json", { flow: { name: "Theirs" } });
  await button(page, "Publish").click();
  await page.getByRole("alert").getByText("merged with yours").waitFor();
  await button(page, "Publish").click();
  await eventually(async () => (await programOf("two"))[0].value === 2);
  expect((await app.get("/connect/flows/two.json")).json.name).toBe("Theirs");
});

test("a flow asks a person, who answers in the inbox, and goes on by the answer", async () => {
  await flow("approve", [{ type: "return", value: "{{ answer.choice }} {{ answer.fields.amount }}" }]);
  await using opened = await studio.signedIn({ at: "/studio/flows/approve" });
  const { page, faults } = opened;
  await page.locator('[data-add="0"]').click();
  await button(
    panel(page).getByRole("region", { name: "People" }),
    "Ask a person Somebody approves, chooses or fills something in before it goes on",
  ).click();
  const who = panel(page).getByRole("combobox", { name: "Who is asked" });
  await who.fill("Manag");

  await page.getByRole("option", { name: "Managers" }).click();
  await who.fill("adm");
  await page.getByRole("option", { name: "Administrators" }).click();
  await panel(page).getByRole("textbox", { name: "Question" }).fill("Refund {{ input.order }}?");
  await button(panel(page), "Add a field").click();
  await panel(page).getByLabel("Name", { exact: true }).fill("Amount");
  await panel(page).getByLabel("Kind", { exact: true }).selectOption({ label: "Number" });
  await panel(page).getByLabel("Required").check();
  await panel(page).getByLabel("If nobody answers").selectOption({ label: "Decline" });
  await card(page, "0")
    .getByText("Ask Administrators, Managers")
    .or(card(page, "0").getByText("Ask Managers, Administrators"))
    .waitFor();
  await button(page, "Publish").click();
  await eventually(async () => (await programOf("approve"))[0]?.type === "ask");
  const [ask] = await programOf("approve");
  expect(ask).toMatchObject({ to: ["role:manager", "role:admin"], otherwise: "decline", as: "answer" });
  const [[name, how] = ["", {}]] = Object.entries(ask.fields);
  expect(how).toEqual({ type: "number", label: "Amount", required: true });
  const [, back] = await programOf("approve");
  const program = [ask, { ...back, value: `{{ answer.choice }} {{ answer.fields.${name} }}` }];
  await app.patch("/connect/flows/approve.json", { flow: { fields: { program } } });

  const run = (await app.post("/connect/flows/approve/run.json?wait=0", { order: "O-7" })).json;
  await eventually(async () => (await app.get("/core/inbox.json?kind=ask&open=true")).json.length === 1);
  await at(page, "inbox");
  await page.getByRole("link", { name: /Refund O-7\?/ }).click();
  await page.getByRole("heading", { level: 2, name: "Refund O-7?" }).waitFor();
  await button(page, "Approve").click();
  await page.getByText("is required").waitFor();
  await page.getByLabel("Amount").fill("12.5");
  await page.getByLabel("Comment").fill("Broken");
  await button(page, "Approve").click();
  await page.getByText("Answered.", { exact: true }).waitFor();
  await page.getByText(/: Approve$/).waitFor();
  const process = async () => (await app.get(`/connect/flow_processes/${run.id}.json`)).json;
  await eventually(async () => (await process()).status === "finished");
  expect((await process()).data).toBe("approve 12.5");
  expect(serious(faults)).toEqual([]);
});

test("a flow waits for a record to be changed, as its start would", async () => {
  const schema = { fields: { number: "string", paid: "boolean" } };
  await app.post("/core/dbs.json", { db: { name: "Bills", code: "bills", schema } });
  await flow("waits", [{ type: "return", value: "{{ event.data.number }}" }]);
  await using opened = await studio.signedIn({ at: "/studio/flows/waits" });
  const { page, faults } = opened;
  await page.locator('[data-add="0"]').click();
  await panel(page)
    .getByRole("button", { name: /^Wait for…/ })
    .click();
  await panel(page).getByLabel("In the table").selectOption({ label: "Bills" });
  await panel(page).getByRole("textbox", { name: "Only this record" }).fill("{{ input.bill }}");
  await panel(page).getByLabel("Days to wait").fill("2");
  await card(page, "0").getByText("Wait for: A record of Bills is changed").waitFor();
  await button(page, "Publish").click();
  await eventually(async () => (await programOf("waits"))[0].type === "wait_for");
  expect((await programOf("waits"))[0]).toEqual({
    type: "wait_for",
    source_type: "Core::Record",
    kind: "update",
    filter: { db_code: "bills", id: "{{ input.bill }}" },
    timeout: 172_800,
    as: "event",
  });
  const records = "/core/dbs/bills/records";
  const { id } = (await app.post(`${records}.json`, { record: { data: { number: "B-1" } } })).json;
  const run = (await app.post("/connect/flows/waits/run.json?wait=0", { bill: id })).json;
  await eventually(async () => (await app.sql`select from flow_waits where status = 'open'`).length === 1);
  await app.patch(`${records}/${id}.json`, { record: { data: { paid: true } } });
  await eventually(async () => (await app.get(`/connect/flow_processes/${run.id}.json`)).json.data === "B-1");
  expect(serious(faults)).toEqual([]);
});

test("steps stand in branches that run at once, and in those for a failure", async () => {
  await flow("branches", [{ type: "return", value: 1 }]);
  await using opened = await studio.signedIn({ at: "/studio/flows/branches" });
  const { page, faults } = opened;
  const add = async (path: string, name: RegExp) => {
    await page.locator(`[data-add="${path}"]`).click();
    await panel(page).getByRole("button", { name }).click();
    await card(page, path).waitFor();
  };
  await add("0", /^At the same time/);
  await button(panel(page), "Add a branch").click();
  await add("0.branches[2].0", /^Try/);
  const third = page.getByRole("group", { name: "Branch 3" });
  await third.getByRole("group", { name: "If it fails" }).waitFor();
  await add("0.branches[2].0.catch.0", /^Wait a time/);
  await page
    .getByRole("group", { name: "Branch 2" })
    .getByRole("button", { name: /Branch 2/ })
    .click();
  await card(page, "0.branches[1].0.catch.0").waitFor();
  await button(page, "Publish").click();
  await eventually(async () => (await programOf("branches"))[0].type === "parallel");
  const wait = { type: "wait", seconds: 60 };
  expect((await programOf("branches"))[0].branches).toEqual([[], [{ type: "try", do: [], catch: [wait] }]]);
  expect(serious(faults)).toEqual([]);
});

test("tells whoever wants it of failures in a row, in the inbox, from where its runs are a click away", async () => {
  await flow("brittle", [{ type: "fail", message: "no tea" }]);
  await using opened = await studio.signedIn({ at: "/studio/flows/brittle?tab=settings" });
  const { page, faults } = opened;
  const after = page.getByLabel("Tell me after");
  await after.fill("2");
  await after.press("Tab");
  await button(page, "Publish").click();
  const alarm = async () => (await app.get("/connect/flows/brittle.json")).json.fields.alarm;
  await eventually(async () => (await alarm())?.after === 2);
  expect(await alarm()).toEqual({ after: 2, to: ["user:1"] });
  for (let time = 0; time < 2; time++) await app.post("/connect/flows/brittle/run.json?wait=20", {});
  await page.reload();
  expect(await after.inputValue()).toBe("2");
  await at(page, "inbox?show=warnings");
  await page.getByRole("link", { name: /^brittle fails since/ }).click();
  await page.getByText("2 times").waitFor();
  await button(page, "Mark as done").waitFor();
  await page.getByRole("article").getByRole("link", { name: "Open", exact: true }).click();
  await page.waitForURL(/\/studio\/flows\/brittle\?tab=runs/);
  await at(page, "flows/brittle?tab=settings");
  await after.fill("");
  await after.press("Tab");
  await button(page, "Publish").click();
  await eventually(async () => (await alarm()) === undefined);
  expect(serious(faults)).toEqual([]);
});
