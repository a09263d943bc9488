/** Connectors, flows, processes, crons and webhooks in the Studio, worked with as a person does. */
/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { eventually, type TestApp } from "../harness.ts";
import { startModel } from "../model-server.ts";
import { startReceiver, type Receiver } from "../receiver.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
let app: TestApp;
let remote: Receiver;
beforeAll(async () => {
  studio = await startStudio({ env: { CORE_TIMEZONE: "Asia/Tokyo" } });
  ({ app } = studio);
  remote = startReceiver();
  remote.answer = ({ path }) =>
    path === "/broken" ? Response.json({ message: "no such city" }, { status: 404 }) : Response.json({ temp: 21.4 });
});
afterAll(async () => {
  await studio.stop();
  await remote.stop();
});

const secret = "sk_live_0123456789abcdef";
const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { level: 1, name }).waitFor();
const save = (page: Page) => page.getByRole("button", { name: "Save" }).click();
const json = (value: unknown) => JSON.stringify(value, null, 2);
const at = (page: Page, path: string) => page.goto(`${app.origin}/studio/${path}`);

async function flow(code: string, program: unknown): Promise<void> {
  const answer = await app.post("/connect/flows.json", { flow: { name: code, code, fields: { program } } });
  expect(answer.status).toBe(201);
}

/** Over what an editor holds, as one pastes. */
async function write(editor: Locator, words: string): Promise<void> {
  await editor.focus();
  await editor.press("Control+a");
  await editor.press("Delete");
  await editor.page().keyboard.insertText(words);
}

/** The person's own faults: refusals that a test provokes are reported by the browser too. */
const serious = (faults: readonly string[]) => faults.filter((fault) => !/status of (409|422|502)/.test(fault));

describe("a model", () => {
  test("is chosen by its provider, tried before it is stored, and says why it does not answer", async () => {
    const model = startModel();
    await using opened = await studio.signedIn({ at: "/studio/ai/models" });
    const { page, faults } = opened;
    await page
      .getByRole("button", { name: "Connect a model" })
      .or(page.getByRole("link", { name: "Connect a model" }))
      .first()
      .click();
    await heading(page, "Connect a model");
    expect(await page.getByLabel("Model", { exact: true }).inputValue()).toBe("gpt-5-mini");
    await page.getByRole("link", { name: "Get a key of OpenAI" }).waitFor();
    await page.getByRole("radio", { name: "Anthropic" }).check();
    expect(await page.getByLabel("Model", { exact: true }).inputValue()).toBe("claude-sonnet-4-5");
    expect(await page.getByLabel("Address", { exact: true }).count()).toBe(0);
    await page.getByRole("radio", { name: "Another address" }).check();
    await page.getByLabel("Address", { exact: true }).fill(`${model.url}/v1`);
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText("model is required").waitFor();
    await page.getByLabel("Model", { exact: true }).fill("small");
    await page.getByLabel("Key", { exact: true }).fill(secret);
    const { answer } = model;
    model.answer = () => Response.json({ error: { message: "Incorrect API key" } }, { status: 401 });
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page
      .getByRole("alert")
      .getByText(/401.*Incorrect API key/)
      .waitFor();
    model.answer = answer;
    model.turns.push({ text: "Hello there!" });
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText("Hello there!").waitFor();
    expect((await app.get("/connect/connectors.json?kind=core/llm")).json).toEqual([]);
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await heading(page, "small");
    const [stored] = (await app.get("/connect/connectors.json?kind=core/llm")).json;
    expect(stored).toMatchObject({ url: `${model.url}/v1`, fields: { api: "openai", model: "small" } });
    await app.delete(`/connect/connectors/${stored.id}.json`);
    await model.stop();
    expect(serious(faults)).toEqual([]);
  });
});

describe("a connector", () => {
  test("is made by a form with its methods, says where they are wrong, and never shows its secret", async () => {
    await using opened = await studio.signedIn({ at: "/studio/connect/connectors" });
    const { page, faults } = opened;
    await page.getByRole("button", { name: "New connection" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Weather <b>");
    await page.getByText("More fields").click();
    await page.getByLabel("Short name").fill("weather");
    expect(await page.getByLabel("Kind of service").inputValue()).toBe("core/custom_connector");
    await page.getByLabel("Address").fill(remote.url);
    expect(await page.getByLabel("Key", { exact: true }).getAttribute("type")).toBe("password");
    await page.getByLabel("Key", { exact: true }).fill(secret);
    await page.getByText("As JSON", { exact: true }).click();
    const methods = page.getByRole("textbox", { name: "Actions" });
    await write(methods, json({ now: { method: "GET", path: "/now" }, place: { method: "FETCH", path: "/{city}" } }));
    await save(page);
    // The place within the JSON, with the server's words.
    await page.getByRole("button", { name: /^Line \d+, column \d+: methods\.place\.method must be one of/ }).waitFor();
    await page.locator(".cm-lint-marker-error").waitFor();
    expect(await app.sql`select from connectors where code = 'weather'`).toHaveLength(0);
    await write(methods, json({ now: { path: "/now" }, place: { path: "/{city}", description: "Finds a place" } }));
    await save(page);
    await heading(page, "Weather <b>");
    const made = (await app.get("/connect/connectors/weather.json")).json;
    expect(made).toMatchObject({ kind: "core/custom_connector", fields: { methods: { now: { path: "/now" } } } });
    expect(await page.getByLabel("Key", { exact: true }).getAttribute("placeholder")).toBe("sk_l...cdef");
    expect(await page.content()).not.toContain(secret);
    expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]))).not.toContain(secret);

    await page.getByRole("button", { name: "Try it" }).click();
    const dialog = page.getByRole("dialog", { name: "Try it" });
    await dialog.getByLabel("Action").selectOption("place");
    await dialog.getByText("Finds a place").waitFor();
    const parameters = dialog.getByRole("textbox", { name: "Parameters" });
    await parameters.getByText('"city"').waitFor();
    await dialog.getByRole("button", { name: "Run" }).click();
    await dialog.getByRole("alert").getByText("can't be blank").waitFor();
    await write(parameters, '{ "city": "broken" }');
    await dialog.getByRole("button", { name: "Run" }).click();
    // What another service refuses is an answer: it is shown at once, and not asked for again.
    await dialog.getByRole("region", { name: "Answer" }).getByText("no such city").waitFor();
    expect(remote.at("/broken")).toHaveLength(1);
    expect(await dialog.getByRole("alert").textContent()).toContain("404");
    await write(parameters, '{ "city": "Osaka" }');
    await dialog.getByRole("button", { name: "Run" }).click();
    await dialog.getByRole("region", { name: "Answer" }).getByText("21.4").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();

    await page.getByRole("navigation", { name: "connection" }).getByRole("link", { name: "Actions" }).click();
    await page.getByRole("grid", { name: "Actions" }).getByText("Finds a place").waitFor();
    expect(serious(faults)).toEqual([]);
  });

  test("of another kind has that kind's fields, and keeps what the form does not know", async () => {
    const fields = { user: "shop", from: "shop@example.com", note: { mine: true } };
    const connector = {
      name: "Mail",
      code: "mail",
      kind: "core/smtp",
      url: "smtp://mail.example.com",
      secret_token: secret,
      fields,
    };
    expect((await app.post("/connect/connectors.json", { connector })).status).toBe(201);
    await using opened = await studio.signedIn({ at: "/studio/connect/connectors/mail" });
    const { page } = opened;
    expect(await page.getByLabel("User").inputValue()).toBe("shop");
    await page.getByLabel("From").fill("not a mail address");
    await page.getByLabel("Tls").selectOption("optional");
    await save(page);
    await page.getByText("from must be a mail address").waitFor();
    await page.getByLabel("From").fill("Shop <shop@example.com>");
    await save(page);
    await page.getByRole("status").getByText("Saved").first().waitFor();
    expect((await app.get("/connect/connectors/mail.json")).json.fields).toEqual({
      ...fields,
      from: "Shop <shop@example.com>",
      tls: "optional",
    });
    await page.getByLabel("Kind of service").selectOption("core/postgres");
    await page.getByLabel("Allow writes").waitFor();
    expect(await page.getByLabel("User").count()).toBe(0);
  });
});

describe("a process", () => {
  test("shows its steps and its error, is tried again, and cancelled while it waits", async () => {
    await flow("fails", [
      { type: "mutation", set: { place: "Nara <i>" } },
      { type: "fail", message: "Stock is too low" },
    ]);
    await flow("waits", [{ type: "wait", seconds: 86_400 }]);
    const failed = (await app.post("/connect/flows/fails/run.json", { order: 7 })).json.id;
    const waiting = (await app.post("/connect/flows/waits/run.json?wait=0", {})).json.id;
    await using opened = await studio.signedIn({ at: `/studio/connect/processes/${failed}` });
    const { page, faults } = opened;
    const step = (type: string) => page.locator("li details", { hasText: type });
    await step("Set values").locator("summary").first().click();
    await step("Set values").getByText("Nara <i>").first().waitFor();
    // What failed stands open.
    await page
      .locator("li details[open]", { hasText: "Stop with an error" })
      .getByText("Stock is too low")
      .first()
      .waitFor();
    expect(await page.getByRole("button", { name: "Cancel" }).count()).toBe(0); // it has ended
    const before = (await app.get(`/connect/flow_processes/${failed}.json`)).json.finished_at;
    await page.getByRole("button", { name: "Retry" }).click();
    // It has failed again, and nobody is told that it is done.
    const ended = async () => (await app.get(`/connect/flow_processes/${failed}.json`)).json.finished_at;
    await eventually(async () => ![null, before].includes(await ended()));
    await page.getByRole("heading", { name: /step 2/ }).waitFor();
    expect(await page.getByText("Done", { exact: true }).count()).toBe(0);
    await at(page, `connect/processes/${waiting}`);
    await page.getByRole("heading", { name: "Still running" }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("cancelled").first().waitFor();
    // What was pressed is no use any more; the focus is not lost with it.
    await page.getByRole("button", { name: "Retry" }).waitFor();
    expect(await page.getByRole("button", { name: "Cancel" }).count()).toBe(0);
    await page.locator("h1:focus").waitFor();
    expect(serious(faults)).toEqual([]);
  });

  test("is found in a list by its flow and status, page by page, in any order", async () => {
    await flow("many", [{ type: "fail", message: "no {{ input.n }}" }]);
    for (let n = 0; n < 60; n++) await app.post("/connect/flows/many/run.json", { n });
    await using opened = await studio.signedIn({ at: "/studio/connect/processes" });
    const { page, faults } = opened;
    await page.getByText("Filters", { exact: true }).click();
    await page.getByRole("combobox", { name: "Flow", exact: true }).selectOption("many");
    await page.waitForURL(/flow_code=many/);
    await page.getByRole("combobox", { name: "Status" }).selectOption("error");
    await page.waitForURL(/status=error/);
    await page.getByText("1–50 of 60").waitFor();
    await page.getByRole("button", { name: "Next page" }).click();
    await page.getByText("51–60 of 60").waitFor();
    const firstError = page.getByRole("gridcell").filter({ hasText: /^no / }).first();
    await page.getByRole("columnheader", { name: "Error" }).getByRole("button").click();
    await page.waitForURL(/sort=error/);
    await firstError.getByText("no 0", { exact: true }).waitFor();
    await page.getByRole("columnheader", { name: "Error" }).getByRole("button").click();
    await firstError.getByText("no 59", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Next page" }).click();
    await firstError.getByText("no 9", { exact: true }).waitFor();
    await page.locator("summary", { hasText: "Columns" }).click();
    await page.getByRole("checkbox", { name: "Duration", exact: true }).uncheck();
    await page.waitForURL(/cols=/);
    expect(await page.getByRole("columnheader", { name: "Duration" }).count()).toBe(0);
    expect(serious(faults)).toEqual([]);
  });
});

test("a cron is made for a flow chosen by name, tells its next times in the account's zone, and is fired", async () => {
  await flow("nightly", [{ type: "return", value: "done" }]);
  await using opened = await studio.signedIn({ at: "/studio/account/crons/new" });
  const { page, faults } = opened;
  await page.getByLabel("Flow", { exact: true }).selectOption("nightly");
  await page.getByLabel("How often", { exact: true }).selectOption("custom");
  await page.getByLabel("Schedule", { exact: true }).fill("every night");
  await save(page);
  await page.getByRole("alert").getByText("Some fields need your attention").waitFor();
  expect(await page.getByLabel("Schedule", { exact: true }).getAttribute("aria-invalid")).toBe("true");
  await page.getByLabel("Schedule", { exact: true }).fill("30 0 * * *");
  await page.getByLabel("Time zone").fill("Europe/London");
  await save(page);
  await heading(page, "nightly");
  const [cron] = (await app.get("/account/crons.json?target_code=nightly")).json;
  const next: string[] = (await app.get(`/account/crons/${cron.id}.json`)).json.next_runs;
  const shown = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short", timeZone: "Asia/Tokyo" });
  for (const time of next.slice(0, 3))
    await page
      .getByText(shown.format(new Date(time)))
      .first()
      .waitFor();
  await page.getByRole("link", { name: "Open: nightly" }).waitFor();
  await page.getByRole("button", { name: "Run" }).click();
  await heading(page, /^Run /);
  await page.getByRole("link", { name: "nightly", exact: true }).first().click();
  await heading(page, "Nightly");
  await page.goBack();
  await page
    .getByRole("region", { name: /^Where it comes from/ })
    .getByRole("link", { name: "nightly", exact: true })
    .click();
  await heading(page, "nightly");
  expect(serious(faults)).toEqual([]);
});

test("an incoming webhook gets a secret and an address, and what it refused is replayed", async () => {
  await flow("intake", [{ type: "return", value: "{{ body }}" }]);
  await using opened = await studio.signedIn({ at: "/studio/connect/hooks/new" });
  const { page, faults } = opened;
  await page.getByLabel("Name", { exact: true }).fill("Shop orders");
  await page.getByLabel("Flow", { exact: true }).selectOption("intake");
  expect(await page.getByLabel("How it signs").locator("option").allTextContents()).not.toContain("None");
  await page.getByLabel("How it signs").selectOption("token");
  await save(page);
  await page.getByText("can't be blank: without it anybody could send").waitFor();
  await page.getByRole("button", { name: "Make a secret" }).click();
  const made = (await page.getByRole("main").locator("code").textContent()) ?? "";
  await save(page);
  await heading(page, "Shop orders");
  const url = (await page.getByRole("region", { name: "Its address" }).locator("code").textContent()) ?? "";
  const how = page.getByRole("region", { name: "How to send" });
  await how.getByText(`Authorization: Bearer $secret`).waitFor();
  expect(await how.locator("pre").textContent()).toContain("secret='<secret>'");
  const send = (token: string) =>
    fetch(`${app.origin}${new URL(url).pathname}`, { method: "POST", body: "x", headers: { authorization: token } });
  expect([(await send("another")).status, (await send(made)).status]).toEqual([401, 200]);
  const arrivals = page.getByRole("region", { name: "Last arrivals" });
  await arrivals.getByText("Started a run").waitFor();
  await arrivals.getByText("the token is another one").waitFor();
  const started = arrivals.getByRole("listitem").filter({ hasText: "Started a run" });
  await started.getByRole("button", { name: /^Start again/ }).click();
  await arrivals.getByText("sent again from here").waitFor();
  await arrivals.getByRole("button", { name: "Refused" }).click();
  await eventually(async () => (await arrivals.getByRole("listitem").count()) === 1);
  await arrivals.getByRole("button", { name: /^Replay/ }).click();
  await page.getByText("was not kept").waitFor();
  expect(await page.getByText("Its flow is off").count()).toBe(0);
  expect((await app.patch("/connect/flows/intake.json", { flow: { active: false } })).status).toBe(200);
  await page.reload();
  await page.getByText("Its flow is off: messages start nothing.").waitFor();
  expect(serious(faults)).toEqual([]);
});

test("a webhook is made from lists, shows its secret once, is tested, and sends again", async () => {
  await using opened = await studio.signedIn({ at: "/studio/account/webhooks/new" });
  const { page, faults } = opened;
  await page.getByLabel("What", { exact: true }).selectOption("others");
  await page.getByLabel("To what").selectOption("Connect::FlowProcess");
  await page.getByLabel("What happens").selectOption("finished");
  await page.getByLabel("What to do").selectOption("flow");
  await page.getByLabel("Connection or flow").waitFor();
  expect(await page.getByLabel("Address", { exact: true }).count()).toBe(0);
  await page.getByLabel("What to do").selectOption("url");
  await page.getByLabel("To what").selectOption("Core::Prompt");
  await page.getByLabel("What happens").selectOption("create");
  await page.getByLabel("Address").fill("ftp://nowhere");
  await save(page);
  await page.getByLabel("Address").and(page.locator("[aria-invalid=true]")).waitFor();
  await page.getByLabel("Address").fill(`${remote.url}/hook`);
  await page.getByLabel("Token of the receiver").fill(secret);
  await save(page);
  const once = page.getByRole("dialog", { name: "This secret is shown once" });
  const signing = (await once.locator("pre").textContent()) ?? "";
  expect(signing).toStartWith("whsec_");
  await once.getByRole("button", { name: "Done" }).click();
  await heading(page, /^Prompt: is added → Calls /);
  expect(await page.content()).not.toContain(signing);
  expect(await page.content()).not.toContain(secret);

  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("dialog", { name: "Preview" }).getByText("webhook-signature").first().waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Test" }).click();
  await page.getByRole("dialog", { name: "Test" }).getByText("delivered").first().waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  await app.post("/core/prompts.json", { prompt: { name: "Hooked <b>", code: "hooked", content: "x" } });
  await eventually(() => remote.at("/hook").length === 2);
  await page.getByRole("link", { name: "Deliveries" }).click();
  const rows = page.getByRole("grid", { name: "Deliveries" }).getByRole("row");
  await rows.nth(1).waitFor();
  await rows.nth(1).getByRole("link").first().click();
  await heading(page, /^Delivery \d+$/);
  const crumbs = page.getByRole("navigation", { name: "Breadcrumbs" });
  await crumbs.getByRole("link", { name: / → Calls 127\.0\.0\.1/ }).waitFor();
  expect(await crumbs.locator("[aria-current]").textContent()).toMatch(/^Delivery \d+$/);
  await page.getByText(/^\d+ lines$/).click(); // long JSON is folded
  await page.getByText("Hooked <b>").first().waitFor();
  await page.getByRole("button", { name: "Send again" }).click();
  await eventually(() => remote.at("/hook").length === 3);
  await page.getByRole("link", { name: "Webhooks" }).first().click();
  await page.getByRole("grid", { name: "Webhooks" }).waitFor();
  expect(serious(faults)).toEqual([]);
});

test("a phone shows all of it without scrolling sideways, in Polish and in the dark", async () => {
  const wide = "x".repeat(300);
  await flow("phone", [{ type: "return", value: { [wide]: wide } }]);
  const { id } = (await app.post("/connect/flows/phone/run.json", { long: wide })).json;
  await using opened = await studio.signedIn({
    viewport: { width: 360, height: 700 },
    colorScheme: "dark",
    locale: "pl-PL",
  });
  const { page, faults } = opened;
  const connector = {
    name: "Phone",
    code: "phone",
    url: remote.url,
    fields: { methods: { ["m".repeat(60)]: { path: "/now" } } },
  };
  expect((await app.post("/connect/connectors.json", { connector })).status).toBe(201);
  for (const path of [
    "connect/flows/phone",
    "connect/flows/phone?step=json",
    "connect/flows/phone?step=test",
    "connect/flows/phone?tab=runs",
    "connect/flows/new",
    `connect/processes/${id}`,
    "connect/connectors/new",
    "account/webhooks/new",
  ]) {
    await at(page, path);
    await page.locator("main form, main article, main .canvas, main .runs, main table").first().waitFor();
    expect([path, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([path, 360]);
  }
  await at(page, "connect/connectors/phone");
  await page.setViewportSize({ width: 360, height: 320 });
  /** What a dialog's buttons do is in sight, however much is said above them. */
  const isSeen = (button: Locator) =>
    button.evaluate((node) => {
      const { left, top } = node.getBoundingClientRect();
      return node.contains(document.elementFromPoint(left + 10, top + 10));
    });
  await page
    .getByRole("button", { name: /^Wypróbuj/ })
    .first()
    .click();
  const asked = page.getByRole("dialog");
  await asked.getByRole("textbox").first().waitFor();
  expect(await asked.evaluate((node) => node.scrollHeight > node.clientHeight)).toBe(true);
  expect(await asked.evaluate((node) => node.scrollTop)).toBe(0);
  expect(await isSeen(asked.getByRole("button", { name: "Uruchom" }))).toBe(true);
  await asked.getByRole("button", { name: "Uruchom" }).click();
  await page.getByRole("region", { name: "Odpowiedź" }).waitFor();
  expect(await isSeen(asked.getByRole("button", { name: "Zamknij" }))).toBe(true);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  expect(serious(faults)).toEqual([]);
});

test("whoever names a flow or a database is told before it is renamed, deleted or loses a table", async () => {
  const schema = { tables: { a: { fields: { n: "string" } }, b: { fields: { n: "string" } } } };
  expect((await app.post("/core/dbs.json", { db: { name: "Stock", code: "stock", schema } })).status).toBe(201);
  await flow("counted", [{ type: "db", op: "search", db: "stock", table_name: "b", as: "all" }]);
  const cron = { name: "Each night", target_code: "counted", schedule: "0 3 * * *" };
  expect((await app.post("/account/crons.json", { cron })).status).toBe(201);
  await using opened = await studio.signedIn();
  const { page, faults } = opened;
  const asked = page.getByRole("dialog");
  const told = async (name: string, ...lines: string[]) => {
    await asked.getByText(`${name} is still used`).waitFor();
    expect(await asked.getByRole("listitem").allTextContents()).toEqual(lines);
  };
  const stay = () => asked.getByRole("button", { name: "Cancel" }).click();

  await at(page, "connect/flows/counted");
  await heading(page, "counted");
  await page.getByRole("button", { name: "Menu of counted" }).click();
  await page.getByRole("button", { name: "Delete the flow" }).click();
  await told("counted", "schedule Each night");
  await stay();
  await page.locator("main").getByRole("link", { name: "Settings", exact: true }).click();
  await page.getByLabel("Short name").first().fill("counted2");
  await page.getByRole("button", { name: "Publish" }).click();
  await told("counted", "schedule Each night");
  await stay();
  await at(page, "core/dbs/stock/settings");
  await page.getByRole("button", { name: "Remove table b" }).click();
  await told("stock", "flow counted");
  await stay();
  expect((await app.get("/connect/flows/counted.json")).status).toBe(200);
  expect((await app.get("/core/dbs/stock.json")).json.schema.tables).toHaveProperty("b");

  await at(page, "connect/flows?q=counted");
  await page
    .getByRole("row", { name: /counted/ })
    .getByRole("checkbox")
    .check();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await told("counted", "schedule Each night");
  await asked.getByRole("button", { name: "Yes" }).click();
  await page.getByRole("button", { name: "Undo" }).waitFor();
  await at(page, "connect/flows");
  await eventually(async () => (await app.get("/connect/flows/counted.json")).status === 404);
  expect(faults).toEqual([]);
});
