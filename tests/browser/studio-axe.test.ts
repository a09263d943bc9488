/** No page of the Studio has an accessibility fault that axe can find: light and dark, wide and narrow. */
import { AxeBuilder } from "@axe-core/playwright";
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { siteMaker } from "../sites.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
let paths: string[];
beforeAll(async () => {
  studio = await startStudio({ env: { STUDIO_KIT: "true" } });
  const { app } = studio;
  const prompt = await app.post("/core/prompts.json", {
    prompt: { name: "Greeting", code: "greeting", content: "Hi" },
  });
  await app.post("/core/dbs.json", {
    db: { name: "People", code: "people", schema: { fields: { email: "string", age: "integer" } } },
  });
  const record = await app.post("/core/dbs/people/records.json", {
    record: { data: { email: "a@example.com", age: 7 } },
  });
  const order = await seedShop();
  const form = await app.post("/core/dbs/orders/views.json", { view: { name: "Ask", kind: "form" } });
  const made = await app.post("/core/apps.json", {
    app: { name: "Counter", app_engine: "html", css_engine: "none", source_code: "<h1>Hello</h1>" },
  });
  const pages = await seedOthers();
  const appPage = `/studio/core/apps/${made.json.id}`;
  paths = [
    "/studio/core/apps",
    "/studio/core/apps/new",
    appPage,
    `${appPage}/build`,
    `${appPage}/data`,
    `${appPage}/versions`,
    `${appPage}/settings`,
    "/studio/core/dbs/new",
    "/studio/core/dbs/people/settings",
    "/studio/core/dbs/people/trash",
    "/studio/core/dbs/people/schema?add=1",
    "/studio/core/dbs/orders/schema?field=stage",
    "/studio/core/dbs/orders?field=customer",
    "/studio/core/dbs/people/public",
    "/studio/core/dbs/people/import",
    "/studio/core/dbs/people/export",
    "/studio/core/dbs/people/events",
    "/studio",
    "/studio/inbox",
    "/studio/kit",
    "/studio/core/prompts",
    "/studio/core/prompts/new",
    `/studio/core/prompts/${prompt.json.id}`,
    `/studio/core/prompts/${prompt.json.id}/versions`,
    "/studio/core/dbs/people/records",
    `/studio/core/dbs/people/records?open=${record.json.id}`,
    `/studio/core/dbs/orders/records?open=${order}`,
    "/studio/core/dbs/orders/records?open=new",
    `/studio/core/dbs/orders?view=${form.json.id}`,
    "/studio/core/dbs/orders/charts?filter[stage][in]=new,sent",
    ...pages,
    "/studio/account/people/1",
    "/studio/account/people/new",
    "/studio/account/access",
    "/studio/account/access?by=rights",
    "/studio/account/settings",
    "/studio/account/activity",
    "/studio/account/backups",
    "/studio/account/tokens/new",
    "/studio/nothing/at/all",
  ];
});
afterAll(() => studio.stop());

/** Records with every kind of value, linked ones, comments and a history: gives back an order. */
async function seedShop(): Promise<string> {
  const { app } = studio;
  const answer = async (path: string, body: object) => (await app.post(path, body)).json;
  const fields = {
    no: "string",
    stage: {
      type: "string",
      choices: ["new", { value: "done", label: "Done", color: "green" }],
      help: "How far it is",
    },
    likes: { type: "list", choices: ["tea", "cake"] },
    customer: { type: "string", link: "orders" },
    price: { type: "number", format: "money", currency: "EUR" },
    rebate: { type: "number", format: "percent" },
    stars: { type: "integer", format: "rating" },
    mail: { type: "string", format: "email" },
    due: "date",
    at: "datetime",
    paid: "boolean",
    photo: { type: "string", format: "file" },
    note: "text",
  };
  await answer("/core/dbs.json", { db: { name: "Orders", code: "orders", schema: { fields, history: true } } });
  const data = { no: "O-1", stage: "done", likes: ["tea"], price: 12.5, rebate: 0.25, stars: 4, mail: "a@example.com" };
  const times = { due: "2026-11-11", at: "2026-01-31T10:00:00Z", paid: true };
  const { id } = await answer("/core/dbs/orders/records.json", { record: { data: { ...data, ...times } } });
  await answer("/core/dbs/orders/records.json", { record: { data: { no: "O-2", customer: id, stage: "new" } } });
  await app.patch(`/core/dbs/orders/records/${id}.json`, { record: { data: { stage: "new", customer: id } } });
  await answer(`/core/dbs/orders/records/${id}/comments.json`, { comment: { text: "@admin please look" } });
  return id;
}

/** Flows, what they have done, webhooks, crons and a site: gives back their pages. */
async function seedOthers(): Promise<string[]> {
  const { app } = studio;
  const make = siteMaker(app);
  const answer = async (path: string, body: object) => (await app.post(path, body)).json;
  await answer("/connect/connectors.json", { connector: { name: "Shop", code: "shop", url: "http://127.0.0.1:9" } });
  for (const [code, program] of Object.entries({
    advice: [{ type: "return", value: "a hat" }],
    fails: [{ type: "fail", message: "Stock is too low" }],
  }))
    await answer("/connect/flows.json", { flow: { name: code, code, fields: { program } } });
  const failed = await answer("/connect/flows/fails/run.json", { order: 7 });
  const cron = await answer("/account/crons.json", { cron: { target_code: "advice", schedule: "0 7 * * *" } });
  const webhook = await answer("/account/webhooks.json", {
    webhook: { source_type: "Core::Group", kind: "create", url: "http://127.0.0.1:9" },
  });
  await make.site({ code: "acme", name: "Acme", locale: "pl", multilang: true });
  const layout = await make.layout({ code: "main", site_code: "acme", content: "{{ content }}" });
  const page = await make.page({ code: "offer", site_code: "acme", path: "offer", layout_code: "main", locale: "pl" });
  const category = await make.category({ code: "news", site_code: "acme" });
  const article = await make.article({ title: "A new office", site_code: "acme", category_code: "news" });
  const lists = ["pages", "layouts", "paragraphs", "articles", "categories", "domains"].map((name) => `cms/${name}`);
  return [
    "connect",
    "connect/connectors",
    "connect/connectors/new",
    "connect/connectors/shop/methods",
    "connect/flows",
    "connect/flows/new",
    "connect/flows/advice",
    "connect/flows/advice?step=json",
    "connect/flows/advice?tab=runs",
    "connect/processes",
    `connect/processes/${failed.id}`,
    "account/crons",
    `account/crons/${cron.id}`,
    "connect/hooks",
    "connect/hooks/new",
    "account/webhooks",
    "account/webhooks/new",
    `account/webhooks/${webhook.id}`,
    `account/webhooks/${webhook.id}/deliveries`,
    "cms",
    "cms/sites",
    "cms/sites/acme",
    "cms/acme/articles",
    "cms/acme/checks",
    "cms/acme/migration",
    "cms/acme/translations",
    "cms/acme/translations?row=offer&to=en",
    ...lists,
    `cms/pages/${page.id}`,
    "cms/acme/pages",
    "cms/acme/media",
    `cms/acme/pages/${page.id}`,
    `cms/acme/pages/${page.id}?tab=preview`,
    `cms/acme/pages/${page.id}?tab=settings`,
    "cms/pages/new",
    `cms/layouts/${layout.id}`,
    `cms/categories/${category.id}`,
    `cms/articles/${article.id}`,
  ].map((path) => `/studio/${path}`);
}

const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
const ofColours = ["color-contrast", "link-in-text-block"];

/** What is asked: all rules, those of colours, or all others. */
type Rules = "all" | "colours" | "others";

/** Of a page as it stands. What is no fault is not told: a selector of each element takes longer than to look at it. */
async function faultsOn(page: Page, rules: Rules): Promise<string[]> {
  // Half a megabyte of script, which a page that was not loaded anew has already; a frame in it may be new.
  const isThere = page.frames().length === 1 && (await page.evaluate(() => "axe" in globalThis));
  const builder = new AxeBuilder({ page, ...(isThere && { axeSource: "0" }) })
    .setLegacyMode()
    .options({ resultTypes: ["violations"] });
  const asked =
    rules === "colours"
      ? builder.withRules(ofColours)
      : builder.withTags(tags).disableRules(rules === "others" ? ofColours : []);
  const { violations } = await asked.analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** Goes there as a link does, without loading the page anew; a tab of the same page keeps its heading, and is loaded. */
async function goTo(page: Page, path: string): Promise<void> {
  if (path.includes("?")) await page.goto(studio.app.origin + path);
  else
    await page.evaluate((to) => {
      document.querySelector("main h1")?.setAttribute("data-left", "");
      history.pushState(null, "", to);
      dispatchEvent(new PopStateEvent("popstate"));
    }, path);
  await page.waitForFunction(
    () =>
      document.querySelector("main h1:not([data-left])") &&
      !(document.querySelector("main")?.textContent ?? "").includes("Loading…"),
  );
}

/** Colours are all that depends on the theme, and they do not depend on the width. */
function rulesAt(width: number): Partial<Record<"light" | "dark", Rules>> {
  return width === 1280 ? { light: "all", dark: "colours" } : { light: "others" };
}

/** What a walk at one width has found, by page and theme. */
function checker(page: Page, asked: Partial<Record<"light" | "dark", Rules>>) {
  const found: Record<string, string[]> = {};
  const check = async (name: string) => {
    for (const colorScheme of ["light", "dark"] as const) {
      const rules = asked[colorScheme];
      if (!rules) continue;
      await page.emulateMedia({ colorScheme });
      const faults = await faultsOn(page, rules);
      if (faults.length > 0) found[`${name}, ${colorScheme}`] = faults;
    }
  };
  return { found, check };
}

async function walk(width: number): Promise<Record<string, string[]>> {
  await using opened = await studio.signedIn({
    colorScheme: "light",
    reducedMotion: "reduce",
    viewport: { width, height: 800 },
  });
  const { page } = opened;
  const { found, check } = checker(page, rulesAt(width));
  for (const path of paths) {
    await goTo(page, path);
    await check(path);
  }
  return found;
}

// The two widths are walked side by side. Generous, because the machine may be busy.
test("no fault on any page: wide and narrow, and the wide one in the dark too", async () => {
  const [wide, narrow] = await Promise.all([walk(1280), walk(360)]);
  expect({ wide, narrow }).toEqual({ wide: {}, narrow: {} });
}, 600_000);

test.each([1280, 360])(
  "no fault in dialogs, menus and errors at %i px",
  async (width) => {
    await using opened = await studio.signedIn({
      colorScheme: "light",
      reducedMotion: "reduce",
      viewport: { width, height: 800 },
    });
    const { page } = opened;
    const { found, check } = checker(page, rulesAt(width));
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Find or do" }).waitFor();
    await check("palette");
    await page.keyboard.press("Escape");
    if (width === 360) await page.getByRole("button", { name: "Menu", exact: true }).click();
    await page.getByRole("button", { name: "Account menu" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await check("account menu");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Create", exact: true }).first().click();
    await page.getByRole("link", { name: "Flow", exact: true }).waitFor();
    await check("what one can make");
    await page.keyboard.press("Escape");
    for (const path of ["/studio/core/prompts/new", "/studio/cms/pages/new"]) {
      await goTo(page, path);
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByRole("alert").first().waitFor();
      await check(`errors of ${path}`);
    }
    await page.getByRole("button", { name: "Show as API" }).click();
    await page.getByRole("dialog", { name: "Show as API" }).waitFor();
    await check("show as API");
    await page.keyboard.press("Escape");
    await goTo(page, "/studio/connect/flows/fails?step=0");
    await page.getByLabel("What it says", { exact: true }).fill("{{ in");
    await page.getByRole("option").first().waitFor();
    await check("data that is put in");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+s"); // the panel covers the bar of a phone
    await page.getByText("These steps cannot be published yet").waitFor();
    const panel = page.getByRole("complementary");
    await panel.getByRole("button", { name: "Close", exact: true }).click();
    await page.locator('[data-add="0"]').click();
    await page.getByLabel("Find a step").waitFor();
    await check("a step to add, over a program that is refused");
    await goTo(page, "/studio/connect/flows/advice?step=test");
    await page.getByRole("button", { name: "Run the test" }).click();
    await page.locator("[data-path] .out").first().waitFor();
    await check("a flow that was tested");
    await studio.app.patch("/core/dbs/orders.json", { db: { access: null, public_methods: null } });
    await goTo(page, "/studio/core/dbs/orders/public");
    await page.getByRole("button", { name: "Share", exact: true }).click();
    const share = page.getByRole("dialog", { name: "Share Orders" });
    await share.getByRole("button", { name: "Share it with chosen people only" }).click();
    await share.getByRole("combobox", { name: /People, teams or roles/ }).fill("Guests");
    await page.keyboard.press("Enter");
    await check("choosing with whom a table is shared");
    await share.getByRole("button", { name: "Add", exact: true }).click();
    await share.getByRole("button", { name: "Limits for Guests" }).click();
    await share.getByRole("button", { name: "Add a condition" }).click();
    await check("a table that is shared within limits");
    await share.getByRole("tab", { name: "Public form" }).click();
    await share.getByRole("switch").check();
    await share.getByText("Fields asked for").waitFor();
    await check("a public form");
    await page.keyboard.press("Escape");
    await goTo(page, "/studio/cms/sites/acme");
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog", { name: "Delete" }).waitFor();
    await check("deleting a site");
    expect(found).toEqual({});
  },
  300_000,
);
