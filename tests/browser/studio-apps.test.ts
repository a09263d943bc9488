/** The Studio's pages of apps in Chromium: described, mended, published, compared, restored; and a hostile one. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { eventually, person } from "../harness.ts";
import { startModel } from "../model-server.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
beforeAll(async () => {
  studio = await startStudio();
});
afterAll(() => studio.stop());

const editorOf = (page: Page) => page.locator('.cm-content[aria-label="Source code"]');
const previewOf = (page: Page) => page.frameLocator('iframe[title="Preview"]');
const publish = (page: Page) => page.getByRole("button", { name: "Publish", exact: true });

/** Presses Tab until the focus is there; an editor is left by Esc first. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < 150; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
  }
  throw new Error("the focus does not get there");
}

/** Requests of a page that was left are no faults. */
async function make(name: string, fields: object = {}): Promise<string> {
  const source_code = `<h1>${name}</h1>\n<p>Here</p>\n`;
  const { status, json } = await studio.app.post("/core/apps.json", {
    app: { name, app_engine: "html", css_engine: "none", source_code, ...fields },
  });
  expect(status).toBe(201);
  return json.id;
}

async function open(page: Page, path: string): Promise<void> {
  await page.goto(`${studio.app.origin}/studio/core/apps/${path}/build`);
  await editorOf(page).waitFor();
}

async function rewrite(page: Page, source: string): Promise<void> {
  await editorOf(page).focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(source);
}

const sourceOf = async (id: string): Promise<string> =>
  (await studio.app.get(`/core/apps/${id}.json`)).json.source_code;

test("the keyboard alone: a starter, a mistake mended at its line, saved, and its page opened", async () => {
  await using opened = await studio.signedIn({ at: "/studio/core/apps/new" });
  const { page, faults } = opened;
  await page.getByRole("radio", { name: "Blank", checked: true }).waitFor();
  await tabTo(page, page.getByRole("radio", { name: "Blank" }));
  await page.keyboard.press("ArrowDown");
  expect(await page.getByRole("radio", { name: "Counter" }).isChecked()).toBe(true);
  await tabTo(page, page.getByLabel("Name", { exact: true }));
  await page.keyboard.type("Clicks");
  await page.keyboard.press("Control+s");
  await page.getByRole("heading", { level: 1, name: "Clicks" }).waitFor();
  await previewOf(page).getByRole("button", { name: "One more" }).waitFor();

  await editorOf(page).waitFor();
  await tabTo(page, editorOf(page));
  await page.keyboard.press("Control+Home");
  await page.keyboard.insertText("{#if}\n");
  const fault = page.getByRole("button", { name: /^Line 1, column \d+: / });
  await fault.waitFor();
  await page.getByText("The code has a mistake").waitFor();
  await tabTo(page, fault);
  await page.keyboard.press("Enter");
  expect(await page.locator(".cm-activeLine").textContent()).toBe("{#if}");
  await page.keyboard.press("Home");
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Delete");
  await page.keyboard.press("Control+Home");
  await page.keyboard.insertText("<p>Mended</p>\n");
  await previewOf(page).getByText("Mended").waitFor();
  expect(await fault.count()).toBe(0);
  await page.keyboard.press("Control+s");
  await page.getByText("Saved", { exact: true }).last().waitFor();
  await eventually(async () => (await sourceOf("clicks")).startsWith("<p>Mended</p>\n<script>"));

  const link = page.getByRole("link", { name: "Open the app" });
  await tabTo(page, link);
  const [own] = await Promise.all([page.context().waitForEvent("page"), page.keyboard.press("Enter")]);
  await own.frameLocator("iframe").getByText("Mended").waitFor();
  // The refusal of the mistake is Chromium's own note.
  expect(faults.filter((one) => !one.includes("422"))).toEqual([]);
});

describe("described", () => {
  const model = startModel();
  afterAll(() => model.stop());
  const answer = (words: string, source: string) => ({ text: `${words}\n\n\`\`\`svelte\n${source}\`\`\`\n` });

  test("without a model, what is missing is said on arrival, with the way out", async () => {
    const id = await make("No model");
    await using opened = await studio.signedIn({ at: `/studio/apps/${id}/build` });
    const { page } = opened;
    await page.getByText("No model is set up").waitFor();
    await page.getByRole("link", { name: "Connect a model" }).click();
    await page.waitForURL(/automation\/connections\/new/);
  });

  test("by the keyboard alone: built by a model that mends its mistake, taken back, published, and put on the home page", async () => {
    const fields = { api: "openai", model: "double-1" };
    const connector = { name: "Double", code: "double", kind: "core/llm", url: model.url, fields };
    expect((await studio.app.post("/connect/connectors.json", { connector })).status).toBe(201);
    model.turns.push(
      answer("Here is the desk.", "<h1>Desk</h1>\n{#if}\n"),
      answer("Mended.", "<h1>Desk</h1>\n<p>To pack</p>\n"),
      answer("Now it is red.", "<h1>Red desk</h1>\n"),
    );
    await using opened = await studio.signedIn({ at: "/studio/apps/new" });
    const { page, faults } = opened;
    const what = page.getByLabel("What should it do?");
    await what.waitFor();
    await tabTo(page, page.getByLabel("Name", { exact: true }));
    await page.keyboard.type("Packing desk");
    await tabTo(page, what);
    await page.keyboard.type("What is to pack.");
    await page.keyboard.press("Control+s");

    const talk = page.getByRole("log", { name: "Conversation" });
    await talk.getByText("It compiles. Rounds with the compiler: 1.").waitFor();
    await previewOf(page).getByText("To pack").waitFor();
    expect(page.url()).toEndWith("/studio/apps/packing-desk/build");
    const [first, second] = model.asked();
    const told = JSON.stringify(first);
    for (const words of ["engine `svelte`", "What is to pack.", "Apps in Svelte 5", "Hello</h1>"])
      expect(told).toContain(words);
    expect(JSON.stringify(second)).toMatch(/The compiler says.*2:\d+ /);
    // Nobody else sees it yet.
    expect((await studio.app.get("/core/apps/packing-desk.json")).json).toMatchObject({ active: false });
    expect((await studio.app.get("/a/packing-desk")).status).toBe(404);

    await tabTo(page, page.getByLabel("Say what to change"));
    await page.keyboard.type("Make it red.");
    await page.keyboard.press("Enter");
    await previewOf(page).getByText("Red desk").waitFor();
    await tabTo(page, talk.getByRole("button", { name: "Take back" }).last());
    await page.keyboard.press("Enter");
    await previewOf(page).getByText("To pack").waitFor();
    await talk.getByRole("button", { name: "Put in again" }).waitFor();
    // The conversation and the code stay while one looks at the other parts.
    await tabTo(page, page.getByRole("main").getByRole("link", { name: "Settings", exact: true }));
    await page.keyboard.press("Enter");
    await tabTo(page, page.getByLabel("On the home page"));
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Control+s");
    // Each answer was a version of the draft.
    await page.getByText("Version 4 is live").waitFor();
    const saved = (await studio.app.get("/core/apps/packing-desk.json")).json;
    expect(saved).toMatchObject({ active: true, source_code: "<h1>Desk</h1>\n<p>To pack</p>\n" });
    await tabTo(page, page.getByRole("main").getByRole("link", { name: "Build", exact: true }));
    await page.keyboard.press("Enter");
    await talk.getByText("Make it red.").waitFor();
    expect((await studio.app.get("/core/tiles.json")).json).toMatchObject([{ name: "Packing desk" }]);
    // The refusal of the mistake is Chromium's own note.
    expect(faults.filter((one) => !one.includes("422"))).toEqual([]);
  });

  test("what does not compile in the end stands there with its mistakes, and a model that fails loses no word", async () => {
    const id = await make("Stubborn", { app_engine: "svelte", prompt: "You love bread." });
    await using opened = await studio.signedIn({ at: `/studio/apps/${id}/build` });
    const { page } = opened;
    const box = page.getByLabel("Say what to change");
    model.requests.length = 0;
    model.turns.push(...Array.from({ length: 4 }, () => answer("Here.", "<p>\n{#if}\n")));
    await box.fill("Break it.");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("It still does not compile after 3 tries.").waitFor();
    expect(model.asked()).toHaveLength(4);
    expect(JSON.stringify(model.asked()[0])).toContain("You love bread.");
    await page.getByRole("button", { name: /^Line 2, column \d+: / }).waitFor();
    await publish(page).click();
    await page.getByRole("alert").first().waitFor();
    expect(await sourceOf(id)).toContain("Stubborn");
    const { answer: speaks } = model;
    model.answer = () => Response.json({ error: { message: "no credit" } }, { status: 429 });
    await box.fill("Once more");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("no credit").waitFor();
    expect(await box.inputValue()).toBe("Once more");
    model.answer = speaks;
  });
});

describe("two people at one app", () => {
  test("who changed different fields both find their own", async () => {
    const id = await make("Shared");
    await using opened = await studio.signedIn({ at: `/studio/apps/${id}/build` });
    const { page } = opened;
    await editorOf(page).waitFor();
    await rewrite(page, "<h1>Mine</h1>");
    await page.getByText("Draft", { exact: true }).waitFor();
    await studio.app.patch(`/core/apps/${id}.json`, { app: { description: "theirs" } });
    await publish(page).click();
    await page.getByRole("alert").getByText("merged with yours").waitFor();
    await publish(page).click();
    await eventually(async () => (await sourceOf(id)) === "<h1>Mine</h1>");
    expect((await studio.app.get(`/core/apps/${id}.json`)).json.description).toBe("theirs");
  });

  test("who changed the same code are asked, and nothing is lost", async () => {
    const id = await make("Disputed");
    await using opened = await studio.signedIn({ at: `/studio/apps/${id}/build` });
    const { page } = opened;
    await editorOf(page).waitFor();
    await rewrite(page, "<h1>Mine</h1>");
    await page.getByText("Draft", { exact: true }).waitFor();
    await studio.app.patch(`/core/apps/${id}.json`, { app: { source_code: "<h1>Theirs</h1>" } });
    await page.keyboard.press("Control+s");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("<h1>Theirs</h1>").waitFor();
    await dialog.getByText("<h1>Mine</h1>").waitFor();
    expect(await sourceOf(id)).toBe("<h1>Theirs</h1>");
    await dialog.getByRole("button", { name: "Apply" }).click();
    await publish(page).click();
    await eventually(async () => (await sourceOf(id)) === "<h1>Mine</h1>");
    const versions = (await studio.app.get(`/core/apps/${id}/versions.json`)).json;
    expect(versions[1].source_code).toBe("<h1>Theirs</h1>");
  });
});

test("what was typed is offered again after a reload", async () => {
  const id = await make("Draft");
  await using opened = await studio.signedIn({ at: `/studio/apps/${id}/build` });
  const { page } = opened;
  await editorOf(page).waitFor();
  await rewrite(page, "<h1>Half done</h1>");
  await page.getByRole("status").getByText("Draft", { exact: true }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Restore" }).click();
  await editorOf(page).getByText("Half done").waitFor();
  expect(await sourceOf(id)).toContain("Draft");
});

test.each([
  ["js", "const a = 1;\n\nthrow new Error(`no ${a}`);\n", 3],
  ["svelte", "<script>\n  const a = 1;\n  // why\n\n  throw new Error(`no ${a}`);\n</script>\n\n<p>{a}</p>\n", 5],
])(
  "an error of a running app in %s leads to its line; another window is not listened to",
  async (app_engine, source_code, line) => {
    const id = await make(`Throws in ${app_engine}`, { app_engine, source_code });
    await using opened = await studio.signedIn({ at: `/studio/apps/${id}/build` });
    const { page } = opened;
    await editorOf(page).waitFor();
    const reports = page.getByRole("list", { name: "Messages of the app" });
    await reports.getByText("Error: no 1").waitFor();
    await page.evaluate(() => {
      for (const where of [window, document.querySelector("iframe")?.contentWindow])
        where?.postMessage({ type: "core:report", entries: [{ level: "error", text: "forged" }] }, "*");
    });
    await reports.getByRole("button", { name: `Line ${line}`, exact: true }).click();
    expect(await page.locator(".cm-activeLine").textContent()).toContain("throw new Error(`no ${a}`);");
    expect(await reports.getByText("forged").count()).toBe(0);
  },
);

test("a hostile app in the preview leads nowhere, opens no dialog, reaches no session, and its reports are text", async () => {
  const source_code = `<body><p id="out"></p><script>
    const tried = [];
    const attempt = (name, work) => { try { tried.push(name + "=" + work()); } catch (error) { tried.push(name + "!"); } };
    attempt("top", () => { top.location = "https://evil.invalid/"; return "led"; });
    attempt("parent", () => parent.document.title);
    attempt("cookie", () => document.cookie);
    attempt("storage", () => localStorage.length);
    attempt("alert", () => alert("hello"));
    attempt("confirm", () => confirm("really?"));
    for (let n = 0; n < 3000; n++)
      parent.postMessage({ type: "core:report", entries: [{ level: "<b>", text: "<img src=x onerror=alert(1)>" + "a".repeat(9000), count: 1e99, place: "app:1:1" }] }, "*");
    fetch("/account/me.json").then((answer) => answer.status, () => "refused").then((status) => { out.textContent = tried.join(" ") + " me=" + status; });
  </script></body>`;
  const id = await make("Hostile", { source_code });
  await using opened = await studio.signedIn();
  const { page } = opened;
  const dialogs: string[] = [];
  page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  const address = `${studio.app.origin}/studio/apps/${id}/build`;
  await open(page, id);
  const out = previewOf(page).locator("#out");
  await out.getByText("me=").waitFor();
  const said = (await out.textContent()) ?? "";
  expect(said).toContain("parent!");
  // Its own, which its page keeps.
  expect(said).toContain("cookie= storage=0");
  expect(said).not.toContain("me=200");
  const reports = page.getByRole("list", { name: "Messages of the app" });
  await reports.getByText("<img src=x onerror=alert(1)>").first().waitFor();
  expect(await reports.locator("img").count()).toBe(0);
  expect(await reports.getByRole("listitem").count()).toBeLessThanOrEqual(200);
  expect(dialogs).toEqual([]);
  expect(page.url()).toBe(address);
  // The page still answers.
  await page.locator("main").getByRole("link", { name: "Settings" }).click();
  await page.getByLabel("Description").waitFor();
});

test("a list of a table is made without code: chosen records, titles and words, on the home page, and as much as each may see", async () => {
  const { app } = studio;
  const admin = { to: "user:1", may: "manage" };
  const customers = { fields: { name: "string", city: "string" }, title_field: "name", indexed_fields: ["name"] };
  const status = {
    type: "string",
    label: "State",
    choices: [{ value: "new, open", label: { en: "New, and </script>", de: "Neu" } }, { value: "paid" }],
  };
  const total = { type: "number", format: "money", currency: "EUR" };
  const orders = { number: "string", customer: { type: "string", link: "customers" }, status, total };
  const more = {
    owner: { type: "integer", format: "user" },
    due: "date",
    parts: { type: "number", rollup: { of: "parts.order", op: "sum", field: "weight" } },
  };
  const jan = await person(app, { login: "jan", role: "guest", password: "a long pass phrase" });
  await app.patch(`/account/users/${jan.id}.json`, { user: { name: "Jan Nowak" } });
  for (const db of [
    { name: "Customers", code: "customers", schema: customers, access: [admin] },
    {
      name: "Orders",
      code: "orders",
      schema: { fields: { ...orders, ...more }, indexed_fields: ["number", "status", "owner"] },
      access: [admin, { to: `user:${jan.id}`, may: "read", where: { owner: "{user_id}" }, hide: ["total"] }],
    },
    {
      name: "Parts",
      code: "parts",
      schema: { fields: { order: { type: "string", link: "orders" }, weight: "number" } },
      access: [admin],
    },
  ])
    expect((await app.post("/core/dbs.json", { db })).status).toBe(201);
  const add = async (db: string, data: object) =>
    (await app.post(`/core/dbs/${db}/records.json`, { record: { data } })).json.id;
  const customer = await add("customers", { name: "Łucja's Bakery" });
  const order = await add("orders", {
    number: "O-1",
    customer,
    status: "new, open",
    total: 1240.5,
    owner: jan.id,
    due: "2026-01-31",
  });
  await add("parts", { order, weight: 2.5 });
  await add("orders", { number: "O-2", customer, status: "paid", total: 1, owner: jan.id });
  await add("orders", { number: "O-3", customer, status: "new, open", total: 2 });

  await using opened = await studio.signedIn({ at: "/studio/apps/new" });
  const { page, faults } = opened;
  await page.getByRole("radio", { name: "List of a table" }).check();
  await page.getByLabel("Table", { exact: true }).selectOption({ label: "Orders" });
  await page.getByLabel("Name", { exact: true }).fill("Open orders");
  await page.getByRole("link", { name: "Choose records and columns" }).click();
  await page.getByRole("gridcell", { name: "O-2", exact: true }).waitFor();
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByRole("button", { name: "Add filter" }).click();
  await page.getByLabel("Field", { exact: true }).selectOption("status");
  await page.getByLabel("Condition", { exact: true }).selectOption({ label: "is one of" });
  await page.getByRole("group", { name: "Value" }).getByLabel("New, and </script>").check();
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByRole("gridcell", { name: "O-2", exact: true }).waitFor({ state: "detached" });
  expect(await page.getByLabel("Name of the app").inputValue()).toBe("Open orders");
  await page.getByLabel("On the home page").selectOption({ label: "Everybody's" });
  await page.getByRole("button", { name: "Create the list" }).click();
  const list = page.getByRole("article", { name: "Open orders" });
  const shown = list.frameLocator("iframe");
  await shown.getByRole("columnheader", { name: "State" }).waitFor();
  expect(await shown.locator("tbody td:nth-child(n+2):nth-child(-n+4)").allInnerTexts()).toEqual([
    "Łucja's Bakery",
    "New, and </script>",
    "€2.00",
    "Łucja's Bakery",
    "New, and </script>",
    "€1,240.50",
  ]);
  const others = shown.locator("tbody tr:nth-child(2) td:nth-child(n+5):nth-child(-n+7)");
  await others.getByText("Jan Nowak").waitFor();
  expect(await others.allInnerTexts()).toEqual(["Jan Nowak", "Jan 31, 2026", "2.5"]);
  expect((await list.boundingBox())?.width).toBeGreaterThan(500);
  await shown.getByRole("link", { name: /O-1/ }).click();
  await page.waitForURL(`${app.origin}/studio/tables/orders?open=${order}`);
  const [made] = (await app.get("/core/apps.json?q=Open")).json;
  expect(made).toMatchObject({ db_code: "orders", active: true, fields: { dbs: ["customers", "parts"] } });
  expect(made.source_code).toContain('"filter[status][in][]": [ "new, open" ]');
  expect(faults).toEqual([]);

  // A colleague sees the own rows, and no names of a table that is closed to them.
  await using other = await studio.signedIn({ login: "jan", password: "a long pass phrase" });
  const theirs = other.page.getByRole("article", { name: "Open orders" }).frameLocator("iframe");
  await theirs.getByText("O-1").waitFor();
  expect(await theirs.locator("tbody tr").count()).toBe(1);
  expect(await theirs.getByText("Bakery").count()).toBe(0);
  expect(await theirs.getByRole("columnheader").allInnerTexts()).toEqual([
    "Number",
    "State",
    "Owner",
    "Due",
    "Parts",
    "Created",
  ]);
  expect(other.faults).toEqual([]);

  // Who reads German reads it in the list too.
  await using german = await studio.signedIn({ locale: "de-DE" });
  const cells = german.page
    .getByRole("article", { name: "Open orders" })
    .frameLocator("iframe")
    .locator("tbody tr:nth-child(2) td");
  await cells.getByText("Jan Nowak").waitFor();
  expect((await cells.allInnerTexts()).slice(1, 7).map((text) => text.replaceAll("\u00a0", " "))).toEqual([
    "Łucja's Bakery",
    "Neu",
    "1.240,50 €",
    "Jan Nowak",
    "31.01.2026",
    "2,5",
  ]);

  await other.page.getByRole("button", { name: "Edit tiles" }).click();
  await other.page.getByRole("button", { name: "Remove: Open orders" }).click();
  const kept = async () => (await app.get("/account/me/preferences.json", { token: jan.token })).json;
  await eventually(async () => (await kept())["studio.dashboard"]?.hidden?.[0] === made.id);
  await other.page.reload();
  await other.page.getByRole("button", { name: "Edit tiles" }).waitFor();
  expect(await other.page.getByRole("article").count()).toBe(0);
});

test("an action runs with values, and its process is found", async () => {
  await using opened = await studio.signedIn({ at: "/studio/core/apps/new" });
  const { page, faults } = opened;
  await page.getByRole("radio", { name: "Run a flow" }).check();
  await page.getByLabel("Name", { exact: true }).fill("Rain");
  await page.getByRole("button", { name: "Create app" }).click();
  await page.getByRole("heading", { level: 1, name: "Rain" }).waitFor();
  await previewOf(page).getByRole("button", { name: "Ask" }).click();
  await previewOf(page).getByText("12 °C").waitFor();
  await page.getByRole("main").getByRole("link", { name: "Data", exact: true }).click();
  await page.getByRole("region", { name: "Flows" }).getByRole("link", { name: "Rain" }).waitFor();
  await page.getByText("Publish first").waitFor();
  await publish(page).click();
  await page.getByRole("button", { name: "Run weather" }).click();
  const dialog = page.getByRole("dialog", { name: "Run weather" });
  await dialog.getByLabel("Values").fill("[]");
  await dialog.getByRole("button", { name: "Run", exact: true }).click();
  await dialog.getByRole("alert").getByText("not a JSON object").waitFor();
  await dialog.getByLabel("Values").fill('{"city":"Gdynia"}');
  await dialog.getByRole("button", { name: "Run", exact: true }).click();
  await dialog.getByRole("region", { name: "Result" }).getByText("Gdynia").waitFor();
  await dialog.getByRole("link", { name: "Show the run" }).click();
  await page.waitForURL("**/studio/automation/runs/*");
  expect(faults).toEqual([]);
});

test("an earlier version is compared and restored; what the app stores for me is deleted", async () => {
  const id = await make("Old");
  await studio.app.patch(`/core/apps/${id}.json`, { app: { source_code: "<h1>New</h1>", description: "changed" } });
  await studio.app.request("PUT", `/core/apps/${id}/storage/a%2Fb.json`, { value: { deep: ["kept"] } });
  await using opened = await studio.signedIn({ at: `/studio/core/apps/${id}?tab=code` });
  const { page, faults } = opened;
  // An address of the first Studio.
  await editorOf(page).waitFor();
  expect(page.url()).toEndWith("/build");
  await page.getByRole("link", { name: "Versions" }).click();
  await page.getByRole("link", { name: "Version 1" }).click();
  const compared = page.getByRole("region", { name: /^Version 1 and/ });
  await compared.getByText("<h1>Old</h1>").waitFor();
  await page.getByText("Differs too: Description").waitFor();
  await page.getByRole("button", { name: "Restore version 1" }).click();
  await page.getByRole("link", { name: "Version 3" }).waitFor();
  expect(await sourceOf(id)).toContain("<h1>Old</h1>");

  await page.getByRole("main").getByRole("link", { name: "Data", exact: true }).click();
  await page.getByText("a/b", { exact: true }).click();
  await page.getByText('"kept"').waitFor();
  await page.getByRole("button", { name: "Delete a/b" }).click();
  await page.getByText("Nothing is stored for you").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("button", { name: "Delete a/b" }).waitFor();
  expect(faults).toEqual([]);
});

test("the page says where an app will appear; only an administrator may trust it", async () => {
  const id = await make("Placed");
  const password = "a long pass phrase";
  await studio.app.post("/account/users.json", { user: { login: "maker", name: "Maker", role: "user", password } });
  await using opened = await studio.signedIn({ at: `/studio/apps/${id}/build` });
  const { page } = opened;
  await editorOf(page).waitFor();
  await page.locator("main").getByRole("link", { name: "Settings" }).click();
  await page.getByText("Only at its own address.", { exact: true }).waitFor();
  await page.getByLabel("Shown in", { exact: true }).selectOption({ label: "CRM" });
  await page.getByLabel("On the home page").selectOption({ label: "Of those who add it" });
  await page.getByText("In the menu, under CRM. May be added to home pages.", { exact: true }).waitFor();
  await page.getByLabel("Shown in", { exact: true }).selectOption({ label: "On another page…" });
  await page.getByLabel("Path of the page's view").fill("not a place");
  await publish(page).click();
  await page.locator('input[aria-invalid="true"]').waitFor();
  await page.getByLabel("Path of the page's view").fill("tasks/show");
  await publish(page).click();
  await eventually(async () => (await studio.app.get(`/core/apps/${id}.json`)).json.show_in_module === "tasks/show");
  expect(await page.getByLabel("Trusted").count()).toBe(1);

  await using second = await studio.signedIn({ login: "maker", password });
  await open(second.page, id);
  await second.page.locator("main").getByRole("link", { name: "Settings" }).click();
  await second.page.getByLabel("Description").waitFor();
  expect(await second.page.getByLabel("Trusted").count()).toBe(0);
});

test("at 360 pixels nothing scrolls sideways", async () => {
  const id = await make("Narrow", { description: "w".repeat(300), actions: [] });
  await using opened = await studio.signedIn({ at: "/studio/core/apps/new", viewport: { width: 360, height: 700 } });
  const { page, faults } = opened;
  const isWithin = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
  await page.getByRole("radio", { name: "Blank", checked: true }).waitFor();
  expect(await isWithin()).toBe(true);
  await page.goto(`${studio.app.origin}/studio/apps/${id}`);
  await previewOf(page).getByText("Here").waitFor();
  for (const tab of ["Preview", "Build", "Data", "Versions", "Settings"]) {
    await page.getByRole("main").getByRole("link", { name: tab, exact: true }).click();
    await page.locator(`main [aria-current=page]:text-is("${tab}")`).waitFor();
    expect({ tab, isWithin: await isWithin() }).toEqual({ tab, isWithin: true });
  }
  // Of the three parts of the builder one is shown.
  await page.getByRole("main").getByRole("link", { name: "Build", exact: true }).click();
  await page.getByRole("button", { name: "Code", exact: true }).click();
  await editorOf(page).waitFor();
  expect(await page.getByRole("log").count()).toBe(0);
  expect(faults).toEqual([]);
});
