/** The order of docs/tour.md, built and followed in the Studio alone: visitor, webhooks, flow, connector, second record, cron. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { eventually, type TestApp } from "../harness.ts";
import { startReceiver, type Receiver } from "../receiver.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
let app: TestApp;
let remote: Receiver;
beforeAll(async () => {
  studio = await startStudio();
  ({ app } = studio);
  remote = startReceiver();
  remote.answer = () => Response.json({ reserved: true, left: 16 });
});
afterAll(async () => {
  await studio.stop();
  await remote.stop();
});

const button = (of: Page | Locator, name: string) => of.getByRole("button", { name, exact: true });
const link = (of: Page | Locator, name: string) => of.getByRole("link", { name, exact: true });
const label = (of: Page | Locator, name: string) => of.getByLabel(name, { exact: true });
const heading = (page: Page, name: string | RegExp) =>
  page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
const panel = (page: Page) => page.getByRole("complementary");
const menu = (page: Page, name: string) => link(page.getByRole("navigation", { name: "Menu" }), name).click();

/** From the menu, as somebody does who has just come. */
async function begin(page: Page, list: string, singular: string): Promise<void> {
  await menu(page, list);
  await button(page, `New ${singular}`).click();
  await heading(page, `New ${singular}`);
}

async function saved(page: Page, name: string | RegExp): Promise<void> {
  await button(page, "Save").click();
  await heading(page, name);
}

/** A name and its value; what stands in a new name is chosen, so that typing replaces it. */
async function put(page: Page, into: string, name: string, value: string): Promise<void> {
  await button(page, `Add another to ${into}`).click();
  await page.locator(`input[aria-label="Name in ${into}"]:focus`).waitFor();
  await page.keyboard.type(name);
  await page.keyboard.press("Tab");
  await label(page, `Value of ${name}`).fill(value);
}

/** A step at a place, found by what it is called. */
async function addStep(page: Page, place: string, kind: string): Promise<void> {
  await page.locator(`[data-add="${place}"]`).click();
  await page.getByLabel("Find a step").fill(kind);
  await page.keyboard.press("Enter");
}

async function databases(page: Page): Promise<void> {
  await begin(page, "Data", "table");
  await label(page, "Name").fill("Orders");
  await label(page, "Field name").fill("sku");
  await button(page, "Add field").click();
  await page.locator('li:nth-child(2) input[aria-label="Field name"]:focus').waitFor();
  await page.keyboard.type("count");
  await label(page, "Kind of count").selectOption("Number");
  await button(page, "Create table").click();
  await heading(page, "Orders");
  await button(page, "Fields, import, export and more").click();
  await link(page, "Public form and link").click();
  await page.getByRole("checkbox", { name: /^create/ }).check();
  await label(page, "Allowed fields").fill("sku, count");
  await button(page, "Save").click();
  await page.getByRole("status").getByText("Saved").first().waitFor();
  const methods = (await app.get("/core/dbs/orders.json")).json.public_methods;
  expect(methods).toEqual({ create: { allowed_fields: ["sku", "count"] } });
}

/** The form with which visitors order. */
async function form(page: Page): Promise<void> {
  await link(page, "Build an app").click();
  await page.getByRole("radio", { name: "Form", exact: true }).check();
  await page.getByText("Everyone can open this app without signing in.").waitFor();
  await button(page, "Create app").click();
  await page.getByRole("heading", { level: 1, name: "Orders" }).waitFor();
  // A draft until it is published.
  await page.getByText("Everyone can open this app without signing in.").waitFor();
  await button(page, "Publish").click();
  await page.getByText("Version 2 is live").waitFor();
  expect((await app.get("/core/apps.json")).json).toMatchObject([{ public: true, active: true, db_code: "orders" }]);
}

async function shipments(page: Page): Promise<void> {
  await begin(page, "Data", "table");
  await label(page, "Name").fill("Shipments");
  await button(page, "Remove Name").click();
  await button(page, "Create table").click();
  await heading(page, "Shipments");
}

async function connector(page: Page): Promise<void> {
  await begin(page, "Connections", "connection");
  await label(page, "Name").fill("Stock");
  await label(page, "Address").fill(remote.url);
  await label(page, "Key").fill("the key of the stock service");
  await button(page, "Add an action").click();
  await page.locator("fieldset details input:focus").waitFor();
  await page.keyboard.type("reserve");
  await label(page, "Verb").selectOption("POST");
  await label(page, "Path").fill("/reserve/{sku}");
  await label(page, "Body").click();
  await page.keyboard.insertText('{ "count": "{count}" }');
  await saved(page, "Stock");
}

async function flow(page: Page): Promise<void> {
  await begin(page, "Automation", "flow");
  // Each order starts it.
  await label(page, "In the table").selectOption({ label: "Orders" });
  await label(page, "Name").fill("Ship an order");
  await button(page, "Go on").click();
  await heading(page, "Ship an order");
  await addStep(page, "0", "set values");
  await put(page, "Values", "sku", '{{ data.sku | default: "sample-box" }}');
  await put(page, "Values", "count", "{{ data.count | default: 1 }}");
  await addStep(page, "1", "use a connection");
  await label(panel(page), "Connection").selectOption({ label: "Stock" });
  await label(panel(page), "Action").selectOption("reserve");
  for (const [name, says] of [
    ["sku", "Sku"],
    ["count", "Count"],
  ] as const) {
    // The parameters of the method stand there.
    await label(page, `Value of ${says}`).fill(`{{ ${name} }}`);
  }
  await label(panel(page), "Name of the result").fill("stock");
  await addStep(page, "2", "two ways");
  await button(panel(page), "Write it as an expression").click();
  await label(panel(page), "Condition").fill("stock.reserved");
  await addStep(page, "2.then.0", "a new record");
  await label(panel(page), "Table").selectOption({ label: "Shipments" });
  for (const [name, value] of [
    ["sku", "{{ sku }}"],
    ["count", "{{ count }}"],
    ["left", "{{ stock.left }}"],
    ["because_of", "{{ input.kind }}"],
  ] as const)
    await put(page, "Fields", name, value);
  await label(panel(page), "Name of the result").fill("shipment");
  await addStep(page, "3", "answer who");
  await label(panel(page), "Result").fill("{{ shipment.data }}");
  // And the clock.
  await button(page, "On a schedule").click();
  await label(panel(page), "At").fill("07:00");
  await label(panel(page), "Time zone").fill("Europe/Warsaw");
  await button(page, "Publish and switch on").click();
  await page.getByText("Live", { exact: true }).waitFor();
  await page.getByRole("button", { name: /^When Every day at 07:00/ }).waitFor();
  await eventually(async () => (await app.get("/account/crons.json")).json[0]?.active === true);
}

async function webhooks(page: Page): Promise<void> {
  await begin(page, "Webhooks", "webhook");
  // Of new orders only.
  await label(page, "In the table").selectOption({ label: "Orders" });
  await label(page, "Address").fill(`${remote.url}/hook`);
  await label(page, "Token of the receiver").fill("the-receivers-token");
  await button(page, "Save").click();
  await button(page.getByRole("dialog"), "Done").click();
  await menu(page, "Webhooks");
  const grid = page.getByRole("grid", { name: "Webhooks", exact: true });
  await grid.getByText("A record of Orders is added").nth(1).waitFor();
}

async function cron(page: Page): Promise<void> {
  await menu(page, "Schedules");
  await page.getByRole("grid", { name: "Schedules" }).getByRole("link").first().click();
  await heading(page, "Ship an order");
}

/** A visitor, who has no account, orders with the app. */
async function order(): Promise<void> {
  const context = await studio.browser.newContext();
  const visitor = await context.newPage();
  await visitor.goto(`${app.origin}/a/orders`);
  const shown = visitor.locator("body");
  await label(shown, "sku").fill("tea");
  await label(shown, "count").fill("4");
  await button(shown, "Send").click();
  await shown.getByText("Thank you. It is saved.").waitFor();
  await context.close();
}

const shipped = async (because: string) => {
  const { json } = await app.get("/core/dbs/shipments/records.json");
  return json.find(({ data }: { data: { because_of: string } }) => data.because_of === because)?.data;
};

/** From the order to the shipment, and back. */
async function follow(page: Page): Promise<void> {
  await page.locator('#menu a[href="/studio/tables/orders"]').click();
  await page
    .getByRole("grid", { name: "Records" })
    .getByRole("button", { name: /^Open / })
    .click();
  const record = page.getByRole("complementary");
  await link(record, "Runs").click();
  await page.getByRole("grid", { name: "Runs" }).getByRole("row").nth(1).getByRole("link").first().click();
  const trace = page.getByRole("region", { name: "Where it comes from, and what follows" });
  const process = page.url();
  await trace.getByRole("link", { name: "Stock: reserve", exact: true }).waitFor();
  await link(trace, "1").click();
  await heading(page, "Delivery 1");
  await link(page, "The flow Ship an order was started with it.").waitFor();
  await link(page, "Open the run that it has started").click();
  await page.waitForURL(process);
  await page.goBack();
  await link(page, "Open the record").click();
  await record.getByText("sku", { exact: true }).waitFor();
  await page.goto(process);
  await trace.getByRole("link", { name: /^Shipments/ }).click();
  await page.waitForURL(/\/tables\/shipments\b/);
  await link(record, "Made by the flow Ship an order").click();
  await page.waitForURL(process);
}

test("an order is taken, told, reserved and shipped by what somebody has built in the Studio alone", async () => {
  await using opened = await studio.signedIn();
  const { page, faults } = opened;
  await databases(page);
  await form(page);
  await shipments(page);
  await connector(page);
  await flow(page);
  await webhooks(page);
  await cron(page);
  await order();
  expect(await eventually(() => shipped("webhook"), "the shipment")).toEqual({
    sku: "tea",
    count: 4,
    left: 16,
    because_of: "webhook",
  });
  await eventually(() => remote.at("/hook").length === 1, "the other webhook");
  expect(remote.at("/reserve/tea")[0]?.headers.get("authorization")).toBe("Bearer the key of the stock service");
  await button(page, "Run").click();
  expect(await eventually(() => shipped("cron"), "the cron's shipment")).toMatchObject({ sku: "sample-box", count: 1 });
  await page.keyboard.press("Escape");
  await follow(page);
  expect(faults).toEqual([]);
});
