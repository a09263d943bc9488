/** What others change while one looks, in Chromium. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../harness.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
beforeAll(async () => {
  studio = await startStudio();
});
afterAll(() => studio.stop());

async function add(code: string, prompt: object = {}): Promise<string> {
  const answer = await studio.app.post("/core/prompts.json", {
    prompt: { name: `Prompt ${code}`, code, content: "One", ...prompt },
  });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.json.id;
}
const change = (id: string, prompt: object) => studio.app.patch(`/core/prompts/${id}.json`, { prompt });

/** The page at a path of the Studio, which follows the lists by now. */
async function opened(path: string) {
  const shown = await studio.signedIn();
  const stream = shown.page.waitForResponse((response) => response.url().includes("/core/events?"));
  await shown.page.goto(`${studio.app.origin}/studio${path}`);
  await stream;
  return shown;
}

describe("the list of prompts", () => {
  test("shows what others change and delete where it is, and offers what they make", async () => {
    const [first, second] = [await add("first"), await add("second")];
    await using shown = await opened("/core/prompts");
    const { page, faults } = shown;
    const grid = page.getByRole("grid", { name: "Prompts" });
    const rows = grid.locator("tbody tr");
    await rows.filter({ hasText: "Prompt second" }).waitFor();
    const names = async () => (await rows.locator("td > a").allTextContents()).map((name) => name.trim());
    const before = await names();
    await change(first, { name: "Prompt renamed" });
    await grid.locator("tr.changed").filter({ hasText: "Prompt renamed" }).waitFor();
    expect(await names()).toEqual(before.map((name) => (name === "Prompt first" ? "Prompt renamed" : name)));
    await studio.app.request("DELETE", `/core/prompts/${second}.json`);
    await grid.locator("tr.gone").getByText("no longer in this list").waitFor();
    expect(await names()).toHaveLength(before.length);
    await add("third");
    const offer = page.getByRole("button", { name: "Show 1 new one" });
    await offer.waitFor();
    expect(await names()).not.toContain("Prompt third");
    await offer.click();
    await rows.filter({ hasText: "Prompt third" }).waitFor();
    expect(await names()).not.toContain("Prompt second");
    expect(faults).toEqual([]);
  });

  test("has no place for what one has deleted oneself, once that is done", async () => {
    const id = await add("own");
    await using shown = await opened("/core/prompts");
    const { page } = shown;
    await page.clock.install();
    const row = page.getByRole("row").filter({ hasText: "Prompt own" });
    await row.getByRole("checkbox").check();
    await page.getByRole("button", { name: "Delete" }).click();
    await row.waitFor({ state: "detached" });
    await page.clock.fastForward(11_000);
    await eventually(async () => (await studio.app.get(`/core/prompts/${id}.json`)).status === 404);
    const other = await add("other");
    await page.getByRole("button", { name: "Show 1 new one" }).waitFor();
    expect([await row.count(), await page.locator("tr.gone").count()]).toEqual([0, 0]);
    await studio.app.request("DELETE", `/core/prompts/${other}.json`);
  });

  test("shows what was deleted once it is there again", async () => {
    const { json } = await studio.app.post("/core/apps.json", {
      app: { name: "Keeps", app_engine: "html", css_engine: "none", source_code: "<p>1</p>" },
    });
    const path = `/core/apps/${json.id}/storage/draft`;
    const store = () => studio.app.request("PUT", path, { value: 1 });
    expect((await store()).status).toBe(200);
    await using shown = await studio.signedIn({ at: `/studio/core/apps/${json.id}?tab=data` });
    const { page } = shown;
    const key = page.getByText("draft", { exact: true });
    await key.waitFor();
    await page.clock.install();
    await page.getByRole("button", { name: "Delete draft" }).click();
    await key.waitFor({ state: "detached" });
    await page.clock.fastForward(11_000);
    await eventually(async () => (await studio.app.get(path)).json.value === null);
    expect((await store()).status).toBe(200);
    // The page is not loaded anew.
    await page.getByRole("link", { name: "Settings", exact: true }).first().click();
    await key.waitFor({ state: "detached" });
    await page.goBack();
    await key.waitFor();
  });

  test("says which built-in prompts others replace", async () => {
    await using shown = await opened("/core/prompts/system");
    const { page } = shown;
    await page.locator("#built-in-common_api").waitFor();
    await add("common_api", { name: "Ours" });
    await page.locator("#built-in-common_api").getByRole("link", { name: "Ours" }).waitFor();
  });
});

test.each([
  ["People", "/account/people", "/account/users", "user", { login: "zoe", name: "Zoe", password: "a long secret" }],
  ["Access tokens", "/account/tokens", "/account/api_tokens", "api_token", { name: "Zoe" }],
])("the list %s shows what others change, and offers what they make", async (name, path, api, key, body) => {
  const made = await studio.app.post(`${api}.json`, { [key]: body });
  expect([made.status, made.text]).toEqual([201, expect.any(String)]);
  await using shown = await opened(path);
  const { page, faults } = shown;
  const grid = page.getByRole("grid", { name });
  await grid.getByText("Zoe", { exact: true }).waitFor();
  await studio.app.patch(`${api}/${made.json.id}.json`, { [key]: { name: "Zoe Nowak" } });
  await grid.locator("tr.changed").getByText("Zoe Nowak").waitFor();
  const other = { ...body, name: "Max", ...("login" in body && { login: "max" }) };
  expect((await studio.app.post(`${api}.json`, { [key]: other })).status).toBe(201);
  await page.getByRole("button", { name: "Show 1 new one" }).click();
  await grid.getByText("Max", { exact: true }).waitFor();
  expect(faults).toEqual([]);
});

describe("an open prompt", () => {
  test("shows the version of somebody else while nothing was typed", async () => {
    const id = await add("open");
    await using shown = await opened(`/core/prompts/${id}`);
    const { page, faults } = shown;
    await page.locator(".cm-content").getByText("One").waitFor();
    await change(id, { name: "Theirs", content: "Two" });
    await page.getByRole("heading", { level: 1, name: "Theirs" }).waitFor();
    await page.locator(".cm-content").getByText("Two").waitFor();
    await page.locator("[data-preview]").getByText("Two").waitFor();
    await page.getByText("Their version is shown.").waitFor();
    // What is saved next is no conflict.
    await page.getByLabel("Name", { exact: true }).fill("Mine");
    await page.getByRole("button", { name: "Save" }).click();
    await eventually(async () => (await studio.app.get(`/core/prompts/${id}.json`)).json.name === "Mine");
    await page.getByText("Their version is shown.").waitFor({ state: "detached" });
    expect(faults).toEqual([]);
  });

  test("keeps what was typed, and merges it with theirs", async () => {
    const id = await add("typed");
    await using shown = await opened(`/core/prompts/${id}`);
    const { page, faults } = shown;
    await page.locator(".cm-content").getByText("One").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("Mine");
    await change(id, { content: "Two" });
    await page.getByText("What you typed is kept.").waitFor();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Mine");
    expect(await page.locator(".cm-content").textContent()).toBe("One");
    await page.getByRole("button", { name: "Merge with mine" }).click();
    await page.locator(".cm-content").getByText("Two").waitFor();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Mine");
    await page.getByRole("button", { name: "Save" }).click();
    await eventually(async () => (await studio.app.get(`/core/prompts/${id}.json`)).json.name === "Mine");
    expect((await studio.app.get(`/core/prompts/${id}.json`)).json.content).toBe("Two");
    expect(faults).toEqual([]);
  });

  test("says that somebody else has deleted it", async () => {
    const id = await add("deleted");
    await using shown = await opened(`/core/prompts/${id}`);
    const { page } = shown;
    await page.getByLabel("Name", { exact: true }).fill("Mine");
    await studio.app.request("DELETE", `/core/prompts/${id}.json`);
    await page.getByText("Somebody else has deleted this meanwhile.").waitFor();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Mine");
  });

  test("has their versions, and the cascade of now", async () => {
    const id = await add("history");
    await change(id, { content: "Two" });
    await using shown = await opened(`/core/prompts/${id}`);
    const { page } = shown;
    await page.getByRole("region", { name: "Version 1 and version 2" }).waitFor();
    await change(id, { content: "Three" });
    await page.getByRole("region", { name: "Version 2 and version 3" }).waitFor();
    const steps = page.getByRole("region", { name: "Who gets what", exact: true }).getByRole("listitem");
    await steps.getByText("You get this").waitFor();
    await add("history", { name: "Personal", scope: "user" });
    await steps.getByText("Personal", { exact: true }).waitFor();
    expect(await steps.first().textContent()).toContain("Personal");
  });
});

describe("chosen rows", () => {
  test("of a list are chosen after a reload of its rows and of the page", async () => {
    const id = await add("chosen");
    await using shown = await opened("/core/prompts");
    const { page, faults } = shown;
    const box = page.getByRole("checkbox", { name: "Choose Prompt chosen" });
    await box.check();
    await page.waitForURL((url) => url.searchParams.get("chosen") === id);
    await page.getByRole("button", { name: "Reload" }).click();
    await page.reload();
    await page.getByText("1 chosen").waitFor();
    expect(await box.isChecked()).toBe(true);
    await box.uncheck();
    await page.waitForURL((url) => !url.searchParams.has("chosen"));
    expect(faults).toEqual([]);
  });

  test("of a database too, but for those that the filters no longer find", async () => {
    await studio.app.post("/core/dbs.json", { db: { name: "Guests", code: "guests" } });
    const operations = ["Anna", "Bert", "Cleo"].map((name) => ({ op: "create", data: { name } }));
    const made = await studio.app.post("/core/dbs/guests/batch.json", { operations });
    const [anna, bert] = made.json.results.map(({ id }: { id: string }) => id);
    await using shown = await studio.signedIn({ at: "/studio/core/dbs/guests/records" });
    const { page, faults } = shown;
    for (const name of ["Anna", "Bert"]) await page.getByRole("checkbox", { name: `Choose ${name}` }).check();
    await page.waitForURL((url) => url.searchParams.get("chosen") === `${anna},${bert}`);
    await page.getByRole("button", { name: "Fields, import, export and more" }).click();
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByText("Chosen: 2").waitFor();
    await studio.app.request("DELETE", `/core/dbs/guests/records/${bert}.json`);
    await page.reload();
    await page.getByText("Chosen: 1").waitFor();
    expect(await page.getByRole("checkbox", { name: "Choose Anna" }).isChecked()).toBe(true);
    await page.waitForURL((url) => url.searchParams.get("chosen") === anna);
    // What the filter hides is not chosen: nobody deletes what they do not see.
    await page.goto(
      `${studio.app.origin}/studio/core/dbs/guests/records?${new URLSearchParams({ "filter[name]": "Cleo", chosen: anna })}`,
    );
    await page.getByRole("grid", { name: "Records" }).getByText("Cleo").waitFor();
    await page.waitForURL((url) => !url.searchParams.has("chosen"));
    expect(faults).toEqual([]);
  });
});
