/** The frame of the Studio: the person's own things, their order, keys, the first page and how few requests it takes. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { eventually } from "../harness.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
beforeAll(async () => {
  studio = await startStudio({ env: { STUDIO_KIT: "true" } });
});
afterAll(() => studio.stop());

const menuOf = (page: Page) => page.getByRole("navigation", { name: "Menu" });
const kept = async () => (await studio.app.get("/account/me/preferences.json")).json["studio.menu"];
const tables = (page: Page) =>
  menuOf(page).getByRole("list", { name: "Data" }).locator("a .tile + bdi").allTextContents();

test("a new account is asked what it wants to make, and has its first steps", async () => {
  await using opened = await studio.signedIn();
  const { page, faults } = opened;
  await page.getByRole("heading", { level: 1, name: /What do you want to make/ }).waitFor();
  const steps = page.getByRole("region", { name: "Get set up" });
  await steps.getByText("1 of 5").waitFor();
  expect(await steps.getByRole("listitem").count()).toBe(5);
  for (const name of ["Add a table", "Add an app", "Add a flow", "Add a site"])
    expect(await menuOf(page).getByRole("link", { name }).count()).toBe(1);
  await page.getByRole("link", { name: /^Start an empty table/ }).click();
  await page.getByRole("heading", { level: 1, name: "New table" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/studio/tables/new");
  await page.goBack();
  await steps.getByRole("button", { name: "Hide the first steps" }).click();
  await eventually(
    async () => (await studio.app.get("/account/me/preferences.json")).json["studio.setup"] === "hidden",
  );
  await page.reload();
  await page.getByRole("heading", { level: 1 }).waitFor();
  expect(await steps.count()).toBe(0);
  expect(faults).toEqual([]);
});

describe("the things of the menu", () => {
  beforeAll(async () => {
    for (const name of ["Orders", "Customers", "Products"])
      await studio.app.post("/core/dbs.json", { db: { name, code: name.toLowerCase(), color: "orange" } });
    await studio.app.post("/connect/flows.json", {
      flow: { name: "Intake", code: "intake", fields: { program: [{ type: "fail", message: "No stock" }] } },
    });
    await studio.app.post("/connect/flows/intake/run.json", {});
  });

  test("are ordered and pinned by keys, and stay so", async () => {
    await using opened = await studio.signedIn();
    const { page, faults } = opened;
    await menuOf(page).getByRole("link", { name: "Customers" }).focus();
    await page.keyboard.press("Alt+ArrowUp");
    await eventually(async () => (await tables(page)).join() === "Customers,Orders,Products");
    await page.keyboard.press("ArrowRight");
    await page.getByRole("button", { name: "Pin", exact: true }).press("Enter");
    await menuOf(page).getByRole("list", { name: "Pinned" }).getByRole("link", { name: "Customers" }).waitFor();
    await eventually(async () => (await kept())?.pins?.length === 1 && (await kept()).order.length === 3);
    await page.reload();
    await menuOf(page).getByRole("list", { name: "Pinned" }).waitFor();
    expect(await tables(page)).toEqual(["Customers", "Orders", "Products"]);
    expect(faults).toEqual([]);
  });

  test("are moved by the pointer, too", async () => {
    await using opened = await studio.signedIn();
    const { page } = opened;
    const list = menuOf(page).getByRole("list", { name: "Data" });
    const [first, last] = [list.getByRole("listitem").nth(0), list.getByRole("listitem").nth(2)];
    await last.dragTo(first);
    await eventually(async () => (await tables(page))[0] === "Products");
  });

  test("say which flow has failed, show what is made at once, and lead to their addresses", async () => {
    await using opened = await studio.signedIn();
    const { page } = opened;
    await menuOf(page)
      .getByRole("link", { name: /Intake.*1 failed run/ })
      .waitFor();
    await menuOf(page).getByRole("link", { name: "Orders" }).click();
    await page.getByRole("heading", { level: 1, name: "Orders" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/studio/tables/orders");
    await page.goto(`${studio.app.origin}/studio/core/dbs/orders/settings`);
    await page.getByRole("heading", { level: 1, name: "Orders" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/studio/tables/orders/settings");
    await page.goto(`${studio.app.origin}/studio/tables/orders`);
    await page.getByRole("button", { name: "About the table Orders" }).click();
    await page.getByRole("button", { name: "Rename" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox").fill("All orders");
    await dialog.getByRole("button", { name: "Rename" }).click();
    await menuOf(page).getByRole("link", { name: "All orders" }).waitFor();
  });
});

test("letters lead on where nothing is typed, until somebody switches them off", async () => {
  await using opened = await studio.signedIn();
  const { page } = opened;
  const heading = (name: string) => page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  await page.keyboard.press("c");
  await page.keyboard.press("f");
  await heading("New flow");
  await page.getByLabel("Name", { exact: true }).pressSequentially("gi[");
  expect(await page.getByLabel("Name", { exact: true }).inputValue()).toEndWith("gi[");
  await page.locator("#main").focus();
  await page.keyboard.press("g");
  await page.keyboard.press("i");
  await heading("Inbox");
  await page.keyboard.press("[");
  await page.locator(".frame.rail").waitFor();
  await page.keyboard.press("[");
  await page.locator(".frame:not(.rail)").waitFor();
  await page.getByRole("button", { name: /Account menu$/ }).click();
  await page.getByRole("checkbox", { name: "Single letters are shortcuts" }).uncheck();
  await page.keyboard.press("Escape");
  await page.locator("#main").focus();
  await page.keyboard.press("[");
  expect(await page.locator(".frame.rail").count()).toBe(0);
});

test("a mention is in the inbox until it is read, and leads to its record", async () => {
  const { app } = studio;
  const record = (await app.post("/core/dbs/products/records.json", { record: { data: { name: "Tea" } } })).json;
  const { token } = await import("../harness.ts").then(({ person }) => person(app, { role: "manager" }));
  const path = `/core/dbs/products/records/${record.id}/comments.json`;
  await app.post(path, { comment: { text: "@admin please look" } }, { token });
  await using opened = await studio.signedIn({ at: "/studio/inbox" });
  const { page } = opened;
  const link = page.getByRole("main").getByRole("link", { name: /mentioned you in/ });
  await link.waitFor();
  await menuOf(page)
    .getByRole("link", { name: /Inbox\s*2/ })
    .waitFor();
  await page.keyboard.press("j");
  await page.getByRole("heading", { level: 2, name: /wrote$/ }).waitFor();
  await page.getByRole("link", { name: "Open the record" }).click();
  await page.waitForURL(`**/studio/tables/products?open=${record.id}`);
  await eventually(async () => (await app.get("/core/inbox.json")).json[0]?.read_at !== null);
  // The flow that failed still waits.
  await menuOf(page)
    .getByRole("link", { name: /Inbox\s*1/ })
    .waitFor();
});

test("a phone has the tabs at its foot", async () => {
  await using opened = await studio.signedIn({ viewport: { width: 360, height: 700 } });
  const { page } = opened;
  const tabs = page.getByRole("navigation", { name: "Main" });
  await tabs.getByRole("button", { name: "Create" }).click();
  await page.getByRole("link", { name: "Prompt", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "New prompt" }).waitFor();
  await tabs.getByRole("button", { name: "Search" }).click();
  await page.getByRole("dialog", { name: "Find or do" }).waitFor();
  await page.keyboard.type("Products");
  await page
    .getByRole("option", { name: /Products/ })
    .first()
    .click();
  await page.getByRole("grid").first().waitFor();
  expect(new URL(page.url()).pathname).toBe("/studio/tables/products");
});

test("the account's hue is the accent, and rows stand nearer where one wants it", async () => {
  await studio.app.patch("/account/settings.json", { settings: { brand_hue: "25", brand_chroma: "0.13" } });
  await using opened = await studio.signedIn({ at: "/studio/kit" });
  const { page, faults } = opened;
  await page.getByRole("heading", { level: 1, name: "Kit" }).waitFor();
  const style = (name: string) =>
    page.evaluate((one) => getComputedStyle(document.documentElement).getPropertyValue(one), name);
  expect([await style("--brand-h"), await style("--row")]).toEqual(["25", "38px"]);
  await page.getByRole("button", { name: "Compact rows" }).click();
  expect(await style("--row")).toBe("30px");
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Kit" }).waitFor();
  expect(await style("--row")).toBe("30px");
  expect(faults).toEqual([]);
  await studio.app.patch("/account/settings.json", { settings: { brand_hue: null, brand_chroma: null } });
});

test("the first page and a table take few requests and bytes, and the first record stands near the top", async () => {
  await using opened = await studio.signedIn();
  const { page } = opened;
  /** Compressed bytes of what the document names: all that is needed until one can read. */
  const named = async () => {
    const html = await (await page.request.get(page.url())).text();
    const urls = [...html.matchAll(/ (?:href|src)="([^"]{1,2000})"/g)].map(([, url = ""]) =>
      url.replaceAll("&amp;", "&"),
    );
    const sizes = await page.evaluate(
      (all) =>
        performance
          .getEntriesByType("resource")
          .filter((one): one is PerformanceResourceTiming => one instanceof PerformanceResourceTiming)
          .filter(({ name }) => all.some((url) => name.endsWith(url)))
          .map((one) => [one.name, one.encodedBodySize] as const),
      urls,
    );
    return { sizes, bytes: html.length + sizes.reduce((sum, [, size]) => sum + size, 0) };
  };
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url().replace(studio.app.origin, "")));
  const fresh = async (address: string, isThere: string) => {
    asked.length = 0;
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("Network.setCacheDisabled", { cacheDisabled: true });
    await page.goto(studio.app.origin + address);
    await page.getByText(isThere).first().waitFor();
    // What the last answer leads to is asked for at once.
    await eventually(async () => {
      const before = asked.length;
      await page.waitForTimeout(600);
      return asked.length === before;
    });
    return asked.map((path) => path.slice(0, 150));
  };
  await studio.app.patch("/account/me/preferences.json", { preferences: { "studio.setup": null } });
  const home = await fresh("/studio", "Get set up");
  expect(home.length, home.join("\n")).toBeLessThanOrEqual(10);
  expect(home.filter((path) => path.endsWith(".woff2"))).toHaveLength(1);
  const first = await named();
  expect(first.bytes, first.sizes.join("\n")).toBeLessThanOrEqual(88_000);
  const inPolish = await (await page.request.get(page.url(), { headers: { "accept-language": "pl" } })).text();
  expect(inPolish).toMatch(/<html lang="pl"[^]{1,3000}rel="modulepreload" href="\/studio\/-\/pl-/);

  const fields = {
    no: "string",
    customer: { type: "string", link: "customers" },
    price: { type: "number", format: "money", currency: "EUR" },
  };
  await studio.app.patch("/core/dbs/customers.json", { db: { schema: { fields: { name: "string" } } } });
  await studio.app.patch("/core/dbs/orders.json", { db: { schema: { fields } } });
  const record = { data: { name: "Ann Example" } };
  const { id } = (await studio.app.post("/core/dbs/customers/records.json", { record })).json;
  await studio.app.post("/core/dbs/orders/records.json", { record: { data: { no: "O-1", customer: id, price: 7 } } });
  const top = () => page.locator('[role="row"][aria-rowindex="2"]').evaluate((row) => row.getBoundingClientRect().top);
  const table = await fresh("/studio/tables/orders", "Ann Example");
  expect(table.length, table.join("\n")).toBeLessThanOrEqual(14);
  expect(await top()).toBeLessThanOrEqual(78 + 34);
  const shown = await named();
  expect(shown.bytes, shown.sizes.join("\n")).toBeLessThanOrEqual(129_000);
  const filtered = await fresh("/studio/tables/orders?filter[no]=O-1", "Ann Example");
  expect(filtered.length, filtered.join("\n")).toBeLessThanOrEqual(14);
  expect(await top()).toBeLessThanOrEqual(121);
});
