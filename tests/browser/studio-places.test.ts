/** Where the Studio shows what is not its own: apps in modules, views and tiles, and pages of plugins. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import sample from "../../scripts/new-plugin/plugin.ts";
import { launchChromium } from "../chromium.ts";
import { eventually, startTestApp, type TestApp } from "../harness.ts";
import { atStudio } from "./studio-fixture.ts";

let app: TestApp;
let browser: Browser;
beforeAll(async () => {
  [app, browser] = await Promise.all([startTestApp({ plugin: sample }), launchChromium()]);
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

test("an app of a module is in its menu, with breadcrumbs", async () => {
  await make("Deals", { show_in_module: "crm" });
  await using opened = await atStudio(browser, app.origin);
  const { page, faults } = opened;
  const menu = page.getByRole("navigation", { name: "Menu" });
  await menu.getByRole("heading", { name: "CRM" }).waitFor();
  await menu.getByRole("link", { name: "Deals" }).click();
  await page.getByRole("heading", { level: 1, name: "Deals" }).waitFor();
  expect(await page.getByRole("navigation", { name: "Breadcrumbs" }).textContent()).toContain("CRM / Deals");
  await page.frameLocator("iframe").getByText("Deals is here").waitFor();
  await page.reload();
  await page.frameLocator("iframe").getByText("Deals is here").waitFor();
  // The module has a page of its own.
  await page.getByRole("navigation", { name: "Breadcrumbs" }).getByRole("link", { name: "CRM" }).click();
  await page.getByRole("heading", { level: 1, name: "CRM" }).waitFor();
  await page.getByRole("main").getByRole("link", { name: "Deals" }).click();
  await page.getByRole("heading", { level: 1, name: "Deals" }).waitFor();
  await page.goto(`${app.origin}/studio/billing`);
  await page.getByRole("heading", { level: 1, name: "There is nothing at this address." }).waitFor();
  expect(faults).toEqual([]);
});

test("an app of a view is injected there, and knows the record", async () => {
  await make("Helper", { show_in_module: "prompts/show" });
  const id = (await app.post("/core/prompts.json", { prompt: { name: "P", code: "with_helper", content: "x" } })).json
    .id;
  await using opened = await atStudio(browser, app.origin);
  const { page } = opened;
  await page.goto(`${app.origin}/studio/core/prompts/${id}`);
  await page.getByRole("region", { name: "Helper" }).waitFor();
  await page.frameLocator("iframe").getByText(`record_id=${id}`).waitFor();
});

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
    await page.getByRole("gridcell", { name: "Shelf <b>" }).waitFor();
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
