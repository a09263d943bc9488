/** Processes and crons in the Studio: followed from a record to the outside, live, and tried before they are saved. */
/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { eventually, type TestApp } from "../harness.ts";
import { startReceiver, type Receiver } from "../receiver.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
let app: TestApp;
let remote: Receiver;
beforeAll(async () => {
  studio = await startStudio({ env: { CORE_TIMEZONE: "Asia/Tokyo" } });
  ({ app } = studio);
  remote = startReceiver();
});
afterAll(async () => {
  await studio.stop();
  await remote.stop();
});

async function made(path: string, body: object) {
  const answer = await app.post(path, body);
  expect(`${path} ${answer.status} ${answer.text}`).toStartWith(`${path} 201`);
  return answer.json;
}
const flow = (code: string, program: unknown) =>
  made("/connect/flows.json", { flow: { name: code, code, fields: { program } } });

/** Pictures for whoever works on the pages, in the folder that SHOTS names. */
async function shot(page: Page, name: string): Promise<void> {
  expect([name, await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)]).toEqual([name, true]);
  const folder = Bun.env["SHOTS"];
  if (!folder) return;
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  const before = page.viewportSize();
  await page.setViewportSize({ width: 360, height: 740 });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.screenshot({ path: `${folder}/${name}-phone.png`, fullPage: true });
  await page.emulateMedia({ colorScheme: "light" });
  if (before) await page.setViewportSize(before);
}

test("a process is followed from the record that led to it to the outside, and mended", async () => {
  let isUp = false;
  remote.answer = () => (isUp ? Response.json({ number: 7 }) : new Response("{}", { status: 404 }));
  await made("/core/dbs.json", { db: { name: "Orders", code: "orders" } });
  const methods = { issue: { method: "POST", path: "/bills", body: { order: "{order}", note: "{note}" } } };
  await made("/connect/connectors.json", {
    connector: { name: "Billing", code: "billing", url: remote.url, fields: { methods } },
  });
  const params = { order: "{{ data.id }}", note: "{{ data.note }}" };
  await flow("bill", [
    { type: "connector", connector: "billing", method: "issue", params, as: "bill" },
    { type: "return", value: "{{ bill.number }}" },
  ]);
  const { id: hook } = await made("/account/webhooks.json", {
    webhook: { source_type: "Core::Record", kind: "create", target_kind: "flow", target_code: "bill" },
  });
  await using opened = await studio.signedIn({ at: "/studio/connect/processes?started_by=webhook" });
  const { page, faults } = opened;
  await page
    .getByText("Nothing matches")
    .or(page.getByText(/filters/i))
    .first()
    .waitFor();

  const order = await made("/core/dbs/orders/records.json", { record: { data: { note: "<b>".repeat(1000) } } });
  const listed = await eventually(async () => {
    const found = (await app.get("/connect/flow_processes.json?status=error")).json;
    return found.length === 1 && found[0];
  }, "the process of the order");
  await page.goto(`${app.origin}/studio/connect/processes?status=error`);
  const row = page.getByRole("grid", { name: "Runs" }).getByRole("row", { name: /bill/ });
  await row.getByText("A record of Orders is added").waitFor();
  await shot(page, "processes");
  await row.getByRole("link").first().click();
  await page.getByRole("heading", { level: 1, name: /^Run / }).waitFor();

  const trace = page.getByRole("region", { name: "Where it comes from, and what follows" });
  await trace.getByText("bill (this run)").waitFor();
  const addresses = await trace.getByRole("link").evaluateAll((links) => links.map((one) => one.getAttribute("href")));
  expect(addresses.slice(0, 2)).toEqual([
    `/studio/core/dbs/orders/records?open=${order.id}`,
    `/studio/account/webhooks/${hook}`,
  ]);
  expect(addresses[2]).toMatch(/deliveries\/\d+$/);
  const step = page.locator("li details[open]", { hasText: "Billing: issue" });
  await step.getByText("the remote answered 404").waitFor();
  await step.getByText("There is nothing at this address.", { exact: false }).waitFor();
  const given = step.getByRole("region", { name: "Put in" });
  await given.getByText("As JSON").click();
  expect((await given.locator("pre").textContent())?.length).toBeLessThan(2100);
  await given.getByRole("button", { name: /^Show all/ }).click();
  expect((await given.locator("pre").textContent())?.length).toBeGreaterThan(3000);
  await given.getByRole("button", { name: "Show less" }).click();
  await shot(page, "process");
  await trace.getByRole("link", { name: /^Orders/ }).click();
  const record = page.getByRole("complementary");
  await record.getByRole("link", { name: "Runs", exact: true }).click();
  await page.waitForURL(/record_id=/);
  await page.getByRole("grid", { name: "Runs" }).getByRole("row", { name: /bill/ }).getByRole("link").first().click();
  await trace.getByText("bill (this run)").waitFor();
  isUp = true;
  await page.getByRole("button", { name: "Retry from step 1", exact: true }).click();
  await page.getByRole("region", { name: "Result of the run" }).getByText("7").waitFor();
  expect(remote.at("/bills")).toHaveLength(2);
  await trace.getByRole("link", { name: "Everything started by: A record of Orders is added" }).click();
  await page.waitForURL(new RegExp(`started_by=webhook%3A${hook}$`));
  await page.getByRole("grid", { name: "Runs" }).getByText("Went well").waitFor();
  expect((await app.get(`/connect/flow_processes/${listed.id}.json`)).json.status).toBe("finished");
  expect(faults).toEqual([]);
});

test("the list offers what begins, and shows what ends in its place", async () => {
  await flow("waits", [{ type: "wait", seconds: 86_400 }]);
  const run = () => made("/connect/flows/waits/run.json?wait=0", {});
  const first = await run();
  await using opened = await studio.signedIn({ at: "/studio/connect/processes?flow_code=waits" });
  const { page, faults } = opened;
  const grid = page.getByRole("grid", { name: "Runs" });
  await grid.getByText("Under way").waitFor();
  // The first look of the server tells of nothing: only what begins after it is news.
  const offer = page.getByRole("button", { name: /^Show \d+ new/ });
  await eventually(async () => {
    await run();
    await Bun.sleep(500);
    return (await offer.count()) === 1;
  }, "news of a process");
  expect(await grid.getByRole("row").count()).toBe(2);
  await app.post(`/connect/flow_processes/${first.id}/cancel.json`, {});
  await grid.getByText("cancelled").waitFor();
  await offer.click();
  await eventually(async () => (await grid.getByRole("row").count()) > 2);
  await page.goto(`${app.origin}/studio/connect/processes/${(await run()).id}`);
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByText("It was cancelled.").first().waitFor();
  expect(faults).toEqual([]);
});

test("a run is compared with the run before, and with an earlier one", async () => {
  await flow("prices", [
    { type: "mutation", set: { currency: "EUR" } },
    { type: "mutation", set: { total: "{{ input.total }}" } },
    { type: "if", condition: "input.total == '2'", then: [{ type: "mutation", set: { small: true } }] },
  ]);
  const run = (total: string) => made("/connect/flows/prices/run.json?wait=25", { total });
  const [first, second, third] = [await run("1"), await run("2"), await run("3")];
  await using opened = await studio.signedIn({ at: `/studio/connect/processes/${third.id}` });
  const { page, faults } = opened;
  const entry = page.getByRole("button", { name: "Compare with the run before" });
  const release = Promise.withResolvers<void>();
  await page.route(`**/connect/flow_processes/${second.id}.json*`, async (route) => {
    await release.promise;
    await route.continue();
  });
  await entry.click();
  await page.waitForURL(new RegExp(`with=${second.id}$`));
  const comparison = page.getByRole("region", { name: "Compare with the run before" }).first();
  await comparison.getByText("Loading…").waitFor();
  release.resolve();
  const steps = comparison.getByRole("listitem");
  await steps.nth(4).waitFor();
  const stateOf = (one: number) => steps.nth(one).locator("summary").textContent();
  expect(await stateOf(0)).toContain("Different");
  expect(await stateOf(1)).toContain("Same");
  expect(await stateOf(2)).toContain("Different");
  expect(await steps.nth(1).locator("details").getAttribute("open")).toBeNull();
  expect((await steps.nth(2).locator("del").allTextContents()).join("")).toContain('"2"');
  expect((await steps.nth(2).locator("ins").allTextContents()).join("")).toContain('"3"');
  await steps.filter({ hasText: "Not reached" }).first().waitFor();
  await shot(page, "run-compared");
  await page.setViewportSize({ width: 360, height: 740 });
  const sides = steps.nth(2).locator("details > div").first().locator("p");
  const [left, right] = [await sides.nth(0).boundingBox(), await sides.nth(1).boundingBox()];
  expect(right?.y ?? 0).toBeGreaterThan(left?.y ?? 0);
  await page.setViewportSize({ width: 1280, height: 800 });
  await comparison.getByLabel("Compared with").selectOption(first.id);
  await page.waitForURL(new RegExp(`with=${first.id}$`));
  await steps.nth(2).locator("del").getByText('"1"').waitFor();
  await entry.click();
  await page.waitForURL(new RegExp(`${third.id}$`));
  await page
    .getByRole("region", { name: "Result of the run" })
    .or(page.getByRole("heading", { name: "Went well" }))
    .first()
    .waitFor();
  await page.goto(`${app.origin}/studio/connect/processes/${first.id}?with=before`);
  await page.getByText("This is the first run of this flow.").waitFor();
  expect(faults).toEqual([]);
});

test("the steps of a run keep their numbers and names when the flow is changed", async () => {
  const named = (description: string) => ({ type: "mutation", description, set: { [description]: 1 } });
  await flow("numbers", [named("First"), named("Second")]);
  const { id } = await made("/connect/flows/numbers/run.json?wait=25", {});
  const fields = { program: [{ type: "wait", seconds: 1 }, named("Other"), named("Another")] };
  expect((await app.patch("/connect/flows/numbers.json", { flow: { fields } })).status).toBe(200);
  await using opened = await studio.signedIn({ at: `/studio/connect/processes/${id}` });
  const steps = opened.page.locator("li summary");
  await steps.getByText("Second").waitFor();
  expect((await steps.locator(".num").allTextContents()).map((text) => text.trim())).toEqual(["1", "2"]);
  expect(await steps.locator("strong").allTextContents()).toEqual(["It was started", "First", "Second"]);
  expect(opened.faults).toEqual([]);
});

test("a cron says in words and times what is typed, starts its flow, and is switched off", async () => {
  await flow("report", [{ type: "return", value: "done" }]);
  await using opened = await studio.signedIn({ at: "/studio/account/crons/new" });
  const { page, faults } = opened;
  await page.getByLabel("Name", { exact: true }).fill("Every morning");
  await page.getByLabel("Flow", { exact: true }).selectOption("report");
  await page.locator("strong", { hasText: "Monday to Friday at 09:00" }).waitFor();
  await page.getByLabel("How often", { exact: true }).selectOption("week");
  await page.getByRole("combobox", { name: "On", exact: true }).selectOption({ label: "Friday" });
  await page.locator("strong", { hasText: "Each week on Friday at 09:00" }).waitFor();
  await page.getByLabel("How often", { exact: true }).selectOption("custom");
  const schedule = page.getByLabel("Schedule", { exact: true });
  await schedule.fill("61 * * * *");
  await page.getByText("is not a cron expression").waitFor();
  await schedule.fill("0 7 * * *");
  await page.locator("strong", { hasText: "Every day at 07:00" }).waitFor();
  const times = page.locator("ol time");
  await times.nth(2).waitFor();
  const shown = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short", timeZone: "Asia/Tokyo" });
  const next: string[] = (await app.get("/account/crons/next.json?count=3&schedule=0 7 * * *")).json.next_runs;
  expect(await times.allTextContents()).toEqual(next.map((time) => shown.format(new Date(time))));
  await page.getByLabel("Time zone").fill("Europe/London");
  await page.getByText("(the schedule counts in Europe/London)", { exact: false }).waitFor();
  await shot(page, "cron-new");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { level: 1, name: "Every morning" }).waitFor();
  const runs = page.getByRole("region", { name: "Its latest runs" });
  await runs.getByText("It has started nothing yet.").waitFor();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: /^Run / }).waitFor();
  await page.goBack();
  await runs.getByText("Went well").waitFor();
  await shot(page, "cron");

  await page.goto(`${app.origin}/studio/account/crons`);
  const row = page.getByRole("grid", { name: "Schedules" }).getByRole("row", { name: /Every morning/ });
  await row.getByText("Every day at 07:00").waitFor();
  await row.getByRole("switch", { name: "On: Every morning", checked: true }).click();
  await page.getByRole("status").getByText("Every morning is off").waitFor();
  expect((await app.get("/account/crons.json")).json[0]).toMatchObject({ active: false, next_run_at: null });
  await shot(page, "crons");
  expect(faults.filter((fault) => !/status of 422/.test(fault))).toEqual([]);
});
