/** Changes of all that filters find, and live changes, in the Studio. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { launchChromium, type TestBrowser } from "../chromium.ts";
import { adminPassword, eventually, startTestApp, type TestApp } from "../harness.ts";
import { atStudio } from "./studio-fixture.ts";

let app: TestApp;
let browser: TestBrowser;
beforeAll(async () => {
  [app, browser] = await Promise.all([startTestApp(), launchChromium()]);
});
afterAll(async () => {
  await browser.close();
  await app.stop();
});

const opened = (path: string, options: BrowserContextOptions = {}) =>
  atStudio(browser, app.origin, { ...options, at: path });

const people = {
  fields: { name: { type: "string", required: true }, city: "string", age: "integer", note: "text" },
  indexed_fields: ["name", "city", "age"],
};
async function database(
  code: string,
  rows: readonly object[],
  { name = code, schema = people }: { name?: string; schema?: object } = {},
) {
  expect((await app.post("/core/dbs.json", { db: { name, code, schema } })).status).toBe(201);
  for (let at = 0; at < rows.length; at += 1000) {
    const operations = rows.slice(at, at + 1000).map((data) => ({ op: "create", data }));
    expect((await app.post(`/core/dbs/${code}/batch.json`, { operations })).status).toBe(200);
  }
}
const count = async (code: string, query = "") =>
  Number((await app.get(`/core/dbs/${code}/records.json?count=true&limit=1${query}`)).headers.get("x-total-count"));
const grid = (page: Page) => page.getByRole("grid", { name: "Records" });
const guests = (many: number) =>
  Array.from({ length: many }, (_, at) => ({ name: `G${at}`, city: at % 2 === 0 ? "Wien" : "Brno", age: at % 90 }));

const cell = (page: Page, text: string) => grid(page).getByRole("gridcell", { name: text, exact: true });
const paste = (page: Page, text: string) =>
  grid(page).evaluate((element, pasted) => {
    const data = new DataTransfer();
    data.setData("text/plain", pasted);
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, text);

/** A row that a change has to wait for, until it is let go. */
async function held(code: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { promise: holds, resolve: has } = Promise.withResolvers<void>();
  const { id } = (await app.get(`/core/dbs/${code}.json`)).json;
  const done = app.sql.begin(async (tx) => {
    await tx`select from records where db_id = ${id} for update`;
    has();
    await promise;
  });
  await holds;
  return async () => {
    resolve();
    await done;
  };
}

test("all that match are chosen beyond the loaded ones, changed while one looks elsewhere, and deleted after the name", async () => {
  const name = "<script>window.hit=1</script> \u202egnp";
  await database("guests", guests(400), { name });
  await using session = await opened("/studio/core/dbs/guests/records?filter%5Bcity%5D=Wien");
  const { page } = session;
  await page.getByText("Records: 200").waitFor();
  await page.getByLabel("Choose all loaded records").check();
  await page.getByRole("button", { name: "Choose all 200 that match" }).click();
  await page.getByText("All 200 records that match are chosen.").waitFor();
  // One that is left out makes it a choice of those that one can see.
  await grid(page).locator("[aria-rowindex='2'] input[type=checkbox]").uncheck();
  await page.getByText(/Chosen: \d+/).waitFor();
  await grid(page).locator("[aria-rowindex='2'] input[type=checkbox]").check();
  await page.getByRole("button", { name: "Choose all 200 that match" }).click();

  await page.getByRole("button", { name: "Change a field" }).click();
  const dialog = page.getByRole("dialog", { name: "Change a field" });
  await dialog.getByText("This concerns 200 records.").waitFor();
  await dialog.getByLabel("Field").selectOption("age");
  await dialog.getByLabel("Value").fill("old");
  await dialog.getByLabel("Name of the table").fill("guests");
  expect(await dialog.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
  await dialog.getByLabel("Name of the table").fill("<script>window.hit=1</script> gnp");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByRole("alert").getByText("This is not a number").waitFor();
  await dialog.getByLabel("Value").fill("7");
  const release = await held("guests");
  await page.keyboard.press("Enter");
  const panel = page.getByRole("region", { name: "Change of many records" });
  await panel.getByRole("progressbar").waitFor();

  // Another tab sees it too, and this one when it comes back.
  const other = await page.context().newPage();
  await other.goto(`${app.origin}/studio/core/dbs/guests/records`);
  await other.getByRole("region", { name: "Change of many records" }).getByText("running").waitFor();
  await other.close();
  await page.getByRole("button", { name: "Fields, import, export and more" }).click();
  await page.getByRole("link", { name: "Fields", exact: true }).click();
  await page.getByRole("list", { name: "Fields in order" }).waitFor();
  await page.goBack();
  await panel.getByText("running").waitFor();
  await release();
  await panel.getByText("Changed: 200.").waitFor();
  expect(await count("guests", "&filter[age]=7&filter[city]=Wien")).toBe(200);

  await page.getByLabel("Choose all loaded records").check();
  await page.getByRole("button", { name: "Choose all 200 that match" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  const deletion = page.getByRole("dialog", { name: "Delete" });
  await deletion.getByLabel("Name of the table").fill("<script>window.hit=1</script> gnp");
  await deletion.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("region", { name: "Deletion of many records" }).getByText("Deleted: 200.").waitFor();
  await page.getByText("No record matches.").waitFor();
  await page.getByRole("main").getByRole("link", { name: "Clear filters" }).click();
  await page.getByText("Records: 200").waitFor();
  expect([await count("guests"), await page.evaluate(() => "hit" in window)]).toEqual([200, false]);
  expect(session.faults).toEqual([]);
});

test("what somebody else has changed meanwhile is not overwritten by a paste, its undo or a change of many without asking", async () => {
  const hostile = "<img src=x onerror=window.hit=1>\u202egnp";
  await database("both", [
    { name: "A", city: "a", age: 1 },
    { name: "B", city: "b", age: 1 },
    { name: "C", city: "c", age: 1 },
  ]);
  await using session = await opened("/studio/core/dbs/both/records?sort=name");
  const { page } = session;
  await cell(page, "A").waitFor();
  const records = async () => (await app.get("/core/dbs/both/search.json?sort=name")).json;
  const values = async () =>
    (await records()).map((one: Record<string, unknown>) => [one["name"], one["city"], one["age"]]);
  const [a, b, c] = await records();
  const elsewhere = (id: string, data: object) => app.patch(`/core/dbs/both/records/${id}.json`, { record: { data } });
  /** Just before the next batch arrives. */
  const before = (change: () => Promise<unknown>) =>
    page.route(
      "**/batch.json",
      async (route) => {
        await change();
        await route.continue();
      },
      { times: 1 },
    );
  const asked = page.getByRole("dialog", { name: "Somebody else has changed this" });

  await before(async () => {
    await elsewhere(a.id, { city: hostile });
    await elsewhere(b.id, { name: "B2" });
  });
  await cell(page, "a").click();
  await paste(page, "1\t10\n2\t20\n3\t30");
  await asked.getByText("changed 1 of these cells").waitFor();
  await asked.getByRole("cell", { name: hostile.slice(0, 32) }).waitFor();
  expect(await values()).toEqual([
    ["A", hostile, 1],
    ["B2", "b", 1],
    ["C", "c", 1],
  ]);
  await asked.getByRole("button", { name: "Keep theirs" }).click();
  await page.getByRole("status").getByText("Records pasted: 3").waitFor();
  expect(await values()).toEqual([
    ["A", hostile, 10],
    ["B2", "2", 20],
    ["C", "3", 30],
  ]);

  await before(() => elsewhere(c.id, { city: "theirs" }));
  await page.getByRole("button", { name: "Undo" }).click();
  await asked.getByRole("cell", { name: "theirs" }).waitFor();
  await asked.getByRole("button", { name: "Overwrite with mine" }).click();
  await asked.waitFor({ state: "detached" });
  await eventually(async () => (await records())[2].city === "c");
  expect(await values()).toEqual([
    ["A", hostile, 1],
    ["B2", "b", 1],
    ["C", "c", 1],
  ]);

  await before(() => elsewhere(b.id, { age: 7 }));
  await page.getByLabel("Choose all loaded records").check();
  await page.getByRole("button", { name: "Change a field" }).click();
  await page.getByRole("dialog").getByLabel("Field").selectOption("age");
  await page.getByRole("dialog").getByLabel("Value").fill("9");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await asked.getByRole("cell", { name: "7" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect((await values()).map(([, , age]: unknown[]) => age)).toEqual([1, 7, 1]);
  expect(await page.evaluate(() => "hit" in window)).toBe(false);
  expect(session.faults.filter((fault) => !fault.includes("422"))).toEqual([]);
});

test("a megabyte is pasted whole in one request or refused with the limit, and rows that nobody has looked at are changed", async () => {
  await database("pasted", guests(200));
  await using session = await opened("/studio/core/dbs/pasted/records?sort=created_at&cols=name%2Ccity%2Cnote%2Cid");
  const { page } = session;
  await cell(page, "G0").waitFor();
  const note = async (name: string) =>
    (await app.get(`/core/dbs/pasted/search.json?filter[name]=${name}`)).json[0].note;
  const alert = (text: string | RegExp) => page.getByText(text).first().waitFor();
  const lines = (length: number, line: (at: number) => string) =>
    Array.from({ length }, (_, at) => line(at)).join("\n");

  // Refused as a whole.
  await cell(page, "G0").click();
  await paste(
    page,
    lines(1001, (at) => `N${at}`),
  );
  await alert(/At most 1,000 rows/);
  await paste(page, "X\tY\tZ\tid\tbeyond\tbeyond");
  await alert(/2 of the pasted values stand to the right/);
  await cell(page, "G0").click();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Control+Shift+End");
  await paste(page, "y".repeat(100_000));
  await alert(/more than 9 MB/);
  expect([await count("pasted"), await count("pasted", "&filter[city]=Wien")]).toEqual([200, 100]);

  // Most of these rows have never been loaded.
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("ArrowDown");
  await cell(page, "G0").click();
  await paste(
    page,
    lines(200, (at) => `P${at}\tGraz`),
  );
  await alert("Records pasted: 200");
  expect([await count("pasted"), await count("pasted", "&filter[city]=Graz")]).toEqual([200, 200]);

  // Quotes, breaks and tabs in one long cell; rows of other lengths; a quote that is never closed.
  await cell(page, "P0").click();
  const long = `"<b>\n\t${"z".repeat(1_000_000)}`;
  await paste(page, `L0\tBrno\t"${long.replaceAll('"', '""')}"\nL1\n"L2\tLinz`);
  await alert("Records pasted: 3");
  expect([(await note("L0")) === long, await note("L1")]).toEqual([true, undefined]);
  expect((await app.get("/core/dbs/pasted/search.json?filter[city]=Linz")).json[0].name).toBe('"L2');
  // It is too long to be read in the grid, so a paste leaves it as it is, and says so.
  await cell(page, "L0").click();
  await paste(page, "L0\tGraz\tshort");
  await alert(/left out: 1/);
  expect((await note("L0")) === long).toBe(true);

  await cell(page, "L1").click();
  await paste(page, `L1\tGraz\t${"m".repeat(2_000_001)}`);
  await alert(/at most 2000000 characters as JSON/);
  await paste(
    page,
    lines(1000, (at) => `M${at}\tOslo\t${"m".repeat(1000)}`),
  );
  await alert("Records pasted: 1000");
  expect([await count("pasted"), await count("pasted", "&filter[city]=Oslo")]).toEqual([1001, 1000]);
  expect(session.faults.filter((fault) => !fault.includes("422"))).toEqual([]);
});

test("a deletion goes on while the session ends, and is stopped", async () => {
  await database("mixed", guests(600));
  await using session = await opened("/studio/core/dbs/mixed/records");
  const { page } = session;
  await page.getByLabel("Choose all loaded records").check();
  await page.getByRole("button", { name: "Choose all 600" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog").getByLabel("Name of the table").fill("mixed");
  const release = await held("mixed");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  const panel = page.getByRole("region", { name: "Deletion of many records" });
  await panel.getByText("running").waitFor();
  await page.context().clearCookies();
  const again = page.getByRole("dialog", { name: "Your session has ended" });
  await again.getByLabel("Password").fill(adminPassword);
  await again.getByRole("button", { name: "Sign in" }).click();
  await again.waitFor({ state: "detached" });
  const asked = page.waitForRequest((request) => request.url().includes("/stop.json"));
  await panel.getByRole("button", { name: "Stop" }).click();
  await asked;
  await release();
  await panel.getByText("it was stopped").waitFor();
  await page.getByText(/Records: [1-5]/).waitFor();
  expect(await count("mixed")).toBeGreaterThan(0);
  await panel.getByRole("button", { name: "Hide" }).click();
  await panel.waitFor({ state: "detached" });
  expect(session.faults.filter((fault) => !fault.includes("401"))).toEqual([]);
});

test("records that are refused are listed, and lead to themselves", async () => {
  const schema = { tables: { orders: { fields: { total: "integer" } }, lines: { fields: { total: "string" } } } };
  await database("shop", [], { schema });
  const operations = Array.from({ length: 130 }, (_, at) => ({
    op: "create",
    table_name: "orders",
    data: { total: at },
  }));
  expect((await app.post("/core/dbs/shop/batch.json", { operations })).status).toBe(200);
  await using session = await opened("/studio/core/dbs/shop/records");
  const { page } = session;
  await page.getByLabel("Table", { exact: true }).selectOption({ label: "All tables" });
  await page.getByText("Records: 130").waitFor();
  await page.getByLabel("Choose all loaded records").check();
  await page.getByRole("button", { name: "Choose all 130" }).click();
  await page.getByRole("button", { name: "Change a field" }).click();
  const dialog = page.getByRole("dialog", { name: "Change a field" });
  await dialog.getByLabel("Field").selectOption("total");
  await dialog.getByLabel("Value").fill("many");
  await dialog.getByLabel("Name of the table").fill("shop");
  await dialog.getByRole("button", { name: "Save" }).click();
  const panel = page.getByRole("region", { name: "Change of many records" });
  await panel.getByText("Refused: 130.").waitFor();
  await panel.getByRole("link", { name: "Details" }).click();
  await page.getByRole("heading", { name: "Records that were refused" }).waitFor();
  await page.getByText("1–100 of 130").waitFor();
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByText("101–130 of 130").waitFor();
  const begun = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download as CSV" }).click();
  const csv = await Bun.file((await (await begun).path()) ?? "").text();
  expect(csv.trim().split("\r\n")).toHaveLength(131);
  await page.getByRole("row").last().getByRole("link").click();
  await page.getByRole("complementary").waitFor();
  // The list of tasks leads to it and back.
  await page.goto(`${app.origin}/studio/core/dbs/shop/tasks`);
  await page.getByRole("grid", { name: "Background work" }).getByRole("link").first().click();
  await page.getByRole("region", { name: "Change of many records" }).getByText("Refused: 130.").waitFor();
  await page.getByRole("link", { name: "Background work" }).last().click();
  await page.getByRole("heading", { level: 1, name: "Background work" }).waitFor();
  expect(session.faults).toEqual([]);
});

test("the changes of a table are told by day, with who and what, lead to their records, and go on further back", async () => {
  await database("news", [{ name: "Bob" }, { name: "<b>Ann</b>\u202e", city: "Brno" }], {
    schema: { ...people, history: true },
  });
  const [ann, bob] = (await app.get("/core/dbs/news/records.json")).json;
  const patch = (id: string, data: object) => app.patch(`/core/dbs/news/records/${id}.json`, { record: { data } });
  for (let times = 1; times <= 50; times++) await patch(bob.id, { age: times });
  await patch(ann.id, { city: "Wien", note: "y".repeat(1_000_000) });
  await app.delete(`/core/dbs/news/records/${bob.id}.json`);
  await using session = await opened("/studio/core/dbs/news/records", { viewport: { width: 360, height: 700 } });
  const { page } = session;
  await page.getByRole("link", { name: "Changes", exact: true }).click();
  const entries = page.locator(".entry");
  await entries.first().getByText("Deleted").waitFor();
  expect(await entries.count()).toBe(50);
  await entries.nth(1).getByText("Wien", { exact: true }).waitFor();
  expect((await entries.nth(1).textContent())?.length).toBeLessThan(3000);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await page.getByRole("button", { name: "Earlier changes" }).click();
  await entries.getByText("Created").first().waitFor();
  expect(await entries.count()).toBe(54);
  await entries.nth(1).getByRole("link", { name: "<b>Ann</b>" }).click();
  await page.getByRole("complementary").waitFor();
  expect(session.faults).toEqual([]);
});
