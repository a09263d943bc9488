/** A record in its panel: values by kind, links both ways, comments, history, and places of its own. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page, Route } from "playwright-core";
import { adminPassword, eventually, person, type TestApp } from "../harness.ts";
import { drawn } from "../fixtures/media-files.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
let app: TestApp;
beforeAll(async () => {
  studio = await startStudio();
  ({ app } = studio);
  await made("/core/dbs.json", {
    db: {
      name: "Customers",
      code: "customers",
      schema: { fields: { name: { type: "string", required: true }, country: "string" }, indexed_fields: ["name"] },
    },
  });
  const fields = {
    no: { type: "string", label: { en: "Number", de: "Nummer" } },
    customer: { type: "string", link: "customers" },
    also: { type: "list", link: "customers" },
    stage: {
      type: "string",
      choices: ["new", { value: "sent", label: { en: "Shipped" }, color: "teal" }],
      help: "How far it is",
    },
    price: { type: "number", format: "money", currency: "EUR" },
    rebate: { type: "number", format: "percent" },
    due: "date",
    paid: "boolean",
  };
  const schema = { fields, indexed_fields: ["no"], history: true };
  await made("/core/dbs.json", { db: { name: "Orders", code: "orders", schema } });
});
afterAll(() => studio.stop());

const made = async (path: string, body: object) => {
  const { status, json } = await app.post(path, body);
  expect([path, status]).toEqual([path, 201]);
  return json;
};
const record = async (db: string, data: object): Promise<string> =>
  (await made(`/core/dbs/${db}/records.json`, { record: { data } })).id;
const stored = async (db: string, id: string) => (await app.get(`/core/dbs/${db}/records/${id}.json`)).json.data;
const at = (db: string, id: string) => `/studio/core/dbs/${db}/records?open=${id}`;
const panelOf = (page: Page, name: string) => page.getByRole("complementary", { name, exact: true });

test("while the server is away a record opens from the list, and what is changed in it waits", async () => {
  const ids = [
    await record("customers", { name: "Ada", country: "PL" }),
    await record("customers", { name: "Cy", country: "DE" }),
  ];
  await using opened = await studio.signedIn({ at: `${at("customers", ids[0] ?? "")}&sort=name` });
  const { page } = opened;
  page.setDefaultTimeout(15_000);
  await panelOf(page, "Ada").getByText("No comment yet.").waitFor();
  await page.context().setOffline(true);
  await page.keyboard.press("j");
  const panel = panelOf(page, "Cy");
  await panel.getByText("not while the server is away").waitFor();
  const change = async (button: string, value: string) => {
    await panel.getByRole("button", { name: button, exact: true }).click();
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Delete");
    await page.keyboard.type(value);
    await page.keyboard.press("Enter");
  };
  await change("Country DE", "AT");
  await page.getByRole("alert").getByText("1 change waits.").waitFor();
  await panel.getByRole("button", { name: "Country AT", exact: true }).waitFor();
  await change("Name Cy", "");
  await page.getByRole("alert").getByText("2 changes wait.").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("gridcell", { name: "AT" }).waitFor();
  await page.context().setOffline(false);
  await eventually(async () => (await stored("customers", ids[1] ?? "")).country === "AT");
  // What is refused names its record.
  const refusal = page.getByRole("alert").filter({ hasText: "is required" });
  await refusal.getByRole("link", { name: "Cy" }).click();
  await panel.getByRole("button", { name: "Country AT", exact: true }).waitFor();
  await page.getByText("cannot be reached").waitFor({ state: "detached" });
  expect(await stored("customers", ids[1] ?? "")).toEqual({ name: "Cy", country: "AT" });
  expect(opened.faults.filter((fault) => !/DISCONNECTED|status of 422|derived_inert/.test(fault))).toEqual([]);
});

test("changes that wait are sent when their person comes back, and are nobody else's", async () => {
  const access = [{ to: "everyone", may: "edit" }];
  const schema = { fields: { name: { type: "string", required: true }, country: "string", stars: "number" } };
  await made("/core/dbs.json", { db: { name: "Hotels", code: "hotels", schema, access } });
  const ids: string[] = [];
  for (const name of ["Astor", "Bristol", "Carlton"])
    ids.push(await record("hotels", { name, country: "PL", stars: 3 }));
  const hotel = (index: number) => stored("hotels", ids[index] ?? "");
  const password = "a long enough password";
  const other = await person(app, { role: "user", password });
  const address = `${app.origin}/studio/core/dbs/hotels/records?sort=name`;
  await using opened = await studio.signedIn();
  const { page } = opened;
  page.setDefaultTimeout(20_000);
  const isLoaded = page.waitForResponse((response) => /\/kept-[^/]*\.js$/.test(response.url()));
  await page.goto(`${address}&open=${ids[2]}`);
  const panel = panelOf(page, "Carlton");
  await panel.getByText("No comment yet.").waitFor();
  await isLoaded;
  // An emulated line comes back with the next page, before the last one has gone.
  const away = (route: Route) => route.abort();
  await page.context().route("**/core/**", away);
  const cell = async (row: number, column: number, value: string) => {
    await page.locator(`[role=row][aria-rowindex="${row}"] [aria-colindex="${column}"]`).click();
    await page.keyboard.type(value);
    await page.keyboard.press("Enter");
  };
  const waits = (words: string) => page.getByRole("alert").getByText(words).waitFor();
  await cell(2, 3, "AT");
  await waits("1 change waits.");
  await cell(2, 3, "CH");
  await cell(3, 4, "5");
  await page.locator('[role=row][aria-rowindex="3"]').getByText("not saved yet").waitFor();
  await cell(3, 2, "Bristol Palace");
  await panel.getByRole("button", { name: "Stars 3", exact: true }).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("4");
  await page.keyboard.press("Enter");
  await cell(4, 3, "XX");
  await page.getByRole("button", { name: "Add a record here" }).click();
  await page.keyboard.type("Dorint");
  await page.keyboard.press("Tab");
  await page.keyboard.type("CH");
  await page.keyboard.press("Enter");
  await waits("8 changes wait.");
  const isAsked = page.waitForEvent("dialog", (dialog) => dialog.type() === "beforeunload");
  const left = page.goto("about:blank");
  await (await isAsked).accept();
  await left;
  await page.context().unroute("**/core/**", away);
  expect([(await hotel(0)).country, (await hotel(1)).stars, (await hotel(2)).stars]).toEqual(["PL", 3, 3]);
  await app.patch(`/core/dbs/hotels/records/${ids[2]}.json`, { record: { data: { stars: 1 } } });
  const choices = { ...schema.fields, country: { type: "string", choices: ["PL", "CH"] } };
  expect((await app.patch("/core/dbs/hotels.json", { db: { schema: { fields: choices } } })).status).toBe(200);

  // Somebody else on the same browser neither sees nor sends them.
  const signIn = async (login: string, pass: string) => {
    const data = { login, password: pass };
    await page.context().request.delete(`${app.origin}/account/session.json`, { headers: { origin: app.origin } });
    const headers = { origin: app.origin };
    const answer = await page.context().request.post(`${app.origin}/account/session.json`, { data, headers });
    expect(answer.status()).toBe(201);
  };
  await signIn(other.login, password);
  const isTheirs = page.waitForResponse((response) => /\/kept-[^/]*\.js$/.test(response.url()));
  await page.goto(address);
  await isTheirs;
  await page.getByRole("gridcell", { name: "Astor", exact: true }).waitFor();
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toMatch(/Bristol|country/);
  expect((await hotel(0)).country).toBe("PL");

  await signIn("admin", adminPassword);
  await page.goto(address);
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("row", { name: "Carlton Stars 1 4" }).waitFor();
  await eventually(async () => (await hotel(0)).country === "CH" && (await hotel(1)).stars === 5);
  await eventually(async () => (await hotel(1)).name === "Bristol Palace");
  expect((await hotel(2)).stars).toBe(1);
  // What is refused says why, and of which record.
  const refusal = page.getByRole("alert").filter({ hasText: "Country “XX”" });
  await refusal.getByRole("link", { name: "Carlton" }).waitFor();
  await dialog.getByRole("button", { name: "Overwrite" }).click();
  await eventually(async () => (await hotel(2)).stars === 4);
  await page.getByText("6 changes from before are saved now.").waitFor();
  await eventually(async () => (await page.getByRole("gridcell", { name: "CH", exact: true }).count()) === 2);
  expect(await page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes(".waits ")))).toEqual([]);
  const { json } = await app.get("/core/dbs/hotels/records.json?filter[name]=Dorint");
  expect(json).toMatchObject([{ data: { name: "Dorint", country: "CH" } }]);
});

test("a card shows all that its record has; the banner moves no row, and a table loads once the server is back", async () => {
  const names = ["name", "a", "b", "c", "d", "e", "f", "g"];
  const texts = Object.fromEntries(names.map((name) => [name, "string"]));
  const schema = { fields: { ...texts, status: { type: "string", choices: ["new", "sent"] } } };
  for (const code of ["inns", "bars"]) await made("/core/dbs.json", { db: { name: code, code, schema } });
  for (const db of ["inns", "bars"])
    for (const one of ["One", "Two"])
      await record(db, { ...Object.fromEntries(names.map((name) => [name, `${one} ${name}`])), status: "sent" });
  await using opened = await studio.signedIn({
    at: "/studio/tables/inns?sort=name",
    viewport: { width: 360, height: 800 },
  });
  const { page } = opened;
  const top = async (words: string) => (await page.getByText(words, { exact: true }).first().boundingBox())?.y ?? 0;
  await page.getByText("Two name").waitFor();
  expect(await top("One name")).toBeLessThan(await top("sent"));
  expect(await top("sent")).toBeLessThan(await top("One a"));
  expect(await top("One g")).toBeLessThan(await top("Two name"));
  const edge = (await page.locator('[role=row][aria-rowindex="2"]').boundingBox()) ?? { y: 0, height: 0 };
  const last = (await page.getByText("One g", { exact: true }).boundingBox()) ?? { y: 0, height: 0 };
  expect(last.y + last.height).toBeLessThanOrEqual(edge.y + edge.height);

  await page.setViewportSize({ width: 1280, height: 800 });
  const before = await top("Two name");
  const away = (route: Route) => route.abort();
  await page.context().route("**/core/**", away);
  await page.getByRole("gridcell", { name: "One a", exact: true }).click();
  await page.keyboard.type("Else");
  await page.keyboard.press("Enter");
  await page.getByText("1 change waits.").waitFor();
  expect(await top("Two name")).toBe(before);
  await page.getByRole("navigation").getByRole("link", { name: "bars" }).first().click();
  await page.getByText("loads when it is back").waitFor();
  await page.context().unroute("**/core/**", away);
  await page.getByRole("gridcell", { name: "Two g", exact: true }).waitFor();
});

test("each kind of value is shown as people write it, and changed where it stands", async () => {
  const ann = await record("customers", { name: "Ann", country: "PL" });
  await record("customers", { name: "Bea", country: "DE" });
  const id = await record("orders", { no: "O-1", customer: ann, stage: "new", price: 1284.4, rebate: 0.25 });
  await using opened = await studio.signedIn({ at: at("orders", id) });
  const { page, faults } = opened;
  const panel = panelOf(page, "O-1");
  for (const name of ["Number O-1", "Stage new", "Price €1,284.40", "Rebate 25%"])
    await panel.getByRole("button", { name, exact: true }).waitFor();
  await panel.getByRole("link", { name: "Ann" }).waitFor();
  await panel.getByRole("button", { name: "3 more fields" }).click();

  await panel.getByRole("button", { name: "Stage new" }).click();
  await panel.getByText("How far it is").waitFor();
  await panel.getByRole("combobox", { name: "Stage" }).selectOption({ label: "Shipped" });
  await panel.getByRole("button", { name: "Stage Shipped" }).waitFor();
  expect((await stored("orders", id)).stage).toBe("sent");
  await panel.getByRole("button", { name: "Rebate 25%" }).click();
  await panel.getByRole("textbox", { name: "Rebate" }).fill("12.5");
  await page.keyboard.press("Enter");
  await panel.getByRole("button", { name: "Rebate 12.5%" }).waitFor();
  expect((await stored("orders", id)).rebate).toBe(0.125);
  await panel.getByRole("button", { name: "Due" }).click();
  await panel.getByLabel("Due").fill("2020-11-11");
  await page.keyboard.press("Enter");
  await panel.getByRole("button", { name: "Due Nov 11, 2020" }).waitFor();

  // A link is found by what people call its target; what leaves the input is saved.
  await panel.getByRole("button", { name: "Edit Customer" }).click();
  await panel.getByRole("combobox", { name: /Customer/ }).fill("be");
  await panel.getByRole("option", { name: "Bea" }).click();
  await panel.getByRole("link", { name: "Bea" }).first().waitFor();
  await panel.getByRole("button", { name: "Price €1,284.40" }).click();
  await panel.getByRole("textbox", { name: "Price" }).fill("many");
  await panel.getByRole("button", { name: "Stage Shipped" }).focus();
  await panel.getByText("This is not a number.").waitFor();
  await panel.getByRole("textbox", { name: "Price" }).fill("7");
  await panel.getByRole("button", { name: "Save" }).click();
  await panel.getByRole("button", { name: "Price €7.00" }).waitFor();
  expect(await stored("orders", id)).toMatchObject({ price: 7, due: "2020-11-11" });
  expect(faults).toEqual([]);
}, 600_000);

test("records that link here are listed, added and linked, and lead to themselves", async () => {
  const ann = await record("customers", { name: "Cleo" });
  const order = await record("orders", { no: "O-7", customer: ann, stage: "sent" });
  const loose = await record("orders", { no: "O-8" });
  await using opened = await studio.signedIn({ at: at("customers", ann) });
  const { page, faults } = opened;
  const list = panelOf(page, "Cleo").getByRole("region", { name: "Orders · Customer" });
  await list.getByRole("link", { name: /O-7.*Shipped/ }).waitFor();

  await list.getByRole("button", { name: "New in Orders" }).click();
  const dialog = page.getByRole("dialog", { name: "New in Orders" });
  await dialog.getByRole("group", { name: "Customer" }).getByText("Cleo").first().waitFor();
  await dialog.getByLabel("Number").fill("O-9");
  await dialog.getByRole("button", { name: "Add record" }).click();
  await list.getByRole("link", { name: "O-9" }).waitFor();
  const [newest] = (await app.get("/core/dbs/orders/search.json?filter[no]=O-9")).json;
  expect(newest.customer).toBe(ann);

  await list.getByRole("button", { name: "Link to Orders" }).click();
  await page.getByRole("combobox", { name: /Orders/ }).fill("O-8");
  await page.getByRole("option", { name: "O-8" }).click();
  await list.getByRole("link", { name: "O-8" }).waitFor();
  expect((await stored("orders", loose)).customer).toBe(ann);
  await page.getByRole("button", { name: "Undo" }).click();
  await list.getByRole("link", { name: "O-8" }).waitFor({ state: "detached" });
  expect((await stored("orders", loose)).customer).toBeNull();

  const several = panelOf(page, "Cleo").getByRole("region", { name: "Orders · Also" });
  await several.getByRole("button", { name: "Link to Orders" }).click();
  await page.getByRole("combobox", { name: /Orders/ }).fill("O-8");
  await page.getByRole("option", { name: "O-8" }).click();
  await several.getByRole("link", { name: "O-8" }).waitFor();
  expect((await stored("orders", loose)).also).toEqual([ann]);

  await list.getByRole("link", { name: /O-7/ }).click();
  await panelOf(page, "O-7").getByRole("link", { name: "Cleo" }).click();
  await panelOf(page, "Cleo").waitFor();
  expect(order).not.toBe(loose);
  expect(faults).toEqual([]);
}, 600_000);

test("what was said and done is one stream: comments with mentions, and the record as it was", async () => {
  const zoe = await person(app, { login: "zoe", role: "user", privileges: ["dbs"] });
  const id = await record("orders", { no: "O-20", stage: "new" });
  await app.patch(`/core/dbs/orders/records/${id}.json`, { record: { data: { stage: "sent", price: 5 } } });
  await using opened = await studio.signedIn({ at: at("orders", id) });
  const { page, faults } = opened;
  const panel = panelOf(page, "O-20");
  const stream = panel.getByRole("region", { name: "Comments and history" });
  await stream.getByText("Shipped").waitFor();

  await page.keyboard.press("m");
  const box = panel.getByRole("textbox", { name: "Write a comment" });
  await eventually(() => box.evaluate((element) => element === document.activeElement));
  await page.keyboard.type("Look, @zo");
  await panel.getByRole("option", { name: /@zoe/ }).waitFor();
  await page.keyboard.press("Enter");
  expect(await box.inputValue()).toBe("Look, @zoe ");
  await page.keyboard.type("please");
  await page.keyboard.press("Control+Enter");
  await stream.getByText("please").waitFor();
  const inbox = await app.get("/core/inbox.json", { token: zoe.token });
  expect(inbox.json.map(({ record_id: about }: { record_id: string }) => about)).toEqual([id]);

  await stream.getByRole("button", { name: "Edit the comment" }).click();
  await stream.getByRole("textbox", { name: "Edit the comment" }).fill("Never mind");
  await stream.getByRole("button", { name: "Save" }).click();
  await stream.getByText("Never mind").waitFor();
  await stream.getByRole("button", { name: "Delete the comment" }).click();
  await stream.getByText("Never mind").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await stream.getByText("Never mind").waitFor();

  // What is not sent is there again.
  await box.fill("half a sen");
  await page.reload();
  expect(await box.inputValue()).toBe("half a sen");

  await stream
    .getByRole("button", { name: /^As it was before/ })
    .filter({ hasText: "Stage" })
    .click();
  await panel.getByRole("button", { name: "Stage new" }).waitFor();
  await eventually(async () => ((await stored("orders", id)).price ?? null) === null);
  // What one does oneself is not news of somebody else.
  await page
    .getByRole("grid", { name: "Records" })
    .getByRole("row")
    .filter({ hasText: "O-20" })
    .getByText("new")
    .waitFor();
  expect(await page.getByText(/by (others|somebody else)|Somebody else/).count()).toBe(0);
  await page.getByRole("button", { name: "Undo" }).click();
  await panel.getByRole("button", { name: "Stage Shipped" }).waitFor();

  // Who it was is said, and what one types may stay.
  await panel.getByRole("button", { name: "Number O-20" }).click();
  await panel.getByRole("textbox", { name: "Number" }).fill("O-21");
  await app.patch(`/core/dbs/orders/records/${id}.json`, { record: { data: { price: 6 } } });
  await panel.getByText(/^(?!Somebody).+ has changed this record meanwhile\.$/).waitFor();
  await panel.getByRole("button", { name: "Keep what I typed" }).click();
  await panel.getByRole("button", { name: "Keep what I typed" }).waitFor({ state: "detached" });
  await panel.getByRole("button", { name: "Save" }).click();
  await eventually(async () => (await stored("orders", id)).no === "O-21");
  expect((await stored("orders", id)).price).toBe(6);
  // The save that met the other one.
  expect(faults.filter((fault) => !fault.includes("412"))).toEqual([]);
}, 600_000);

test("a record stands beside the list, over it where there is little room, and as a page of its own", async () => {
  const first = await record("customers", { name: "Dora" });
  const second = await record("customers", { name: "Emil" });
  await using opened = await studio.signedIn({ at: at("customers", second), viewport: { width: 1400, height: 800 } });
  const { page } = opened;
  const panel = panelOf(page, "Emil");
  const grid = page.getByRole("grid", { name: "Records" });
  await panel.waitFor();
  /** The part of the grid that is seen. */
  const list = grid.locator("..");
  const isBeside = async () => {
    const [left, right] = [await list.boundingBox(), await panel.boundingBox()];
    return left !== null && right !== null && left.x + left.width <= right.x && right.width === 440;
  };
  await eventually(isBeside);
  await page.setViewportSize({ width: 1000, height: 800 });
  await eventually(async () => !(await isBeside()) && (await panel.boundingBox())?.width === 440);
  await page.setViewportSize({ width: 360, height: 700 });
  await eventually(async () => (await panel.boundingBox())?.width === 360);
  // What it covers takes no focus.
  expect(await grid.evaluate((element) => element.closest("[inert]") !== null)).toBe(true);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await page.setViewportSize({ width: 1400, height: 800 });
  await page.keyboard.press("o");
  await page.getByRole("heading", { level: 2, name: "Emil" }).waitFor();
  await grid.waitFor({ state: "hidden" });
  await page.reload();
  await page.getByRole("heading", { level: 2, name: "Emil" }).waitFor();
  await panel.getByText(/^1 of \d/).waitFor();
  await page.keyboard.press("j");
  await page.getByRole("heading", { level: 2, name: "Dora" }).waitFor();
  expect(new URL(page.url()).searchParams.get("open")).toBe(first);
  await page.getByRole("complementary", { name: "Dora" }).getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("status").getByText("1 record deleted").waitFor();
  expect((await app.get(`/core/dbs/customers/records/${first}.json`)).status).toBe(404);
  await page.getByRole("button", { name: "Undo" }).click();
  await eventually(async () => (await app.get(`/core/dbs/customers/records/${first}.json`)).status === 200);
  await page.goto(`${studio.app.origin}${at("customers", first)}&page=1`);
  await page.getByRole("heading", { level: 2, name: "Dora" }).waitFor();
  await page.keyboard.press("Escape");
  await grid.waitFor();
  expect(new URL(page.url()).search).toBe("");
}, 600_000);

test("who else has the record open is seen, until they leave", async () => {
  const id = await record("orders", { no: "O-here" });
  const password = "correct horse battery";
  await person(app, { login: "jana", role: "user", password, privileges: ["dbs"] });
  await using mine = await studio.signedIn({ at: at("orders", id) });
  const others = panelOf(mine.page, "O-here").getByRole("img", { name: "Also here: jana" });
  await panelOf(mine.page, "O-here").waitFor();
  await using theirs = await studio.signedIn({ login: "jana", password, at: at("orders", id) });
  await panelOf(theirs.page, "O-here")
    .getByRole("img", { name: /^Also here: / })
    .waitFor();
  await others.waitFor();
  await theirs.page.keyboard.press("Escape");
  await others.waitFor({ state: "detached" });
  expect([mine.faults, theirs.faults]).toEqual([[], []]);
});

test("who may not read a linked table is told so: in the cell, in the record, and where one would choose", async () => {
  const access = [{ to: "role:admin", may: "read" }];
  await made("/core/dbs.json", {
    db: { name: "Vault", code: "vault", schema: { fields: { name: "string" } }, access },
  });
  const schema = { fields: { no: "string", secret: { type: "string", link: "vault" } } };
  await made("/core/dbs.json", { db: { name: "Cases", code: "cases", schema } });
  const secret = await record("vault", { name: "Gold" });
  const id = await record("cases", { no: "C-1", secret });
  const password = "correct horse battery";
  await person(app, { login: "kai", role: "user", password, privileges: ["dbs"] });
  await using theirs = await studio.signedIn({ login: "kai", password, at: at("cases", id) });
  const { page } = theirs;
  const panel = panelOf(page, "C-1");
  await panel.getByText("Not visible to you").waitFor();
  await page.getByRole("grid", { name: "Records" }).getByText("Not visible to you").waitFor();
  expect(await page.getByText("Gold").count()).toBe(0);
  await panel.getByRole("button", { name: "Edit Secret" }).click();
  await panel.getByRole("combobox", { name: /Secret/ }).fill("Go");
  await panel.getByRole("option", { name: "Not visible to you" }).waitFor();
});

test("one picture is one file, shown small", async () => {
  const fields = { name: "string", picture: { type: "string", format: "file", label: "Picture" } };
  await made("/core/dbs.json", { db: { name: "Teas", code: "teas", schema: { fields } } });
  const id = await record("teas", { name: "Assam" });
  await using opened = await studio.signedIn({ at: at("teas", id) });
  const panel = panelOf(opened.page, "Assam");
  await panel.getByRole("button", { name: "1 more field" }).click();
  await panel.getByRole("button", { name: "Picture", exact: true }).click();
  const choose = panel.locator("input[type=file]");
  const edit = panel.getByRole("button", { name: "Edit Picture" });
  for (const name of ["first.png", "second.png"]) {
    if (name === "second.png") await edit.click();
    await choose.setInputFiles({ name, mimeType: "image/png", buffer: await drawn(200, 100) });
    await panel.getByRole("link", { name }).waitFor();
    // The input stays until the record is saved.
    await edit.waitFor();
  }
  const { picture } = await stored("teas", id);
  const { json } = await app.get(`/core/media/${picture}.json`);
  expect(json).toMatchObject({ name: "second.png", is_public: false });
  const small = panel.locator(`img[src="/media/${picture}/w/160.webp"]`);
  await eventually(() => small.evaluate((image: HTMLImageElement) => image.naturalWidth === 160));
  expect(await panel.locator("img").count()).toBe(1);

  // Whoever may read the record sees its pictures, without the right to all files.
  const access = [{ to: "everyone", may: "edit" }];
  expect((await app.patch("/core/dbs/teas.json", { db: { access } })).status).toBe(200);
  const view = { name: "Cards", kind: "gallery", cover_field: "picture", shared: true };
  const { id: gallery } = await made("/core/dbs/teas/views.json", { view });
  const { login } = await person(app, { role: "user", password: "a long enough password" });
  await using theirs = await studio.signedIn({ login, password: "a long enough password", at: at("teas", id) });
  const isSeen = async (width: number) => {
    const image = theirs.page.locator(`img[src="/core/dbs/teas/records/${id}/files/${picture}?size=${width}.webp"]`);
    await eventually(() => image.evaluate((one: HTMLImageElement) => one.naturalWidth > 0));
  };
  await isSeen(160);
  await panelOf(theirs.page, "Assam").getByRole("link", { name: "second.png" }).waitFor();
  await theirs.page.goto(`${app.origin}/studio/core/dbs/teas?view=${gallery}`);
  await isSeen(320);
  expect(theirs.faults).toEqual([]);
});
