/** Where the Studio shows what is not its own: apps in modules, views and tiles, and pages of plugins. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { definePlugin } from "platform";
import type { Page } from "playwright-core";
import { modules } from "../../plugins/apps/choices.ts";
import { plugins } from "../../plugins/index.ts";
import sample from "../../scripts/new-plugin/plugin.ts";
import { launchChromium, type TestBrowser } from "../chromium.ts";
import { eventually, startTestApp, type TestApp } from "../harness.ts";
import { atStudio } from "./studio-fixture.ts";

/** Pages as a plugin of a folder has them. */
const pageModule = new URL("../../scripts/new-plugin/studio/overview.page.ts", import.meta.url);
const work = definePlugin({
  name: "work",
  studio: [
    { path: "crm/contacts", title: { en: "Contacts" }, view: "contacts/index", module: pageModule },
    { path: "organize/tasks/:task", title: { en: "Task" }, view: "tasks/show", module: pageModule },
  ],
  setup: () => ({}),
});

let app: TestApp;
let browser: TestBrowser;
beforeAll(async () => {
  [app, browser] = await Promise.all([startTestApp({ plugins: [...plugins, sample, work] }), launchChromium()]);
});
afterAll(async () => {
  await browser.close();
  await app.stop();
});

async function make(name: string, fields: object): Promise<string> {
  const source_code = `<p>${name} is here</p><pre id="out"></pre><script>out.textContent = location.search</script>`;
  const answer = await app.post("/core/apps.json", {
    app: { name, app_engine: "html", css_engine: "none", source_code, ...fields },
  });
  expect(answer.status).toBe(201);
  return answer.json.id;
}

/** What an app knows of where it is, and what it reaches of the page around it. */
const telling = `<p>here</p><button>Press</button><pre id="out"></pre><script>
  const { user, locale, module, view, record_id } = CoreAppContext;
  const reach = (look) => { try { return String(look()); } catch (error) { return error.name; } };
  const reached = [self.origin, reach(() => parent.document.title), reach(() => localStorage.length)];
  out.textContent = JSON.stringify({ user: user.login, locale, module, view, record_id, reached });
</script>`;
/** Its storage is its own. */
const reached = ["null", "SecurityError", "0"];

interface Place {
  readonly name: string;
  readonly url_code: string;
  readonly show_in_module: string;
}

/** The first is made by the API, the others are its copies: to make an app is dear. */
async function makeIn([first, ...others]: readonly Place[]): Promise<void> {
  const id = await make(first?.name ?? "", { ...first, source_code: telling });
  for (const place of others)
    await app.sql`
      insert into apps
      select (jsonb_populate_record(apps, ${JSON.stringify({ ...place, id: crypto.randomUUID() })}::text::jsonb)).*
      from apps where id = ${id}`;
}

/** The only frame of its place is the app's: isolated, and told where it is. */
async function expectApp(page: Page, name: string, where: object, place = "main"): Promise<void> {
  const out = page.frameLocator(`iframe[title="${name}"]`).locator("#out");
  await out.filter({ hasText: "reached" }).waitFor();
  const told = { user: "admin", locale: "en", module: null, view: null, record_id: null, ...where, reached };
  expect([name, JSON.parse((await out.textContent()) ?? "")]).toEqual([name, told]);
  expect([name, await page.locator(`${place} iframe`).count()]).toEqual([name, 1]);
}

/** What is loaded later may take the focus, as the record in a dialog does: then a person begins again. */
async function expectKeyboard(page: Page, name: string): Promise<void> {
  const frame = page.locator(`iframe[title="${name}"]`);
  const pressed = page.frameLocator(`iframe[title="${name}"]`).locator("button:focus");
  await eventually(async () => {
    // From what comes before it: an editor takes the key for itself until Esc.
    await frame.evaluate((element) => {
      const all = [...document.querySelectorAll<HTMLElement>("a[href], button, input, select, textarea, h1[tabindex]")];
      const before = all.filter((one) => one.checkVisibility() && element.compareDocumentPosition(one) & 2);
      for (const one of before.toReversed()) {
        one.focus();
        if (document.activeElement === one) return;
      }
    });
    const isIn = () => frame.evaluate((element) => document.activeElement === element);
    for (let tabs = 0; tabs < 5 && !(await isIn()); tabs++) await page.keyboard.press("Tab");
    return (await pressed.count()) > 0;
  }, `the focus in ${name}`);
}

/** Without loading the Studio anew. */
const go = (page: Page, path: string) =>
  page.evaluate((href) => {
    const link = document.createElement("a");
    link.href = href;
    document.body.append(link);
    link.click();
    link.remove();
  }, `/studio/${path}`);

test("an app stands in the menu of each of the fourteen modules, with breadcrumbs and its own page", async () => {
  // One is called as a page of a site is, below a site that could be called `apps`.
  const codeOf = (module: string) => (module === "cms" ? "pages" : `in-${module}`);
  const places = modules.map((name) => ({ name: `In ${name}`, url_code: codeOf(name), show_in_module: name }));
  await makeIn(places);
  const { json } = await app.get("/core/modules.json");
  expect(json.map(({ name }: { name: string }) => name)).toEqual([...modules]);
  await using opened = await atStudio(browser, app.origin);
  const { page, faults } = opened;
  const menu = page.getByRole("navigation", { name: "Menu", exact: true });
  for (const module of modules) {
    const name = `In ${module}`;
    await menu.getByRole("link", { name, exact: true }).click();
    await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/studio/${module}/apps/${codeOf(module)}`);
    await expectApp(page, name, { module });
  }
  await expectKeyboard(page, `In ${modules.at(-1)}`);
  // The module has a page of its own.
  const crumbs = page.getByRole("navigation", { name: "Breadcrumbs", exact: true });
  expect(await crumbs.textContent()).toContain("Account / In account");
  await go(page, "crm/apps/in-crm");
  await crumbs.getByRole("link", { name: "CRM", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "CRM", exact: true }).waitFor();
  await page.getByRole("main").getByRole("link", { name: "In crm" }).click();
  await page.getByRole("heading", { level: 1, name: "In crm", exact: true }).waitFor();
  await page.goto(`${app.origin}/studio/nowhere`);
  await page.getByRole("heading", { level: 1, name: "There is nothing at this address." }).waitFor();
  expect(faults).toEqual([]);
}, 600_000);

test("an app of a view is injected there once, and knows the record: in plugins' views and in the Studio's own", async () => {
  const id = async (path: string, body: object) => {
    const answer = await app.post(path, body);
    expect([path, answer.status]).toEqual([path, 201]);
    return answer.json.id;
  };
  const hook = await id("/account/webhooks.json", {
    webhook: { source_type: "Cms::Page", kind: "update", url: "https://hook.example/" },
  });
  const connector = await id("/connect/connectors.json", {
    connector: { name: "C", code: "weather.v1", kind: "core/custom_connector", url: "https://weather.example" },
  });
  await id("/core/dbs.json", { db: { name: "Notes", code: "notes", schema: { fields: { text: "string" } } } });
  const record = await id("/core/dbs/notes/records.json", { record: { data: { text: "a" } } });
  await id("/cms/sites.json", { site: { name: "Acme", code: "acme", locale: "en" } });
  const sitePage = await id("/cms/pages.json", { page: { name: "Home", code: "home", path: "", site_code: "acme" } });
  const views: [view: string, path: string, record: number | string | null][] = [
    ["contacts/index", "crm/contacts", null],
    ["tasks/show", "organize/tasks/7", "7"],
    ["webhooks/show", `account/webhooks/${hook}`, hook],
    ["connectors/show", "connect/connectors/weather.v1", connector],
    ["records/index", "core/dbs/notes/records", null],
    ["records/show", `core/dbs/notes/records?open=${record}`, record],
    ["pages/index", "cms/acme/pages", null],
    ["pages/show", `cms/acme/pages/${sitePage}`, sitePage],
  ];
  await makeIn(views.map(([view], at) => ({ name: `At ${view}`, url_code: `at-${at}`, show_in_module: view })));
  await using opened = await atStudio(browser, app.origin);
  const { page, faults } = opened;
  for (const [view, path, about] of views) {
    await go(page, path);
    // The panel of a record stands beside the list, which has an app of its own.
    const place = view === "records/show" ? "aside.record" : "main";
    await expectApp(page, `At ${view}`, { view, record_id: about === null ? null : `${about}` }, place);
    await expectKeyboard(page, `At ${view}`);
  }
  expect(faults).toEqual([]);
}, 600_000);

describe("the dashboard", () => {
  test("is arranged by the keyboard, and stays so", async () => {
    await make("Clock", { dashboard_widget: true });
    await make("Weather", { dashboard_widget: true });
    await using opened = await atStudio(browser, app.origin);
    const { page } = opened;
    const tiles = () =>
      page.getByRole("article").evaluateAll((found) => found.map((one) => one.getAttribute("aria-label")));
    await page.getByRole("button", { name: "Edit tiles" }).press("Enter");
    for (const name of ["Clock", "Weather"]) {
      await page.getByRole("combobox", { name: "Add a tile" }).selectOption({ label: name });
      await page.getByRole("button", { name: "Add a tile" }).press("Enter");
    }
    await page.getByRole("button", { name: "Move earlier: Weather" }).press("Enter");
    await page.getByRole("button", { name: "Wider: Weather" }).press("Enter");
    expect(await tiles()).toEqual(["Weather", "Clock"]);
    await eventually(async () => {
      const { json } = await app.get("/account/me/preferences.json");
      return json["studio.dashboard"]?.tiles?.[0]?.width === 2;
    });
    await page.reload();
    await page.frameLocator('iframe[title="Weather"]').getByText("Weather is here").waitFor();
    expect(await tiles()).toEqual(["Weather", "Clock"]);
    await page.getByRole("button", { name: "Edit tiles" }).click();
    await page.getByRole("button", { name: "Remove: Clock" }).click();
    expect(await tiles()).toEqual(["Weather"]);
  });

  test("holds a hostile tile: it cannot lead the page away, open dialogs or drown it in messages", async () => {
    const source_code = `<script>
      try { top.location = "https://evil.invalid/"; } catch {}
      try { parent.location = "/logout"; } catch {}
      alert("hello"); confirm("really?");
      for (let n = 0; n < 20000; n++) parent.postMessage({ type: "core:height", app: "x", height: 1e9 }, "*");
      document.title = "tried";
      addEventListener("DOMContentLoaded", () => document.body.append("tried"));
    </script>`;
    const id = await make("Hostile", { dashboard_widget: true, source_code });
    await app.patch("/account/me/preferences.json", {
      preferences: { "studio.dashboard": { tiles: [{ app: id, width: 1 }] } },
    });
    await using opened = await atStudio(browser, app.origin);
    const { page } = opened;
    const dialogs: string[] = [];
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    await page.reload();
    await page.frameLocator('iframe[title="Hostile"]').getByText("tried").waitFor();
    expect(page.url()).toBe(`${app.origin}/studio`);
    expect(dialogs).toEqual([]);
    expect((await page.locator('iframe[title="Hostile"]').boundingBox())?.height).toBeLessThan(400);
    await page.getByRole("link", { name: "Prompts", exact: true }).first().click();
    await page.getByRole("heading", { level: 1, name: "Prompts" }).waitFor();
    await app.patch("/account/me/preferences.json", { preferences: { "studio.dashboard": null } });
  });
});

test("the dashboard names what ends soon, and leads there", async () => {
  const expires_at = new Date(Date.now() + 3 * 86_400_000).toISOString();
  await app.post("/account/api_tokens.json", { api_token: { name: "Backup job", expires_at } });
  await using opened = await atStudio(browser, app.origin);
  const { page } = opened;
  const region = page.getByRole("region", { name: "Needs attention" });
  await region.getByText("ends", { exact: true }).waitFor();
  await region.getByRole("link", { name: "Backup job" }).click();
  await page.getByRole("heading", { level: 1, name: "Backup job" }).waitFor();
});

describe("a plugin's page", () => {
  test("is in the menu and the palette, talks to the API and goes away", async () => {
    await using opened = await atStudio(browser, app.origin);
    const { page, faults } = opened;
    await page.getByRole("navigation", { name: "Menu" }).getByRole("link", { name: "SamplePlugin" }).click();
    await page.getByRole("heading", { level: 1, name: "SamplePlugin" }).waitFor();
    await page.getByText("No items yet.").waitFor();
    await page.getByLabel("Title").fill("Shelf <b>");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByRole("gridcell", { name: "Shelf <b>", exact: true }).waitFor();
    await page.getByRole("status").getByText("Shelf <b> is added.").waitFor();
    expect((await app.get("/sample-plugin/items")).json).toMatchObject([{ title: "Shelf <b>" }]);
    await page.getByLabel("Title").fill(" ");
    await page.getByRole("button", { name: "Add" }).click();
    await page
      .locator("studio-field[name=title]")
      .getByText("must not be blank")
      .or(page.locator("studio-field .wrong"))
      .first()
      .waitFor();
    // Its resource has a list of its own, made from the API's description.
    await page.getByRole("link", { name: "Items" }).click();
    await page.getByRole("grid").getByText("Shelf <b>").waitFor();
    expect(faults.filter((fault) => !fault.includes("422"))).toEqual([]);
  });

  test("is not there for those who lack its privilege", async () => {
    const password = "a long pass phrase";
    await app.post("/account/users.json", { user: { login: "guest2", name: "Gina", role: "guest", password } });
    await using opened = await atStudio(browser, app.origin, { login: "guest2", password });
    const { page } = opened;
    expect(await page.locator("#menu").textContent()).not.toContain("SamplePlugin");
    await page.goto(`${app.origin}/studio/sample-plugin/overview`);
    await page.getByRole("heading", { level: 1, name: "There is nothing at this address" }).waitFor();
  });

  test("hears of changes of a database, until it is left", async () => {
    await app.post("/core/dbs.json", { db: { name: "Heard", code: "heard" } });
    const body = `export function mount(element, { live }) {
      const end = live("heard", ({ type, data }) => element.append(type + ":" + JSON.parse(data).data.n + " "));
      return () => { end(); globalThis.ended = true; };
    }`;
    await using opened = await atStudio(browser, app.origin);
    const { page } = opened;
    await page.route("**/studio/ext/**", (route) => route.fulfill({ contentType: "text/javascript", body }));
    const followed = page.waitForResponse("**/core/dbs/heard/events");
    await page.goto(`${app.origin}/studio/sample-plugin/overview`);
    await followed;
    const { id } = (await app.post("/core/dbs/heard/records.json", { record: { data: { n: 1 } } })).json;
    await page.getByText("create:1").waitFor();
    await app.patch(`/core/dbs/heard/records/${id}.json`, { record: { data: { n: 2 } } });
    await page.getByText("create:1 update:2").waitFor();
    await app.delete(`/core/dbs/heard/records/${id}.json`);
    await page.getByText("create:1 update:2 destroy:2").waitFor();
    await page.getByRole("link", { name: "Apps" }).first().click();
    await page.waitForFunction(() => "ended" in globalThis);
  });

  test("of a module that fails says so, and nothing else breaks", async () => {
    await using opened = await atStudio(browser, app.origin);
    const { page } = opened;
    await page.route("**/studio/ext/**", (route) =>
      route.fulfill({ contentType: "text/javascript", body: "export const other = 1;" }),
    );
    await page.goto(`${app.origin}/studio/sample-plugin/overview`);
    await page.getByRole("alert").getByText("exports no mount").waitFor();
    await page.getByRole("link", { name: "Apps" }).first().click();
    await page.getByRole("heading", { level: 1, name: "Apps" }).waitFor();
  });
});
