/** The Studio's pages of webhooks and connectors, worked with as a person does. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { TestApp } from "../harness.ts";
import { startReceiver, type Receiver } from "../receiver.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
let app: TestApp;
let remote: Receiver;
let refuses = false;
const secret = "sk_live_0123456789abcdef";
beforeAll(async () => {
  studio = await startStudio();
  ({ app } = studio);
  remote = startReceiver();
  remote.answer = () => (refuses ? new Response("no stock", { status: 410 }) : Response.json({ temp: 21.4 }));
});
afterAll(async () => {
  await studio.stop();
  await remote.stop();
});

const at = (page: Page, path: string) => page.goto(`${app.origin}/studio/${path}`);
const prompt = (name: string) =>
  app.post("/core/prompts.json", { prompt: { name, code: name, content: "x", kind: "chat" } });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

test("a webhook gets a filter made of conditions, and is tested", async () => {
  await using opened = await studio.signedIn({ at: "/studio/account/webhooks/new" });
  const { page, faults } = opened;
  await page.getByLabel("What", { exact: true }).selectOption("others");
  await page.getByLabel("To what", { exact: true }).selectOption("Core::Prompt");
  await page.getByLabel("What happens", { exact: true }).selectOption("create");
  await page.getByLabel("Address", { exact: true }).fill(`${remote.url}/hook`);
  await button(page, "Condition").click();
  await page.getByLabel("Field of the condition", { exact: true }).selectOption("kind");
  await page.getByLabel("Value of Kind", { exact: true }).fill("chat");
  await page.getByText("As JSON", { exact: true }).click();
  await page.getByText('"scope"').first().waitFor();
  // A plain field until the editor of code has come.
  const written = () =>
    page
      .getByLabel("Only if", { exact: true })
      .evaluate((node) => (node instanceof HTMLTextAreaElement ? node.value : (node.textContent ?? "")));
  expect(JSON.parse(await written())).toEqual({ kind: "chat" });
  await button(page, "Save").click();
  await page.getByRole("dialog").getByRole("button", { name: "Done", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: /^Prompt: is added → Calls / }).waitFor();
  const [made] = (await app.get("/account/webhooks.json")).json;
  expect(made).toMatchObject({ kind: "create", filter: { kind: "chat" } });
  await button(page, "Test").click();
  const trial = page.getByRole("dialog", { name: "Test", exact: true });
  await trial.getByText("Delivered").waitFor();
  await trial.getByText("21.4").waitFor();
  await trial.getByRole("link", { name: "Open in the log", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: /^Delivery \d+$/ }).waitFor();
  expect(remote.at("/hook")[0]?.headers.get("x-core-test")).toBe("true");
  expect(faults).toEqual([]);
});

test("its log is live, is narrowed by the address, and sends what has failed again", async () => {
  const [{ id }] = (await app.get("/account/webhooks.json")).json;
  await using opened = await studio.signedIn({ at: `/studio/account/webhooks/${id}/deliveries` });
  const { page, faults } = opened;
  const grid = page.getByRole("grid", { name: "Deliveries", exact: true });
  const rows = grid.getByRole("row");
  await rows.nth(1).waitFor();
  refuses = true;
  await prompt("late");
  // Nobody has reloaded it.
  await grid.getByText("Failed", { exact: true }).waitFor();
  await page.getByText("The receiver wants nothing more (410)").first().waitFor();
  await page.getByRole("link", { name: "Failed", exact: true }).click();
  await page.waitForURL(/\?status=failed$/);
  await grid.getByText("Failed", { exact: true }).waitFor();
  expect(await rows.count()).toBe(2);
  // The receiver's 410 has switched it off.
  await button(page, "Send failed ones again").click();
  const dialog = page.getByRole("dialog", { name: "Send failed ones again", exact: true });
  await dialog.getByText("Switch the webhook on first").waitFor();
  await dialog.getByRole("button", { name: "Close", exact: true }).click();
  await at(page, `account/webhooks/${id}`);
  const sent = page.getByRole("region", { name: "Deliveries", exact: true }).getByRole("listitem");
  expect(await sent.first().textContent()).toContain("The receiver wants nothing more (410)");
  await at(page, `account/webhooks/${id}/deliveries?status=failed`);
  refuses = false;
  expect((await app.patch(`/account/webhooks/${id}.json`, { webhook: { active: true } })).status).toBe(200);
  await page.reload();
  await rows.nth(1).waitFor();
  await button(page, "Send failed ones again").click();
  await dialog.getByLabel("Since", { exact: true }).selectOption("hour");
  await dialog.getByRole("button", { name: "Send", exact: true }).click();
  await dialog.getByText("1 are sent again.").waitFor();
  await dialog.getByRole("button", { name: "Close", exact: true }).click();
  // What is no longer failed leaves the list of the failed ones.
  await page.getByText("None has been given up.").waitFor();
  expect(await page.getByRole("main").getByRole("link", { name: "Waiting" }).last().getAttribute("href")).toEndWith(
    "/deliveries?status=pending",
  );
  await at(page, "account/webhooks");
  const hooks = page.getByRole("grid", { name: "Webhooks", exact: true });
  await hooks.getByText("2 of 2 delivered").waitFor();
  await hooks.getByText("Only if Kind: chat").waitFor();
  await hooks.getByRole("switch", { checked: true }).click();
  await page
    .getByRole("status")
    .getByText(/ is off$/)
    .waitFor();
  expect((await app.get(`/account/webhooks/${id}.json`)).json.active).toBe(false);
  expect(faults).toEqual([]);
});

test("a connector's methods are a list of forms, and one is tried without its secret being seen", async () => {
  await using opened = await studio.signedIn({ at: "/studio/connect/connectors/new" });
  const { page, faults } = opened;
  await page.getByLabel("Name", { exact: true }).fill("Weather");
  await page.getByLabel("Address", { exact: true }).fill(remote.url);
  await page.getByLabel("Key", { exact: true }).fill(secret);
  await page.getByLabel("How the key is sent", { exact: true }).selectOption("query");
  await page.getByLabel("Parameter", { exact: true }).fill("key");
  await button(page, "Add an action").click();
  await page.getByLabel("Action", { exact: true }).fill("now");
  await page.getByLabel("Path", { exact: true }).fill("/now/{city}");
  await button(page, "Add to Query").click();
  await page.getByLabel("Query: name 1", { exact: true }).fill("units");
  await page.getByLabel("Query: value 1", { exact: true }).fill("{units}");
  await button(page, "Save").click();
  await page.getByRole("heading", { level: 1, name: "Weather", exact: true }).waitFor();
  expect((await app.get("/connect/connectors/weather.json")).json.fields).toEqual({
    auth: { in: "query", name: "key" },
    methods: { now: { method: "GET", path: "/now/{city}", query: { units: "{units}" } } },
  });
  await button(page, "Try now").click();
  const dialog = page.getByRole("dialog", { name: "Try it", exact: true });
  await dialog.getByLabel("city", { exact: true }).fill("Osaka");
  await dialog.getByLabel("units", { exact: true }).fill("metric");
  await dialog.getByRole("button", { name: "Run", exact: true }).click();
  await dialog.getByRole("region", { name: "Answer", exact: true }).getByText("21.4").waitFor();
  const request = dialog.getByRole("region", { name: "Request", exact: true });
  expect(await request.locator("pre").textContent()).toStartWith(
    `GET ${remote.url}/now/Osaka?units=metric&key=[secret]`,
  );
  expect(await page.content()).not.toContain(secret);
  expect(faults).toEqual([]);
});
