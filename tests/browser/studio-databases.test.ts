/** The pages of a database in the Studio: records, public methods. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { launchChromium, type TestBrowser } from "../chromium.ts";
import { eventually, startTestApp, type TestApp } from "../harness.ts";
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

/** A page of the Studio, and what goes wrong in it. */
const opened = (path: string, options: BrowserContextOptions = {}) =>
  atStudio(browser, app.origin, { ...options, at: path });

const people = {
  fields: { name: { type: "string", required: true }, city: "string", age: "integer", note: "text" },
  indexed_fields: ["name", "city", "age"],
};

async function database(code: string, rows: readonly Record<string, unknown>[], schema: unknown = people) {
  const made = await app.post("/core/dbs.json", { db: { name: code, code, schema } });
  expect(made.status).toBe(201);
  for (let at = 0; at < rows.length; at += 1000) {
    const operations = rows.slice(at, at + 1000).map((data) => ({ op: "create", data }));
    expect((await app.post(`/core/dbs/${code}/batch.json`, { operations })).status).toBe(200);
  }
}

const found = async (code: string, query = "") => (await app.get(`/core/dbs/${code}/search.json${query}`)).json;
const grid = (page: Page) => page.getByRole("grid", { name: "Records" });
const cell = (page: Page, text: string) => grid(page).getByRole("gridcell", { name: text, exact: true });

test("thousands of records are scrolled with a few rows in the document, and sorted by a click", async () => {
  const rows = Array.from({ length: 3000 }, (_, at) => ({ name: `P${String(at).padStart(4, "0")}`, age: at }));
  await database("many", rows);
  await using session = await opened("/studio/core/dbs/many/records?sort=name");
  const { page } = session;
  await cell(page, "P0000").waitFor();
  await page.getByText("Records: 3,000").waitFor();
  expect(await grid(page).getAttribute("aria-rowcount")).toBe("3001");
  await cell(page, "P0000").click();
  await page.keyboard.press("Control+End");
  await cell(page, "P2999").waitFor();
  expect(await grid(page).locator("[role=row][aria-rowindex='3001'] [role=gridcell]").count()).toBeGreaterThan(3);
  expect(await grid(page).getByRole("row").count()).toBeLessThan(32);
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  // The header has a menu: its first line sorts.
  await page.keyboard.press("Enter");
  await page.locator("button:focus", { hasText: "Sort: A to Z" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/sort=city/);
  await grid(page).getByRole("columnheader", { name: "Age" }).getByRole("button").click();
  await page.getByRole("button", { name: "Sort: Largest" }).click();
  await cell(page, "P2999").waitFor();
  expect(new URL(page.url()).searchParams.get("sort")).toBe("-age");
  expect(session.faults).toEqual([]);
});

test("a number of any length is shown, copied and saved with all its digits", async () => {
  const digits = ["76159173374952512.31", "12345678901234567890.5"] as const;
  const schema = { fields: { name: "string", amount: "number", other: "number" } };
  expect((await app.post("/core/dbs.json", { db: { name: "digits", code: "digits", schema } })).status).toBe(201);
  const raw = `{"record":{"data":{"name":"Ann","amount":${digits[0]},"other":${digits[0]},"outside":${digits[0]}}}}`;
  const headers = { "content-type": "application/json" };
  expect((await app.post("/core/dbs/digits/records.json", undefined, { raw, headers })).status).toBe(201);
  await using session = await opened("/studio/core/dbs/digits/records");
  const { page } = session;
  const line = grid(page).getByRole("row").nth(1);
  await line.getByRole("gridcell", { name: digits[0], exact: true }).first().click();
  await page.keyboard.press("F2");
  await page.getByRole("textbox", { name: "Amount" }).fill(digits[1]);
  await page.keyboard.press("Enter");
  await cell(page, digits[1]).waitFor();
  const stored = async () => {
    const [row] =
      await app.sql`select data ->> 'amount' as amount, data ->> 'other' as other, data ->> 'outside' as outside
      from records r join dbs d on d.id = r.db_id where d.code = 'digits'`;
    return row;
  };
  await eventually(async () => (await stored())?.["amount"] === digits[1], "the number that was typed");
  expect(await stored()).toEqual({ amount: digits[1], other: digits[0], outside: digits[0] });
  expect(session.faults).toEqual([]);
});

test("a cell is changed by keys, the server's words stand at it, and undo takes it back", async () => {
  await database("cells", [{ name: "Ann", city: "Łódź", age: 34 }]);
  await using session = await opened("/studio/core/dbs/cells/records");
  const { page } = session;
  await cell(page, "Ann").click();
  await page.keyboard.press("F2");
  await page.getByRole("textbox", { name: "Name" }).fill("");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("is required").waitFor();
  await page.keyboard.press("Escape");
  await cell(page, "Ann").waitFor();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "Age" }).fill("old");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("This is not a number").waitFor();
  await page.getByRole("textbox", { name: "Age" }).fill("35");
  await page.keyboard.press("Enter");
  await page.getByRole("status").getByText("Age: 35").waitFor();
  expect((await found("cells"))[0]).toMatchObject({ name: "Ann", age: 35 });
  await page.getByRole("button", { name: "Undo" }).click();
  await eventually(async () => (await found("cells"))[0].age === 34);
  await cell(page, "34").waitFor();
  // What is typed replaces the cell; F2 goes on behind what is there; letters are shortcuts where no cell is chosen.
  await cell(page, "Łódź").click();
  await page.keyboard.type("n?cg");
  await page.keyboard.press("Enter");
  await eventually(async () => (await found("cells"))[0].city === "n?cg");
  await cell(page, "n?cg").waitFor();
  await page.keyboard.press("F2");
  await page.keyboard.type("!");
  await page.keyboard.press("Enter");
  await eventually(async () => (await found("cells"))[0].city === "n?cg!");
  await cell(page, "n?cg!").waitFor();
  await page.keyboard.press("x");
  await page.keyboard.press("Escape");
  await cell(page, "n?cg!").waitFor();
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Delete");
  await page.getByRole("status").getByText("Records changed: 1").waitFor();
  const [cleared] = await found("cells");
  expect([cleared.name, cleared.city ?? null, cleared.age ?? null]).toEqual(["Ann", null, null]);
  await page.keyboard.press("Control+z");
  await eventually(async () => (await found("cells"))[0].city === "n?cg!");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "All keys" }).getByText("typing replaces what is in a cell").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("n");
  await page.getByRole("textbox", { name: "Name" }).waitFor();
  expect(session.faults.filter((fault) => !fault.includes("422"))).toEqual([]);
});

test("records are added, narrowed by filters, chosen by keys, deleted and brought back", async () => {
  await database("work", [
    { name: "Ann", age: 30 },
    { name: "Bob", age: 40, note: "tall" },
    { name: "Cyd", age: 50 },
  ]);
  await using session = await opened("/studio/core/dbs/work/records");
  const { page } = session;
  await page.getByRole("button", { name: "New record" }).click();
  const panel = page.getByRole("complementary", { name: "New record" });
  await panel.getByLabel("City").fill("Wien");
  await panel.getByRole("button", { name: "Add record" }).click();
  await panel.getByText("is required").waitFor();
  await panel.getByLabel("Name", { exact: true }).fill("Dan");
  await panel.getByRole("button", { name: "Add record" }).click();
  await cell(page, "Dan").waitFor();

  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("button", { name: "Add filter" }).click();
  await page.getByLabel("Field", { exact: true }).selectOption("age");
  await page.getByLabel("Condition").selectOption("gte");
  await page.getByLabel("Value").fill("40");
  await page.getByRole("button", { name: "Apply" }).click();
  await cell(page, "Ann").waitFor({ state: "detached" });
  await cell(page, "Bob").waitFor();
  expect(new URL(page.url()).searchParams.get("filter[age][gte]")).toBe("40");
  expect(await page.getByRole("note").count()).toBe(0);
  await page.goto(`${app.origin}/studio/core/dbs/work/records?filter%5Bnote%5D=*all*`);
  await cell(page, "Bob").click();
  const before = await cell(page, "Bob").boundingBox();
  await page.keyboard.press("Shift+Space");
  await page.getByText("Chosen: 1").waitFor();
  expect(await cell(page, "Bob").boundingBox()).toEqual(before);
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("status").getByText("1 record deleted").waitFor();
  expect(await found("work")).toHaveLength(3);
  await page.getByRole("button", { name: "Undo" }).click();
  await eventually(async () => (await found("work")).length === 4);
  await cell(page, "Bob").waitFor();
  await grid(page).locator("[aria-rowindex='2'] input[type=checkbox]").check();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("status").getByText("1 record deleted").waitFor();
  expect(await found("work")).toHaveLength(3);
});

test("a row is typed from cell to cell, and Tab takes the record that was found", async () => {
  const firms = { fields: { name: "string" }, indexed_fields: ["name"] };
  expect((await app.post("/core/dbs.json", { db: { name: "Firms", code: "firms", schema: firms } })).status).toBe(201);
  for (const name of ["Teehaus Nord", "Bistro"])
    expect((await app.post("/core/dbs/firms/records.json", { record: { data: { name } } })).status).toBe(201);
  const sales = { fields: { no: "string", firm: { type: "string", link: "firms" }, note: "string", total: "number" } };
  expect((await app.post("/core/dbs.json", { db: { name: "Sales", code: "sales", schema: sales } })).status).toBe(201);
  expect((await app.post("/core/dbs/sales/records.json", { record: { data: { no: "A" } } })).status).toBe(201);
  await using session = await opened("/studio/core/dbs/sales/records");
  const { page } = session;
  const stored = async () => (await found("sales"))[0];
  await cell(page, "A").click();
  await page.keyboard.press("F2");
  await page.keyboard.press("Tab");
  const firm = page.getByRole("combobox", { name: "Firm" });
  // What names nothing stays where it is.
  await firm.fill("nobody");
  await page.getByRole("option", { name: "No record found." }).waitFor();
  await page.keyboard.press("Tab");
  expect(await firm.inputValue()).toBe("nobody");
  await firm.fill("Tee");
  await page.keyboard.press("Tab");
  await page.getByRole("textbox", { name: "Note" }).fill("by hand");
  await eventually(async () => (await stored()).firm !== undefined);
  await page.keyboard.press("Tab");
  await page.getByRole("textbox", { name: "Total" }).fill("250");
  await page.keyboard.press("Enter");
  await eventually(async () => (await stored()).total === 250);
  expect((await stored()).note).toBe("by hand");
  // What is typed while the record is looked for goes where Tab leads.
  await page.getByRole("button", { name: "Add a record here" }).click();
  for (const text of ["B", "Bis", "at once"]) {
    await page.keyboard.type(text);
    await page.keyboard.press("Tab");
  }
  await page.keyboard.type("12.5");
  await page.keyboard.press("Enter");
  await eventually(async () => (await found("sales", "?filter[no]=B"))[0]?.total === 12.5);
  const [bistro] = await found("firms", "?filter[name]=Bistro");
  expect((await found("sales", "?filter[no]=B"))[0]).toMatchObject({ no: "B", firm: bistro.id, note: "at once" });
});

test("Enter goes down and Tab to the right, Esc lets Tab leave, and a new row waits for the server", async () => {
  await database("tabs", [
    { name: "Ann", city: "Ulm", age: 1 },
    { name: "Bob", city: "Wien", age: 2 },
  ]);
  await using session = await opened("/studio/core/dbs/tabs/records?sort=name");
  const { page } = session;
  const isActive = (text: string) =>
    eventually(() => cell(page, text).evaluate((one) => one === one.ownerDocument.activeElement));
  await cell(page, "Ann").click();
  await page.keyboard.press("F2");
  await page.keyboard.type("e");
  await page.keyboard.press("Enter");
  await isActive("Bob");
  await cell(page, "Anne").waitFor();
  await page.keyboard.press("Tab");
  await isActive("Wien");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("ArrowLeft");
  expect(await grid(page).locator("[aria-rowindex='2'] :focus, [aria-rowindex='2']:focus").count()).toBe(1);
  await cell(page, "Wien").click();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  expect(await grid(page).locator(":focus").count()).toBe(0);

  // News of one kind is one message, which takes back one after the other.
  await cell(page, "Ulm").click();
  await page.keyboard.press("Delete");
  await page.getByRole("status").getByText("Records changed: 1").waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Delete");
  const news = page.getByRole("status").locator(".toast", { hasText: "Records changed: 1" });
  await news.getByText("2", { exact: true }).waitFor();
  expect(await news.getByText("Records changed: 1").count()).toBe(1);
  await news.getByRole("button", { name: "Undo" }).click();
  await cell(page, "Wien").waitFor();
  expect((await found("tabs", "?sort=name")).map(({ city }: { city?: unknown }) => city ?? null)).toEqual([
    null,
    "Wien",
  ]);
  await news.getByRole("button", { name: "Undo" }).click();
  await cell(page, "Ulm").waitFor();

  await page.getByRole("button", { name: "Add a record here" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("Cid");
  await page.context().setOffline(true);
  await page.keyboard.press("Tab");
  await page.getByRole("textbox", { name: "City" }).fill("Graz");
  await page.keyboard.press("Tab");
  await page.getByRole("textbox", { name: "Age" }).fill("3");
  await page.context().setOffline(false);
  await page.keyboard.press("Enter");
  await eventually(async () => (await found("tabs", "?q=Cid"))[0]?.age === 3);
  expect(await found("tabs", "?q=Cid")).toMatchObject([{ name: "Cid", city: "Graz", age: 3 }]);
  await cell(page, "Graz").waitFor();
});

test("what is typed without a pause into a new row, or on, is in its cell, however late the server answers", async () => {
  const invoices = { fields: { number: "string", customer: "string", amount: "number", status: "string" } };
  await database("invoices", [{ number: "A-1" }], invoices);
  await using session = await opened("/studio/core/dbs/invoices/records");
  const { page } = session;
  await cell(page, "A-1").waitFor();
  const type = async (texts: readonly string[], delay: number) => {
    for (const [at, text] of texts.entries()) {
      if (at > 0) await page.keyboard.press("Tab");
      await page.keyboard.type(text, { delay });
    }
    await page.keyboard.press("Enter");
  };
  const stored = async (number: string) => (await found("invoices", `?filter[number]=${number}`))[0];
  const add = () => page.getByRole("button", { name: "Add a record here" }).click();
  for (const [number, delay] of [
    ["N-1", 0],
    ["N-2", 40],
  ] as const) {
    await add();
    await type([number, "River Mill", "450.25", "open"], delay);
    const typed = { number, customer: "River Mill", amount: 450.25, status: "open" };
    await eventually(async () => (await stored(number))?.status === "open", number);
    expect(await stored(number)).toMatchObject(typed);
  }

  let release: (() => void) | undefined;
  await page.route("**/invoices/records.json", async (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    await new Promise<void>((resolve) => (release = resolve));
    await route.fallback();
  });
  await add();
  await type(["N-3", "Old Mill", "12.50", "paid"], 0);
  // The next row is begun before the first one is there.
  await add();
  await page.keyboard.type("N-4");
  await page.keyboard.press("Tab");
  await page.keyboard.type("New");
  await eventually(() => release !== undefined);
  await page.unroute("**/invoices/records.json");
  release?.();
  await eventually(async () => (await stored("N-3"))?.status === "paid");
  await page.keyboard.type(" Mill");
  await page.keyboard.press("Tab");
  await page.keyboard.type("7");
  await page.keyboard.press("Enter");
  await eventually(async () => (await stored("N-4"))?.amount === 7);
  expect(await stored("N-3")).toMatchObject({ number: "N-3", customer: "Old Mill", amount: 12.5, status: "paid" });
  expect(await stored("N-4")).toMatchObject({ number: "N-4", customer: "New Mill", amount: 7 });
  expect(await found("invoices")).toHaveLength(5);

  // Enter goes down before the server has answered.
  const held: (() => void)[] = [];
  await page.route("**/records/*.json*", async (route) => {
    await new Promise<void>((resolve) => held.push(resolve));
    await route.fallback();
  });
  await cell(page, "N-1").click();
  await page.keyboard.type("M-1");
  await page.keyboard.press("Enter");
  await page.keyboard.type("M-2");
  await page.keyboard.press("Enter");
  await eventually(() => held.length === 2);
  await Promise.all([cell(page, "M-1").waitFor(), cell(page, "M-2").waitFor()]);
  await page.unroute("**/records/*.json*");
  for (const go of held) go();
  await eventually(async () => (await stored("M-1")) && (await stored("M-2")));

  // Without a connection what was typed into several rows waits for it, and a page that is left asks first.
  await page.context().setOffline(true);
  await cell(page, "M-1").click();
  await page.keyboard.type("O-1");
  await page.keyboard.press("Enter");
  await page.keyboard.type("O-2");
  await page.keyboard.press("Enter");
  await Promise.all([cell(page, "O-1").waitFor(), cell(page, "O-2").waitFor()]);
  const leaves = () => page.evaluate(() => dispatchEvent(new Event("beforeunload", { cancelable: true })));
  expect(await leaves()).toBe(false);
  await page.context().setOffline(false);
  await eventually(async () => (await stored("O-1")) && (await stored("O-2")));
  await eventually(leaves);
  expect(session.faults.filter((fault) => !fault.includes("ERR_INTERNET_DISCONNECTED"))).toEqual([]);
});

test("a line at the end adds a record with what the filters ask for, a search acts as one types, and ? tells the keys", async () => {
  await database("lines", [{ name: "Ann", city: "Wien" }], {
    fields: { age: "integer", name: { type: "string", required: true }, city: { type: "string", default: "Łódź" } },
  });
  await using session = await opened("/studio/core/dbs/lines/records?filter%5Bcity%5D=Wien");
  const { page } = session;
  await cell(page, "Ann").waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "All keys" }).getByText("Add a record here").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: /Find/ }).fill("New record");
  await page
    .getByRole("option", { name: /^New record/ })
    .first()
    .waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("n");
  await page.getByRole("textbox", { name: "Age" }).fill("7");
  await page.keyboard.press("Enter");
  // What it still lacks is asked for.
  await page.getByRole("alert").getByText("is required").waitFor();
  await page.getByRole("textbox", { name: "Name" }).fill("Bob");
  await page.keyboard.press("Enter");
  await page.getByRole("status").getByText("1 record added").waitFor();
  expect(await found("lines", "?q=Bob")).toMatchObject([{ name: "Bob", age: 7, city: "Wien" }]);
  await page.getByRole("button", { name: "Add a record here" }).click();
  await page.keyboard.press("Escape");
  await grid(page).locator("[aria-rowindex='4']").waitFor({ state: "detached" });
  await page.getByRole("searchbox", { name: "Search records" }).pressSequentially("Bo");
  await cell(page, "Ann").waitFor({ state: "detached" });
  await cell(page, "Bob").waitFor();
  expect(new URL(page.url()).searchParams.get("q")).toBe("Bo");
  await page.goto(`${app.origin}/studio/core/dbs/lines/records?open=new`);
  const city = page.getByRole("complementary", { name: "New record" }).getByLabel("City");
  expect(await city.inputValue()).toBe("Łódź");
  // Tab goes on to the next cell of the same record.
  await page.goto(`${app.origin}/studio/core/dbs/lines/records`);
  await cell(page, "Ann").waitFor();
  await page.keyboard.press("n");
  await page.getByRole("textbox", { name: "Age" }).fill("8");
  await page.keyboard.press("Tab");
  await page.getByRole("textbox", { name: "Name" }).fill("Cid");
  await page.keyboard.press("Tab");
  await page.getByRole("textbox", { name: "City" }).fill("Graz");
  await page.keyboard.press("Enter");
  await eventually(async () => (await found("lines", "?q=Cid"))[0]?.city === "Graz");
  expect(session.faults.filter((fault) => !fault.includes("422"))).toEqual([]);
});

test("values are shown by the kind of their field, cells are changed by pickers, and a field is added from the header", async () => {
  const make = async (path: string, body: object) => {
    const answer = await app.post(path, body);
    expect(answer.status).toBe(201);
    return answer.json;
  };
  await make("/core/dbs.json", { db: { name: "Clients", code: "clients", schema: { fields: { name: "string" } } } });
  const [muster] = await Promise.all(
    ["Muster GmbH", "Demo Deli"].map((name) => make("/core/dbs/clients/records.json", { record: { data: { name } } })),
  );
  const status = [
    { value: "new", label: { en: "Just in" }, color: "sky" },
    { value: "done", color: "green" },
  ];
  const fields = {
    no: { type: "string", label: { en: "Order", de: "Auftrag" } },
    client: { type: "string", link: "clients" },
    status: { type: "string", choices: status },
    tags: { type: "list", choices: ["tea", "cups"] },
    total: { type: "number", format: "money", currency: "EUR" },
    vat: { type: "number", format: "percent" },
    due: "date",
  };
  await make("/core/dbs.json", { db: { name: "Deals", code: "deals", schema: { fields } } });
  const day = "2026-01-31";
  const data = { no: "O-1", client: muster.id, status: "new", total: 1240, vat: 0.19, due: day };
  await make("/core/dbs/deals/records.json", { record: { data } });
  await using session = await opened("/studio/core/dbs/deals");
  const { page } = session;
  const stored = async () => (await found("deals"))[0];
  for (const text of ["Just in", "1,240.00", "19%", "Jan 31, 2026"]) await cell(page, text).waitFor();
  await grid(page).getByRole("link", { name: "Muster GmbH" }).waitFor();
  await grid(page).getByRole("columnheader", { name: "Order" }).waitFor();
  // The first record is not far below the bar.
  const top = async (locator: ReturnType<Page["locator"]>) => (await locator.boundingBox())?.y ?? Number.NaN;
  expect((await top(cell(page, "O-1"))) - (await top(page.locator(".table-bar")))).toBeLessThan(120);

  await cell(page, "Just in").dblclick();
  // One choice is all that is wanted: the cell closes.
  await page.getByRole("combobox", { name: "Status" }).selectOption({ label: "done" });
  await page.getByRole("status").getByText("Status: done").waitFor();
  await cell(page, "Jan 31, 2026").waitFor();
  await cell(page, "done").press("ArrowLeft");
  await page.keyboard.press("Enter");
  await page.getByRole("combobox", { name: "Client" }).fill("Demo");
  const option = page.getByRole("option", { name: "Demo Deli" });
  // The list lies over the page: nothing cuts it off.
  expect(await option.evaluate((one) => one.parentElement?.matches(":popover-open"))).toBe(true);
  await option.click();
  await page.getByRole("status").getByText("Client: Demo Deli").waitFor();
  await grid(page).getByRole("link", { name: "Demo Deli" }).waitFor();
  expect(await page.getByRole("listbox").count()).toBe(0);
  await page.locator("summary", { hasText: "Columns" }).click();
  const columns = await page.getByRole("group", { name: "Columns" }).boundingBox();
  expect((columns?.x ?? 0) + (columns?.width ?? 0)).toBeLessThanOrEqual(1280);
  await page.keyboard.press("Escape");
  await grid(page).getByRole("gridcell").nth(4).dblclick();
  await page.getByRole("group", { name: "Tags" }).getByRole("checkbox", { name: "cups" }).check();
  await page.getByRole("checkbox", { name: "tea" }).check();
  await page.keyboard.press("Enter");
  await eventually(async () => JSON.stringify((await stored()).tags) === '["tea","cups"]');
  await cell(page, "19%").dblclick();
  await page.getByRole("textbox", { name: "Vat" }).fill("7");
  await page.keyboard.press("Enter");
  await eventually(async () => (await stored()).vat === 0.07);
  // A day is typed as people of the language write it, and what is meant is said.
  await cell(page, "Jan 31, 2026").dblclick();
  await page.getByRole("textbox", { name: "Due" }).fill("12/24/2026");
  await page.getByText("= Dec 24, 2026").waitFor();
  await page.keyboard.press("Enter");
  await eventually(async () => (await stored()).due === "2026-12-24");

  await page.getByRole("button", { name: "Add field" }).click();
  await page.getByRole("searchbox", { name: /^What kind of field/ }).fill("deadline");
  await page.getByRole("button", { name: "Date A day" }).click();
  await page.getByLabel("Field name").fill("Wanted by");
  await page.keyboard.press("Enter");
  await grid(page).getByRole("columnheader", { name: "Wanted by" }).waitFor();
  const schema = (await app.get("/core/dbs/deals.json")).json.schema.fields;
  expect(schema.wanted_by).toEqual({ type: "date", label: { en: "Wanted by" } });
  expect(schema.client).toEqual(fields.client);
  expect(session.faults).toEqual([]);
});

test("sums are of all records that the filters find, and deleted records come back from the bin", async () => {
  const fields = { name: "string", price: { type: "number", format: "money", currency: "EUR" }, size: "number" };
  const rows = Array.from({ length: 120 }, (_, at) => ({ name: at % 2 ? "odd" : "even", price: at + 0.5, size: 0.1 }));
  await database("sums", rows, { fields });
  await using session = await opened("/studio/core/dbs/sums");
  const { page } = session;
  await page.getByText("Sum of Price €7,200.00").waitFor();
  await page.getByText("Sum of Size 12", { exact: true }).waitFor();
  // As with a tenth, which no computer holds exactly.
  await app.post("/core/dbs/sums/records.json", { record: { data: { name: "third", price: 31.400000000000002 } } });
  await page.reload();
  await page.getByText("Sum of Price €7,231.40").waitFor();
  await page.goto(`${app.origin}/studio/core/dbs/sums?filter%5Bname%5D=odd`);
  await page.getByText("Sum of Price €3,630.00").waitFor();
  const [{ id }] = await found("sums", "?filter[price]=7.5");
  await app.delete(`/core/dbs/sums/records/${id}.json`);
  await page.getByRole("button", { name: "Fields, import, export and more" }).click();
  await page.getByRole("link", { name: "Bin" }).click();
  await page.getByRole("button", { name: "Restore odd" }).click();
  await page.getByRole("link", { name: "It is back: open it" }).waitFor();
  expect(await found("sums", "?filter[price]=7.5")).toMatchObject([{ id }]);
  await app.post("/core/dbs/sums/bulk.json", { op: "delete", all: true });
  await eventually(async () => (await app.get("/core/dbs/sums/trash.json?limit=200")).json.length === 121);
  await page.reload();
  await page.getByRole("button", { name: "Restore all" }).click();
  await page.getByRole("status").getByText("121 records are back").waitFor();
  await page.getByText("Nothing is in the bin").waitFor();
  expect(session.faults).toEqual([]);
});

test("many records are changed at once only after their number was typed", async () => {
  await database(
    "bulk",
    Array.from({ length: 25 }, (_, at) => ({ name: `N${at}`, age: at })),
  );
  await using session = await opened("/studio/core/dbs/bulk/records");
  const { page } = session;
  await cell(page, "N24").waitFor();
  await page.getByLabel("Choose all loaded records").check();
  await page.getByRole("button", { name: "Change a field" }).click();
  const dialog = page.getByRole("dialog", { name: "Change a field" });
  await dialog.getByLabel("Field").selectOption("city");
  await dialog.getByLabel("Value").fill("Łódź");
  expect(await dialog.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
  await dialog.getByLabel("Number of records").fill("25");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("status").getByText("Records changed: 25").waitFor();
  expect(await found("bulk", "?filter[city]=Łódź&limit=100")).toHaveLength(25);
  await page.getByRole("button", { name: "Undo" }).click();
  await eventually(async () => (await found("bulk", "?filter[city]=Łódź&limit=100")).length === 0);
});

test("a rectangle goes to a spreadsheet and comes back, with new records below the last", async () => {
  await database("sheet", [
    { name: "Bob", city: "Wien", age: 2 },
    { name: "Ann", city: "Łódź", age: 1 },
  ]);
  await using session = await opened("/studio/core/dbs/sheet/records?sort=name");
  const { page } = session;
  await cell(page, "Ann").click();
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Shift+ArrowDown");
  const copied = await grid(page).evaluate((element) => {
    const data = new DataTransfer();
    element.dispatchEvent(new ClipboardEvent("copy", { clipboardData: data, bubbles: true, cancelable: true }));
    return data.getData("text/plain");
  });
  expect(copied).toBe("Ann\tŁódź\r\nBob\tWien");
  const paste = (text: string) =>
    grid(page).evaluate((element, pasted) => {
      const data = new DataTransfer();
      data.setData("text/plain", pasted);
      element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    }, text);
  await cell(page, "Ann").click();
  await paste("Anna\tKraków\tyoung");
  await page.getByRole("alert").getByText("This is not a number").waitFor();
  expect(await found("sheet", "?filter[name]=Ann")).toHaveLength(1);
  await paste("Anna\tKraków\t11\nBobby\tBerlin\t12\nCyd\tBrno\t13\n");
  await cell(page, "Cyd").waitFor();
  const rows = await found("sheet", "?sort=name");
  expect(rows.map((row: { name: string; city: string; age: number }) => [row.name, row.city, row.age])).toEqual([
    ["Anna", "Kraków", 11],
    ["Bobby", "Berlin", 12],
    ["Cyd", "Brno", 13],
  ]);
  await page.getByRole("button", { name: "Undo" }).click();
  await eventually(async () => {
    const names = (await found("sheet", "?sort=name")).map((row: { name: string }) => row.name);
    return JSON.stringify(names) === '["Ann","Bob"]';
  });
});

test("what others change is seen where it is, and new records wait", async () => {
  await database("live", [{ name: "Bob" }, { name: "Ann", city: "Łódź" }]);
  await using session = await opened("/studio/core/dbs/live/records");
  const { page } = session;
  await cell(page, "Ann").waitFor();
  // The first rows are asked for once, in one request with the table, before the page itself asks for anything.
  const asked = await page.evaluate(() =>
    performance.getEntriesByType("resource").map(({ name }) => name.slice(location.origin.length)),
  );
  const ofPage = asked.filter((address) => /^\/core\/dbs\/live|^\/studio\/-\/answers/.test(address));
  const together = new URLSearchParams(ofPage[0]?.split("?")[1]).getAll("path");
  const first = ["/core/dbs/live.json", "/core/dbs/live/records.json?limit=50"];
  expect(together).toEqual(expect.arrayContaining(first));
  expect(
    ofPage.slice(1).filter((address) => /\/(?:answers|live|records)\.json(?:\?limit=|\?path=|$)/.test(address)),
  ).toEqual([]);
  const [ann, bob] = (await app.get("/core/dbs/live/records.json")).json;
  // The stream opens a moment after the rows: changes go on until it tells of one.
  let times = 0;
  await eventually(async () => {
    await app.patch(`/core/dbs/live/records/${ann.id}.json`, { record: { data: { city: `Wien ${++times}` } } });
    return (await grid(page).getByText("changed by somebody else").count()) > 0;
  });
  await app.post("/core/dbs/live/records.json", { record: { data: { name: "Cyd" } } });
  await page.getByText("New records: 1.").waitFor();
  await app.delete(`/core/dbs/live/records/${bob.id}.json`);
  await grid(page).getByText("deleted by somebody else").waitFor();
  expect(await grid(page).locator("[aria-rowindex='2']").textContent()).toContain("Ann");
  expect(await cell(page, "Cyd").count()).toBe(0);
  await page.getByRole("button", { name: "Show them" }).click();
  await cell(page, "Cyd").waitFor();
  await cell(page, "Bob").waitFor({ state: "detached" });
});

test("a record is opened by its address and changed as JSON; hostile and long values are texts", async () => {
  const hostile = "<img src=x onerror=window.hit=1>\u202egnp.exe";
  await database("json", [{ name: hostile, note: "x".repeat(900_000), extra: { deep: [1] } }]);
  const [{ id }] = await found("json");
  await using session = await opened(`/studio/core/dbs/json/records?open=${id}`);
  const { page } = session;
  const panel = page.getByRole("complementary");
  await panel.getByText("900,000 characters").waitFor();
  expect((await grid(page).textContent())?.length).toBeLessThan(3000);
  expect(await page.evaluate(() => "hit" in window)).toBe(false);
  await app.patch(`/core/dbs/json/records/${id}.json`, { record: { data: { note: "short" } } });
  await page.reload();
  await panel.getByText("For developers").click();
  await panel.getByRole("button", { name: "Edit as JSON" }).click();
  await panel.getByRole("textbox", { name: "JSON" }).fill('{"name": "Tame", "extra": {"deep": [2]}');
  await panel.getByRole("button", { name: "Save" }).click();
  await panel.getByRole("alert").getByText("not a JSON object").waitFor();
  await panel.getByRole("textbox", { name: "JSON" }).fill('{"name": "Tame", "extra": {"deep": [2]}}');
  await panel.getByRole("button", { name: "Save" }).click();
  await page.getByRole("complementary", { name: "Tame" }).getByRole("button", { name: "Name Tame" }).waitFor();
  await cell(page, "Tame").waitFor();
  expect((await app.get(`/core/dbs/json/records/${id}.json`)).json.data).toEqual({
    name: "Tame",
    note: null,
    extra: { deep: [2] },
  });
});

test("two people who change one field both know: in the cell, and in the whole record; what was typed is offered again", async () => {
  await database("shared", [{ name: "Ann", city: "Gdańsk", age: 1 }]);
  const id = (await found("shared"))[0].id;
  const elsewhere = (data: object) => app.patch(`/core/dbs/shared/records/${id}.json`, { record: { data } });
  const stored = async () => (await app.get(`/core/dbs/shared/records/${id}.json`)).json.data;
  await using session = await opened("/studio/core/dbs/shared/records");
  const { page, faults } = session;

  // In the cell: the first save says what stands there now, the second one replaces it.
  await cell(page, "Gdańsk").dblclick();
  await page.getByRole("textbox", { name: "City" }).fill("Sopot");
  await elsewhere({ city: "Hel" });
  await page.keyboard.press("Enter");
  await grid(page).getByRole("alert").getByText("Hel").waitFor();
  expect(await stored()).toMatchObject({ city: "Hel" });
  await page.getByRole("textbox", { name: "City" }).press("Enter");
  await eventually(async () => (await stored()).city === "Sopot");

  // In the record: other fields are merged, the same one is chosen.
  await page.goto(`${app.origin}/studio/core/dbs/shared/records?open=${id}`);
  const panel = page.getByRole("complementary", { name: "Ann" });
  await panel.getByRole("button", { name: "City Sopot" }).click();
  await panel.getByRole("textbox", { name: "City" }).fill("Puck");
  await elsewhere({ city: "Reda", age: 2 });
  await panel.getByRole("button", { name: "Save" }).click();
  const conflict = page.getByRole("dialog", { name: "Somebody else has changed this" });
  await conflict.getByText("Reda").waitFor();
  expect(await stored()).toMatchObject({ city: "Reda", age: 2 });
  await conflict.getByRole("radio", { name: /Keep mine/ }).check();
  await conflict.getByRole("button", { name: "Apply" }).click();
  await panel.getByRole("button", { name: "Age 2" }).waitFor();
  await panel.getByRole("button", { name: "City Puck" }).waitFor();
  expect(await stored()).toMatchObject({ city: "Puck", age: 2 });

  // What nobody else has touched needs no choice: both are kept.
  await panel.getByRole("button", { name: "City Puck" }).click();
  await panel.getByRole("textbox", { name: "City" }).fill("Jastarnia");
  await elsewhere({ age: 3 });
  await panel.getByRole("textbox", { name: "City" }).press("Enter");
  await panel.getByRole("button", { name: "City Jastarnia" }).waitFor();
  await panel.getByRole("button", { name: "Age 3" }).waitFor();
  expect(await stored()).toMatchObject({ city: "Jastarnia", age: 3 });
  await page.getByRole("button", { name: "Undo" }).last().click();
  await panel.getByRole("button", { name: "City Puck" }).waitFor();
  expect(await stored()).toMatchObject({ city: "Puck", age: 3 });

  // A field that was left, even by a closed tab.
  await page.goto(`${app.origin}/studio/core/dbs/shared/records?open=${id}`);
  await panel.getByRole("button", { name: /more field/ }).click();
  await panel.getByRole("button", { name: "Note" }).click();
  await panel.getByRole("textbox", { name: "Note" }).fill("half a sen");
  await page.goto(`${app.origin}/studio/core/dbs/shared/records?open=${id}`);
  await panel.getByRole("button", { name: "Restore" }).click();
  expect(await panel.getByRole("textbox", { name: "Note" }).inputValue()).toBe("half a sen");
  await panel.getByRole("button", { name: "Save" }).click();
  await eventually(async () => (await stored()).note === "half a sen");
  expect(faults.filter((fault) => !fault.includes("412"))).toEqual([]);
});

test("a phone shows records as cards, tables in German, and nothing scrolls sideways", async () => {
  const schema = {
    tables: { orders: { fields: { no: "string" } }, lines: { fields: { sku: "string", note: "string" } } },
  };
  await database("shop", [], schema);
  await app.post("/core/dbs/shop/records.json", { record: { table_name: "lines", data: { sku: "Y".repeat(300) } } });
  const options = { viewport: { width: 360, height: 700 }, colorScheme: "dark", locale: "de-DE" } as const;
  await using session = await opened("/studio", { ...options, locale: "en-US" });
  const { page } = session;
  await page.evaluate(() => localStorage.setItem("corestead.language", "de"));
  await page.goto(`${app.origin}/studio/core/dbs/shop/records`);
  await page.getByText("Hier gibt es noch keine Einträge.").waitFor();
  await page.getByLabel("Tabelle", { exact: true }).selectOption("lines");
  const label = (name: string) => page.getByRole("grid").locator(`[role="gridcell"][data-label="${name}"]`).first();
  await label("Sku").waitFor();
  // What is empty is nothing.
  expect(await label("Note").isVisible()).toBe(false);
  await page.getByRole("grid").getByText("YYYY").click();
  await page.getByRole("complementary").waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  expect(session.faults).toEqual([]);
});

test("public methods are opened with their options, and tried without credentials", async () => {
  await database("guestbook", [{ name: "Ann", city: "Łódź" }]);
  await using session = await opened("/studio/core/dbs/guestbook/public");
  const { page } = session;
  const create = page.getByRole("group", { name: "create" });
  await create.getByRole("checkbox").check();
  await create.getByLabel("Allowed fields").fill("name, city");
  await create.getByLabel("Auto fields").fill("visitor = {nobody}");
  await page.getByRole("group", { name: "update" }).getByRole("checkbox").check();
  await page.getByRole("note").getByText("Every visitor can do this").waitFor();
  await page.getByRole("group", { name: "update" }).getByRole("checkbox").uncheck();
  await page.getByRole("button", { name: "Save" }).click();
  await create.getByRole("alert").getByText("{nobody} is not a variable").waitFor();
  await create.getByLabel("Auto fields").fill("visitor = {cookie_key}");
  const list = page.getByRole("group", { name: "list" });
  await list.getByRole("checkbox").check();
  await list.getByLabel("Scope by").fill("visitor");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("status").getByText("Saved").waitFor();
  expect((await app.get("/core/dbs/guestbook.json")).json.public_methods).toEqual({
    list: { scope_by: "visitor" },
    create: { allowed_fields: ["name", "city"], auto_fields: { visitor: "{cookie_key}" } },
  });
  await create.getByText("The call").click();
  expect(await create.locator("pre").first().textContent()).not.toContain("Authorization");
  const sent = { data: { name: "Bob", age: 7 } };
  expect((await app.post("/core/db/guestbook/create", sent, { token: null })).status).toBe(201);
  const [bob] = await found("guestbook", "?filter[name]=Bob");
  expect(bob).toMatchObject({ name: "Bob", visitor: expect.any(String) });
  expect(bob.age).toBeUndefined();
  expect(session.faults.filter((fault) => !fault.includes("422"))).toEqual([]);
});

test("a dialog waits for its style", async () => {
  await database("styled", [{ name: "Ann" }]);
  await using session = await opened("/studio");
  const { page } = session;
  const held: (() => void)[] = [];
  await page.route("**/pages-*.css", async (route) => {
    if (held.push(() => void route.fallback()) === 1) await route.fallback();
  });
  await page.evaluate(() => history.pushState(null, "", "/studio/core/dbs/styled"));
  await page.evaluate(() => dispatchEvent(new PopStateEvent("popstate")));
  await cell(page, "Ann").waitFor();
  await eventually(() => held.length === 2);
  await page.keyboard.press("?");
  const dialog = page.locator("dialog", { hasText: "All keys" });
  await dialog.waitFor({ state: "attached" });
  expect(await dialog.isVisible()).toBe(false);
  held[1]?.();
  await dialog.waitFor();
});

test("groups are drawn as bars that lead to their records, and a view is kept for the person", async () => {
  await database("charts", [
    { name: "A", city: "Łódź", age: 10 },
    { name: "B", city: "Łódź", age: 20 },
    { name: "C", age: 5 },
  ]);
  await using session = await opened("/studio/core/dbs/charts/charts?by=city");
  const { page } = session;
  await page.getByRole("row", { name: "Łódź 2" }).waitFor();
  await page.getByLabel("Show").selectOption("sum");
  await page.getByRole("combobox", { name: "of", exact: true }).selectOption("age");
  await page.getByRole("row", { name: "Łódź 30" }).waitFor();
  await page.getByRole("row", { name: "(empty) 5" }).waitFor();
  await page.getByRole("link", { name: "Łódź" }).click();
  await page.getByText("Records: 2").waitFor();

  await page.getByRole("button", { name: "New view" }).click();
  await page.getByLabel("Name of this view").fill("From Łódź");
  await page.keyboard.press("Enter");
  const tabs = page.getByRole("navigation", { name: "Views" });
  await tabs.getByRole("link", { name: "From Łódź" }).waitFor();
  await tabs.getByRole("link", { name: "All records" }).click();
  await page.getByText("Records: 3").waitFor();
  await tabs.getByRole("link", { name: "From Łódź" }).click();
  await page.getByText("Records: 2").waitFor();
  const views = async () => (await app.get("/core/dbs/charts/views.json")).json;
  expect(await views()).toMatchObject([{ name: "From Łódź", filters: { city: "Łódź" }, shared: false }]);
  // What is changed is one's own until it is saved.
  await page.goto(`${page.url()}&sort=-age`);
  await page.getByText("Only you see this.").waitFor();
  await page.getByRole("button", { name: "Save view" }).click();
  await page.getByText("Only you see this.").waitFor({ state: "detached" });
  expect(await views()).toMatchObject([{ sort: ["-age"] }]);
  await page.getByRole("button", { name: "Delete the view From Łódź" }).click();
  await tabs.getByRole("link", { name: "From Łódź" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await tabs.getByRole("link", { name: "From Łódź" }).waitFor();
  expect(session.faults).toEqual([]);

  // What one has chosen of the table's own chart is there again, in another tab too.
  const again = await page.context().newPage();
  await again.goto(`${app.origin}/studio/core/dbs/charts/charts`);
  await again.getByRole("row", { name: "Łódź 30" }).waitFor();
  await again.getByText("Only you see this.").waitFor();
  await again.getByRole("button", { name: "Reset" }).click();
  await again.getByText("Only you see this.").waitFor({ state: "detached" });
  await again.reload();
  await again.getByRole("figure").waitFor();
  expect(await again.getByText("Only you see this.").count()).toBe(0);
});

test("filters that any one of holds are counted while one types, and a view keeps them", async () => {
  const rows = [
    { city: "Łódź", age: 1 },
    { city: "Opole", age: 50 },
    { city: "Opole", age: 2 },
  ];
  await database(
    "any",
    rows.map((row, at) => ({ name: `N${at}`, ...row })),
  );
  await using session = await opened("/studio/core/dbs/any/records?filter[city]=Łódź&filter[age][gt]=40");
  const { page } = session;
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  const popup = page.getByRole("group", { name: "Filter", exact: true });
  await popup.getByText("0 records").waitFor();
  await popup.getByLabel("Show records where").selectOption("any of these");
  await popup.getByText("2 records").waitFor();
  await popup.getByRole("button", { name: "Apply" }).click();
  await page.waitForURL(/any%5B1%5D/);
  await page.getByText("Records: 2").waitFor();
  await page.getByRole("button", { name: "New view" }).click();
  await page.getByLabel("Name of this view").fill("Either");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Either" }).waitFor();
  expect((await app.get("/core/dbs/any/views.json")).json).toMatchObject([
    { filters: { any: [{ city: "Łódź" }, { age: { gt: "40" } }] } },
  ]);
  await page.getByRole("link", { name: "All records" }).click();
  await page.getByText("Records: 3").waitFor();
  await page.getByRole("link", { name: "Either" }).click();
  await page.getByText("Records: 2").waitFor();
  expect(session.faults).toEqual([]);
});

test("days are filtered by words for them, which a view keeps as they are", async () => {
  await database("bills", [], { fields: { name: "string", due: "date" } });
  const day = (by: number) => Temporal.Now.plainDateISO("UTC").add({ days: by }).toString();
  const rows = { late: day(-3), soon: day(5), old: "2020-02-29" };
  for (const [name, due] of Object.entries(rows))
    await app.post("/core/dbs/bills/records.json", { record: { data: { name, due } } });
  await using session = await opened("/studio/core/dbs/bills/records");
  const { page } = session;
  await cell(page, "soon").waitFor();
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("button", { name: "Add filter" }).click();
  await page.getByLabel("Field", { exact: true }).selectOption("due");
  await page.getByLabel("Which days").selectOption({ label: "overdue (before today)" });
  await page.getByText("2 records", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Apply" }).click();
  await cell(page, "soon").waitFor({ state: "detached" });
  await page.getByText("Due is before today").waitFor();
  await page.getByRole("button", { name: "New view" }).click();
  await page.getByLabel("Name of this view").fill("Overdue");
  await page.getByRole("button", { name: "Create the view" }).click();
  await page.getByRole("link", { name: "Overdue" }).waitFor();
  expect((await app.get("/core/dbs/bills/views.json")).json[0].filters).toEqual({ due: { lt: "{today}" } });

  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByLabel("Which days").selectOption({ label: "in the next 7 days" });
  await page.getByLabel("Condition").selectOption({ label: "is" });
  await page.getByRole("button", { name: "Apply" }).click();
  await cell(page, "late").waitFor({ state: "detached" });
  await cell(page, "soon").waitFor();
  await page.getByText("Due is in the next 7 days").waitFor();
  // A day of one's own is typed as people write it.
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByLabel("Which days").selectOption({ label: "a day …" });
  await page.getByLabel("Value").fill("2/29/2020");
  await page.getByRole("button", { name: "Apply" }).click();
  await cell(page, "old").waitFor();
  expect(new URL(page.url()).searchParams.get("filter[due]")).toBe("2020-02-29");
  expect(session.faults).toEqual([]);
});

test("records stand in groups that keys open and close, and a view keeps them", async () => {
  const status = { type: "string", choices: ["new", { value: "done", label: "Done", color: "green" }] };
  const rows = Array.from({ length: 120 }, (_, at) => ({
    name: `N${at}`,
    status: at === 0 ? null : at < 4 ? "new" : "done",
  }));
  await database("grouped", rows, { fields: { name: "string", status }, indexed_fields: ["status", "name"] });
  await using session = await opened("/studio/core/dbs/grouped/records?sort=name");
  const { page } = session;
  await page.getByRole("button", { name: "Group", exact: true }).click();
  await page.getByRole("group", { name: "Group", exact: true }).getByRole("button", { name: "Status" }).click();
  await page.waitForURL(/group=status/);
  const head = (name: string) => grid(page).getByRole("button", { name, exact: true });
  await cell(page, "N1").waitFor();
  expect(await grid(page).getAttribute("aria-rowcount")).toBe("124");
  // Its records are read when somebody comes to them, and in the same order.
  await cell(page, "N1").click();
  await page.keyboard.press("ArrowUp");
  await page.locator("button:focus", { hasText: "new" }).waitFor();
  expect(await head("new 3").getAttribute("aria-expanded")).toBe("true");
  await page.keyboard.press("Enter");
  await cell(page, "N1").waitFor({ state: "detached" });
  expect(await head("new 3").getAttribute("aria-expanded")).toBe("false");
  await page.keyboard.press("Control+End");
  await cell(page, "N0").waitFor();
  await page.keyboard.press("ArrowUp");
  await page.locator("button:focus", { hasText: "(empty) 1" }).waitFor();
  await page.keyboard.press("ArrowUp");
  await cell(page, "N99").waitFor();
  await cell(page, "N99").press("Space");
  const panel = page.getByRole("complementary", { name: "N99" });
  await panel.getByText("116 of 116").waitFor();
  await panel.getByRole("button", { name: "Previous record" }).click();
  await page.getByRole("complementary", { name: "N98" }).getByText("115 of 116").waitFor();
  await page.keyboard.press("Escape");
  await page.getByText("Records: 120").waitFor();

  await page.getByRole("button", { name: "New view" }).click();
  await page.getByLabel("Name of this view").fill("By status");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "By status" }).waitFor();
  expect((await app.get("/core/dbs/grouped/views.json")).json).toMatchObject([{ kind: "table", group_by: "status" }]);
  await page.getByRole("link", { name: "All records" }).click();
  await head("new 3").waitFor({ state: "detached" });
  await page.getByRole("link", { name: "By status" }).click();
  await head("Done 116").waitFor();
  // Cards of a phone have lower heads.
  await page.setViewportSize({ width: 360, height: 740 });
  await grid(page).getByText("N1", { exact: true }).waitFor();
  const box = await head("new 3").boundingBox();
  expect(Math.round(box?.height ?? 0)).toBeLessThan(60);
  expect(session.faults).toEqual([]);
});

test("views that the Studio once kept among the preferences are views of the table", async () => {
  await database("moved", [{ name: "A", age: 1 }]);
  const { id } = (await app.get("/core/dbs/moved.json")).json;
  const kept = [{ name: "Old", query: "filter%5Bage%5D%5Bgte%5D=1&sort=-age" }];
  await app.patch("/account/me/preferences.json", { preferences: { [`studio.records.${id}`]: kept } });
  await using session = await opened("/studio/core/dbs/moved");
  await session.page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Old" }).waitFor();
  expect((await app.get("/core/dbs/moved/views.json")).json).toMatchObject([
    { name: "Old", filters: { age: { gte: "1" } }, sort: ["-age"], kind: "table" },
  ]);
  await eventually(async () => JSON.stringify((await app.get("/account/me/preferences.json")).json) === "{}");
});

test("more views than fit are behind their number, and the one that is open is in sight, on a phone too", async () => {
  await database("viewed", [{ name: "A" }]);
  for (let at = 1; at <= 9; at++)
    await app.post("/core/dbs/viewed/views.json", { view: { name: `View with a long name ${at}`, kind: "table" } });
  await using session = await opened("/studio/core/dbs/viewed/records");
  const { page } = session;
  const tabs = page.getByRole("navigation", { name: "Views" });
  const isInSight = async (name: string) => {
    const [tab, all] = await Promise.all([tabs.getByRole("link", { name }).boundingBox(), tabs.boundingBox()]);
    return tab !== null && all !== null && tab.x >= all.x - 1 && tab.x + tab.width <= all.x + all.width + 1;
  };
  const name = "View with a long name 9";
  await tabs.getByRole("link", { name }).waitFor({ state: "attached" });
  expect(await isInSight(name)).toBe(false);
  await page.getByRole("button", { name: "More views" }).click();
  await page.getByRole("group", { name: "More views" }).getByRole("link", { name }).click();
  await page.waitForURL(/view=/);
  await eventually(async () => isInSight(name));
  await page.setViewportSize({ width: 360, height: 740 });
  await page.reload();
  await tabs.getByRole("link", { name }).waitFor();
  await eventually(async () => isInSight(name));
  await page.getByRole("button", { name: "More views" }).click();
  await page.getByRole("group", { name: "More views" }).getByRole("link", { name: "All records" }).click();
  await eventually(async () => isInSight("All records"));
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  expect(session.faults).toEqual([]);
});

test("a board moves cards between lanes by a menu and by dragging, a calendar shows days, a gallery cards", async () => {
  const fields = { name: "string", due: "date", status: { type: "string", choices: ["new", "done"] } };
  const due = "2026-03-05";
  await database(
    "lanes",
    [{ name: "Ann", status: "new", due }, { name: "Bob", status: "done", due }, { name: "Cyd" }],
    {
      fields,
    },
  );
  await using session = await opened("/studio/core/dbs/lanes");
  const { page } = session;
  const make = async (name: string, kind: string) => {
    await page.getByRole("button", { name: "New view" }).click();
    await page.getByLabel("Name of this view").fill(name);
    await page.getByLabel("Looks like").selectOption(kind);
    await page.getByRole("button", { name: "Create the view" }).click();
    await page.locator("nav a[aria-current]").getByText(name, { exact: true }).waitFor();
  };
  const status = async (name: string) => (await found("lanes", `?filter[name]=${name}`))[0].status;
  await make("By status", "board");
  const lane = (name: string) => page.getByRole("region", { name, exact: true });
  await lane("new").getByRole("listitem").filter({ hasText: "Ann" }).getByRole("button", { name: "Move to …" }).click();
  await page.getByRole("button", { name: "Move to done" }).click();
  await lane("done").getByRole("button", { name: "Ann" }).waitFor();
  expect(await status("Ann")).toBe("done");
  await page.getByRole("button", { name: "Undo" }).click();
  await eventually(async () => (await status("Ann")) === "new");
  await lane("(empty)").getByRole("listitem").dragTo(lane("done"));
  await eventually(async () => (await status("Cyd")) === "done");
  // A card that the view's filter does not have any more says so, and the count is of the others.
  const whole = page.url();
  await page.goto(`${whole}&filter[status]=done`);
  await page.getByText("Records: 2").waitFor();
  await lane("done")
    .getByRole("listitem")
    .filter({ hasText: "Cyd" })
    .getByRole("button", { name: "Move to …" })
    .click();
  await page.getByRole("button", { name: "Move to new" }).click();
  await page.getByText("It is no longer in this view.").waitFor();
  await page.getByText("Records: 1").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await eventually(async () => (await status("Cyd")) === "done");
  await page.goto(whole);

  await make("When", "calendar");
  await page.goto(`${page.url()}&month=2026-03`);
  await page.getByRole("heading", { name: "March 2026" }).waitFor();
  await page.getByRole("listitem").filter({ hasText: "Ann" }).getByText("5", { exact: true }).waitFor();
  await make("Cards", "gallery");
  await page.getByRole("button", { name: "Cyd" }).click();
  await page.getByRole("complementary").waitFor();
  expect(session.faults).toEqual([]);
});

test("a filter takes choices by boxes; a chart and a form are views that keep what they show", async () => {
  const status = { type: "string", choices: ["new", "late, slow", { value: "done", label: "Done" }] };
  const total = { type: "number", format: "money", currency: "EUR" };
  const rows = [
    { no: "A", status: "new", total: 10 },
    { no: "B", status: "late, slow", total: 20.5 },
    { no: "C", status: "done", total: 40, due: "2026-02-28" },
  ];
  await database("kinds", rows, { fields: { no: { type: "string", required: true }, status, total, due: "date" } });
  await using session = await opened("/studio/core/dbs/kinds");
  const { page } = session;
  await cell(page, "A").waitFor();
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("button", { name: "Add filter" }).click();
  await page.getByLabel("Field", { exact: true }).selectOption("status");
  await page.getByLabel("Condition").selectOption("in");
  for (const name of ["late, slow", "Done"]) await page.getByRole("checkbox", { name, exact: true }).check();
  await page.getByText("2 records").waitFor();
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByText("is one of late, slow, Done").waitFor();
  await cell(page, "A").waitFor({ state: "detached" });

  const view = async (name: string, kind: string) => {
    await page.getByRole("button", { name: "New view" }).click();
    await page.getByLabel("Name of this view").fill(name);
    await page.getByLabel("Looks like").selectOption(kind);
    await page.getByRole("button", { name: "Create the view" }).click();
    await page.locator("nav a[aria-current]").getByText(name, { exact: true }).waitFor();
  };
  await page.getByRole("button", { name: "Fields, import, export and more" }).click();
  await page.getByRole("link", { name: "Charts", exact: true }).click();
  await page.getByRole("row", { name: "late, slow 1" }).waitFor();
  expect(await page.getByRole("row", { name: "new" }).count()).toBe(0);
  await view("Worth", "chart");
  await page.getByLabel("Show").selectOption("sum");
  await page.getByRole("row", { name: "late, slow €20.50" }).waitFor();
  // What is not saved yet is there again when one comes back.
  const tabs = page.getByRole("navigation", { name: "Views" });
  await tabs.getByRole("link", { name: "All records" }).click();
  await cell(page, "A").waitFor();
  await page.reload();
  await tabs.getByRole("link", { name: "Worth" }).click();
  await page.getByRole("row", { name: "late, slow €20.50" }).waitFor();
  await page.getByText("Only you see this.").waitFor();
  await page.getByRole("button", { name: "Reset" }).click();
  await page.getByRole("row", { name: "late, slow 1" }).waitFor();
  await page.getByLabel("Show").selectOption("sum");
  await page.getByRole("row", { name: "late, slow €20.50" }).waitFor();
  await page.getByRole("button", { name: "Save view" }).click();
  await page.getByText("Only you see this.").waitFor({ state: "detached" });
  const [kept] = (await app.get("/core/dbs/kinds/views.json")).json;
  expect(kept).toMatchObject({ kind: "chart", group_by: "status", measure: "sum", unit: "month" });
  expect(kept.filters).toEqual({ status: { in: ["late, slow", "done"] } });
  await page.getByLabel("By").first().selectOption("due");
  await page.getByRole("row", { name: "Feb 2026 €40.00" }).waitFor();
  await page.getByRole("link", { name: "Feb 2026" }).click();
  await page.getByText("Records: 1").waitFor();

  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "All records" }).click();
  await cell(page, "A").waitFor();
  await view("Ask", "form");
  const name = page.getByRole("textbox", { name: "No", exact: true });
  await page.getByRole("heading", { name: "Ask" }).waitFor();
  await name.fill("D");
  await page.getByRole("button", { name: "Add record" }).click();
  await eventually(async () => (await found("kinds", "?q=D&search_in=no")).length === 1);
  await eventually(async () => (await name.inputValue()) === "");

  // What a deleted field leaves is said first; it comes back to its place.
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "All records" }).click();
  await grid(page).getByRole("columnheader", { name: "Status" }).getByRole("button").click();
  await page.getByRole("button", { name: "Delete field" }).click();
  await page.getByRole("dialog").getByText("3 records keep what they have in it").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Yes" }).click();
  await grid(page).getByRole("columnheader", { name: "Status" }).waitFor({ state: "detached" });
  const gone = (await app.get("/core/dbs/kinds/deleted_fields.json")).json;
  expect(gone).toMatchObject([{ name: "status", position: 1, records: 3 }]);
  await page.goto(`${app.origin}/studio/core/dbs/kinds/schema`);
  await page.getByText(/^Deleted fields/).click();
  await page.getByRole("button", { name: "Bring back: Status" }).click();
  await page.getByText("The field Status is back.").waitFor();
  const { fields } = (await app.get("/core/dbs/kinds.json")).json.schema;
  expect(Object.keys(fields)).toEqual(["no", "status", "total", "due"]);
  expect(session.faults).toEqual([]);
});
