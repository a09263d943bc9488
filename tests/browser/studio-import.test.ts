/** Files of people in the Studio: imported in place, mended where they stand, and exported as one sees them. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { adminToken, eventually } from "../harness.ts";
import { rowsXml, workbook } from "../fixtures/workbook.ts";
import { hasFocus, Keyboard } from "./keyboard.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
beforeAll(async () => {
  studio = await startStudio();
});
afterAll(() => studio.stop());

const people = {
  fields: { name: { type: "string", required: true }, city: "string", age: "integer" },
  indexed_fields: ["name", "age"],
};
async function database(code: string, schema: object = people, rows: readonly object[] = []) {
  const { app } = studio;
  expect((await app.post("/core/dbs.json", { db: { name: code, code, schema } })).status).toBe(201);
  if (rows.length === 0) return;
  const operations = rows.map((data) => ({ op: "create", data }));
  expect((await app.post(`/core/dbs/${code}/batch.json`, { operations })).status).toBe(200);
}
const records = async (code: string, query = "") =>
  (await studio.app.get(`/core/dbs/${code}/search.json?limit=100&${query}`)).json;
const opened = (at: string) => studio.signedIn({ at });

test("a German file is imported by keyboard alone: three bad cells are mended where they stand, and what one sees is exported", async () => {
  const { app } = studio;
  await database("customers", { fields: { name: "string" }, title_field: "name" }, [{ name: "Café Specimen" }]);
  await database("orders", {
    fields: {
      number: { type: "string", required: true, label: "Order" },
      customer: { type: "string", link: "customers", label: "Customer" },
      total: { type: "number", format: "money", currency: "EUR", label: "Total" },
      due: { type: "date", label: "Due" },
    },
  });
  await using session = await opened("/studio/core/dbs/orders/import");
  const { page } = session;
  const keys = new Keyboard(page);
  const lines = [
    "Order;Customer;Betrag;Lieferung;Bemerkung",
    "O-1;Café Specimen;1.284,50;28.11.2026;<script>window.hit=1</script>",
    "O-2;Café Specimen;12,00;31.11.2026;",
    "O-3;Nobody;2.310,00;02.12.2026;",
    "O-4;Café Specimen;auf Anfrage;02.12.2026;Frühstück",
  ];
  const begun = page.waitForEvent("filechooser");
  await keys.enter("button", "Choose a file");
  const buffer = Buffer.from(lines.join("\r\n"), "latin1");
  await (await begun).setFiles({ name: "Bestellungen.csv", mimeType: "text/csv", buffer });
  await page.getByText("5 columns · CSV, WINDOWS-1252").waitFor();
  const goesTo = (column: string) => page.getByLabel(`${column} goes to`);
  // A link was found by the title of its records; a column that has no field is offered as a new one.
  await eventually(async () => (await goesTo("Customer").inputValue()) === "customer:name");
  expect([await goesTo("Order").inputValue(), await goesTo("Betrag").inputValue()]).toEqual(["number", "+"]);
  await keys.choose("Betrag goes to", "Total");
  await page.getByRole("button", { name: "Betrag is read as Money, 1.234,56" }).waitFor();
  await keys.choose("Lieferung goes to", "Due");
  await page.getByRole("button", { name: "Lieferung is read as Date, dd.mm.yyyy" }).waitFor();
  await keys.choose("Bemerkung goes to", "New field");
  await page.getByRole("button", { name: "Import 1 row", exact: true }).waitFor();
  await page.getByRole("cell", { name: "1,284.50" }).waitFor();
  await page.getByRole("cell", { name: "Nov 28, 2026" }).waitFor();

  // What was typed outlasts the page.
  await page.getByText("is a day that does not exist: day.month.year is expected").waitFor();
  await page.getByText("1 of 3").waitFor();
  await keys.fill("textbox", "Lieferung of row 3", "30.11.2026");
  await page.reload();
  await page.getByRole("button", { name: "Import 2 rows" }).waitFor();
  await page.getByText('no record of customers has the name "Nobody"').waitFor();
  await keys.fill("textbox", "Customer of row 4", "Somebody");
  await keys.press("Enter");
  await page.getByText('no record of customers has the name "Somebody"').waitFor();
  await keys.press("Control+a");
  await keys.type("Café Specimen");
  await keys.press("Enter");
  // The next mistake has the focus.
  await eventually(() => hasFocus(page.getByRole("textbox", { name: "Betrag of row 5" })));
  await keys.press("Control+a");
  await keys.type("99,90");
  await keys.press("Enter");
  await eventually(() => hasFocus(page.getByRole("button", { name: "Import 4 rows" })));
  await keys.press("Enter");
  await page.getByRole("heading", { name: "4 rows imported" }).waitFor();
  expect(await page.locator("dl").innerText()).toMatch(
    /Rows in the file\s+4\s+Imported\s+4\s+Of them mended\s+3\s+To mend\s+0/,
  );
  const [customer] = await records("customers");
  expect(await records("orders", "sort=number")).toMatchObject([
    {
      number: "O-1",
      customer: customer.id,
      total: 1284.5,
      due: "2026-11-28",
      bemerkung: "<script>window.hit=1</script>",
    },
    { number: "O-2", customer: customer.id, total: 12, due: "2026-11-30" },
    { number: "O-3", customer: customer.id, total: 2310 },
    { number: "O-4", customer: customer.id, total: 99.9, bemerkung: "Frühstück" },
  ]);
  expect(await page.evaluate(() => "hit" in window)).toBe(false);

  await page.goto(
    `${app.origin}/studio/core/dbs/orders/export?filter%5Btotal%5D%5Bgte%5D=1000&cols=due,customer&sort=-due`,
  );
  await page.getByText("2 records").waitFor();
  const download = page.waitForEvent("download");
  await keys.enter("link", "Download CSV");
  const text = await Bun.file((await (await download).path()) ?? "").text();
  expect(text).toBe("Due,Customer\r\n2026-12-02,Café Specimen\r\n2026-11-28,Café Specimen\r\n");
  expect(session.faults).toEqual([]);
});

test("all faulty rows of a workbook are mended by pages, and found again after the page was loaded anew", async () => {
  await database("rows");
  await using session = await opened("/studio/core/dbs/rows/import");
  const { page } = session;
  const cells = Array.from({ length: 70 }, (_, at) => (at < 60 ? ["", "Wien", `x${at}`] : [`N${at}`, "Wien", at]));
  const sheets = [
    { rows: rowsXml([["notes"], ["-"]]) },
    { name: "Guests", rows: rowsXml([["name", "city", "age"], ...cells]) },
  ];
  const buffer = Buffer.from(workbook({ sheets }));
  await page.locator("input[type=file]").setInputFiles({ name: "rows.xlsx", mimeType: "", buffer });
  await page.getByText("Change", { exact: true }).click();
  await page.getByRole("combobox", { name: "Sheet" }).selectOption("Guests");
  await page.getByRole("button", { name: "Import 10 rows" }).click();
  await page.getByRole("heading", { name: "60 rows to mend" }).waitFor();
  await page.getByText("1–50 of 60").waitFor();
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByLabel("Name of row 52").fill("Ann");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "As a spreadsheet" }).click();
  const csv = await Bun.file((await (await download).path()) ?? "").text();
  expect(csv.trim().split("\r\n")).toHaveLength(121);
  await page.reload();
  await page.getByRole("heading", { name: "60 rows to mend" }).waitFor();
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByLabel("Age of row 52").fill("51");
  await page.getByLabel("Age of row 52").press("Enter");
  await page.getByRole("heading", { name: "59 rows to mend" }).waitFor();
  expect(await page.getByLabel("Name of row 52").count()).toBe(0);
  expect(await records("rows", "filter[age]=51")).toMatchObject([{ name: "Ann", city: "Wien" }]);
  expect(session.faults).toEqual([]);

  // Another day, in another browser, it is undone together with what was mended.
  const { json: tasks } = await studio.app.get("/core/dbs/rows/tasks.json?kind=import");
  expect(tasks).toHaveLength(2);
  await using later = await opened(`/studio/core/dbs/rows/tasks/${tasks[1].id}`);
  await later.page.getByRole("button", { name: "Undo the import" }).click();
  const dialog = later.page.getByRole("dialog", { name: "Undo this import?" });
  await dialog.getByText("The 11 records that it made go to the bin").waitFor();
  await dialog.getByRole("button", { name: "Undo the import" }).click();
  await eventually(async () => (await records("rows")).length === 0);
});

test("one who leaves during an upload is asked, and goes on afterwards: the file is stored once", async () => {
  await database("cut");
  await using session = await opened("/studio/core/dbs/cut/import");
  const { page } = session;
  // Names of files are texts like others, however long.
  const name = `../../<img src=x onerror=window.hit=1>"'\u0001\u202egnp ${"n".repeat(300)}.csv`;
  const file = { name, mimeType: "text/csv", buffer: Buffer.from("name,age\r\nAnn,1\r\nBob,2") };
  await page.locator("input[type=file]").setInputFiles(file);
  const button = page.getByRole("button", { name: "Import 2 rows" });
  await button.waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(1280);
  // The upload waits: it goes on while another page is looked at, and one who reloads is asked.
  await page.route("**/import?partial*", () => {}, { times: 1 });
  await button.click();
  await page.getByRole("link", { name: "Inbox" }).click();
  await page.getByRole("heading", { level: 1, name: "Inbox" }).waitFor();
  await page.goBack();
  await page.getByRole("button", { name: "Stop" }).waitFor();
  const asked = page.waitForEvent("dialog");
  void page.evaluate(() => setTimeout(() => location.reload()));
  const dialog = await asked;
  expect(dialog.type()).toBe("beforeunload");
  await dialog.accept();
  await page.getByRole("alert").getByText("The last upload had no answer.").waitFor();
  // Now it arrives, but its answer is lost.
  await page.route(
    "**/import?partial*",
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
  await button.click();
  await page.getByRole("alert").getByText("The upload was broken off.").waitFor();
  expect(await records("cut")).toHaveLength(2);
  await page.reload();
  await button.click();
  await page.getByRole("heading", { name: "2 rows imported" }).waitFor();
  expect(await records("cut")).toHaveLength(2);
  expect(await page.evaluate(() => "hit" in window)).toBe(false);
  expect(session.faults.filter((fault) => !fault.includes("ERR_FAILED"))).toEqual([]);
});

test("an import that a program began is seen while it runs, and how it ended", async () => {
  await database("seen");
  const socket = connect(Number(new URL(studio.app.origin).port), "127.0.0.1");
  const head = `Host: localhost\r\nAuthorization: Bearer ${adminToken}\r\nContent-Type: text/csv\r\nContent-Length: 40000000`;
  socket.write(`POST /core/dbs/seen/import?partial=true HTTP/1.1\r\n${head}\r\n\r\nname,age\nAnn,1\n,2\n`);
  await using session = await opened("/studio/core/dbs/seen/import");
  const { page } = session;
  const panel = page.getByRole("region", { name: "Import" });
  await panel.getByText("2 so far").waitFor();
  await panel.getByText("Refused: 1.").waitFor();
  await panel.getByRole("link", { name: "Details" }).click();
  await page.getByRole("cell", { name: "is required" }).waitFor();
  socket.destroy();
  await page.getByRole("status").getByText("failed").waitFor();
  await page.getByRole("link", { name: "Mend these rows" }).click();
  await page.getByRole("heading", { name: "0 rows imported" }).waitFor();
  await page.getByText("Row 3").waitFor();
  await page.getByText("This browser does not have the file any more.").waitFor();
  expect(session.faults).toEqual([]);
});

test("pasted cells become a new table", async () => {
  await using session = await opened("/studio/core/dbs/new/import");
  const { page } = session;
  await page.getByText("Drop a spreadsheet here").waitFor();
  await page.evaluate((pasted) => {
    const data = new DataTransfer();
    data.setData("text/plain", pasted);
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, "Tee\tPreis\tNotiz\nAssam\t14,50 €\tx\nSencha\t9,90 €\ty\n");
  await page.getByRole("button", { name: "Preis is read as Money, 1234,56 EUR" }).waitFor();
  await page.getByLabel("Notiz goes to").selectOption("");
  await page.getByLabel("Name of the table").fill("Price list");
  await page.getByRole("button", { name: "Import 2 rows" }).click();
  await page.getByRole("heading", { level: 1, name: "Price list" }).waitFor();
  await page.getByRole("gridcell", { name: "Sencha", exact: true }).waitFor();
  expect(await records("price-list", "sort=preis")).toMatchObject([
    { tee: "Sencha", preis: 9.9 },
    { tee: "Assam", preis: 14.5 },
  ]);
  expect(session.faults).toEqual([]);
});

test("columns of a new table are of the kinds that one sees, and what was imported is taken back", async () => {
  await using session = await opened("/studio/core/dbs/new/import");
  const { page } = session;
  const states = ["offen", "bezahlt", "offen", "Bezahlt", "storniert", "offen", "bezahlt", "offen"];
  const lines = states.map((state, at) => `R-${at};1.0${at}4,50;0${at + 1}.12.2026;${state};0151 ${at}34567`);
  const csv = ["Nr;Betrag;Datum;Status;Handy", ...lines].join("\r\n");
  const input = page.locator("input[type=file]");
  const file = { name: "Rechnungen.csv", mimeType: "text/csv", buffer: Buffer.from(csv) };
  await input.setInputFiles(file);
  const kindOf = (column: string) => page.getByLabel(`Kind of ${column}`);
  await kindOf("Status").waitFor();
  const kinds = async () => Promise.all(["Betrag", "Datum", "Status", "Handy"].map((one) => kindOf(one).inputValue()));
  expect(await kinds()).toEqual(["number", "date", "choice", "phone"]);
  await page.getByText("3 different values").waitFor();
  await kindOf("Betrag").selectOption("money");
  await page.getByRole("button", { name: "Betrag is read as Money, 1.234,56 EUR" }).waitFor();
  await eventually(async () => (await kinds()).join() === "money,date,choice,phone");
  await page.getByRole("button", { name: "Import 8 rows" }).click();
  await page.getByRole("heading", { level: 1, name: "Rechnungen" }).waitFor();
  await page.getByRole("status").getByText("8 rows imported").waitFor();
  await page.getByRole("button", { name: "Undo" }).waitFor();
  await page.getByRole("navigation", { name: "Menu" }).getByRole("link", { name: "Rechnungen" }).waitFor();
  const { schema } = (await studio.app.get("/core/dbs/rechnungen.json")).json;
  expect(schema.fields).toMatchObject({
    betrag: { format: "money", currency: "EUR" },
    status: {
      choices: [{ value: "offen", color: "sky" }, { value: "bezahlt", color: "plum" }, { value: "storniert" }],
    },
    handy: { format: "phone" },
  });

  // The same into the table, and back.
  await page.goto(`${studio.app.origin}/studio/core/dbs/rechnungen/import`);
  await page.getByRole("heading", { level: 1, name: "Import into Rechnungen" }).waitFor();
  await input.setInputFiles(file);
  await page.getByRole("button", { name: "Import 8 rows" }).click();
  await page.getByRole("heading", { name: "8 rows imported" }).waitFor();
  expect(await records("rechnungen")).toHaveLength(16);
  await page.getByRole("button", { name: "Undo the import" }).click();
  const dialog = page.getByRole("dialog", { name: "Undo this import?" });
  await dialog.getByText("The 8 records that it made go to the bin").waitFor();
  await dialog.getByRole("button", { name: "Undo the import" }).click();
  await page.getByText("Undone: 8 records removed.").waitFor();
  await page.getByRole("heading", { name: "Undone", exact: true }).waitFor();
  expect(await page.getByText("8 rows imported").count()).toBe(0);
  expect(await records("rechnungen")).toHaveLength(8);
  await page.getByRole("link", { name: "See the bin" }).click();
  await page.getByRole("heading", { name: "Bin" }).waitFor();
  await page.goBack();
  await page.getByRole("button", { name: "Other file" }).click();
  await page.getByText("Drop a spreadsheet here").waitFor();
  expect(await page.getByText("Undo the import").count()).toBe(0);
  expect(session.faults).toEqual([]);
});

test("a column of a new table becomes a link where its values are known, and what is not waits to be mended", async () => {
  const firms = { fields: { name: "string" }, indexed_fields: ["name"] };
  await database("firms", firms, [{ name: "Acme" }, { name: "Birch" }, { name: "Cedar" }]);
  await using session = await opened("/studio/core/dbs/new/import");
  const { page } = session;
  const { login } = (await studio.app.get("/account/me.json")).json;
  const csv = `No,Firm,Who\n1,Acme,${login}\n2,Birch,\n3,Cedar,nobody\n4,Zeta,\n5,Acme,\n`;
  const file = { name: "Deals.csv", mimeType: "text/csv", buffer: Buffer.from(csv) };
  await page.locator("input[type=file]").setInputFiles(file);
  const kind = page.getByLabel("Kind of Firm");
  await page.getByRole("button", { name: "Link 3 of 4: Firms by Name" }).waitFor();
  expect(await kind.inputValue()).toBe("text");
  await page.getByRole("button", { name: "Link 3 of 4: Firms by Name" }).click();
  await page.getByLabel("Firm links to").waitFor();
  expect(await kind.inputValue()).toBe("link");
  // It is taken back as easily, and chosen by hand.
  await kind.selectOption("text");
  await page.getByLabel("Firm links to").waitFor({ state: "detached" });
  await kind.selectOption("link");
  await page.getByText("no record of firms has the name").waitFor();
  await page.getByLabel("Kind of Who").selectOption("person");
  await page.getByRole("button", { name: "Import 4 rows" }).click();

  // What became of it stands on a page of its own, and rows are put right there.
  await page.getByRole("heading", { name: "3 rows imported" }).waitFor();
  await page.getByRole("heading", { name: /2 rows/ }).waitFor();
  await page.getByLabel(/Firm.* row 5/).fill("Birch");
  await page.getByLabel(/Firm.* row 5/).press("Enter");
  await page.getByRole("heading", { name: "4 rows imported" }).waitFor();
  const stored = await records("deals", "sort=no&expand=firm");
  expect(
    stored.map(({ no, expand }: { no: number; expand: { firm: { name: string } } }) => [no, expand.firm.name]),
  ).toEqual([
    [1, "Acme"],
    [2, "Birch"],
    [4, "Birch"],
    [5, "Acme"],
  ]);
  await page.getByRole("link", { name: "See the records" }).click();
  await page.getByRole("gridcell", { name: "Acme" }).first().waitFor();
  expect(session.faults).toEqual([]);
});
