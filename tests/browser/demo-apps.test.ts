import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { FrameLocator, Page } from "playwright-core";
import { eventually } from "../harness.ts";
import { startStage, type Stage } from "./apps-fixture.ts";
import { demoApps, fakeWeather } from "./demo-apps.ts";
import { faintTexts } from "./faint-texts.ts";

// A machine that runs other tests beside these may take its time.
setDefaultTimeout(600_000);

let stage: Stage;
const weather = fakeWeather();
beforeAll(async () => {
  stage = await startStage();
  await stage.app.app.commands.find(({ name }) => name === "demo")?.run({});
  await stage.app.patch("/connect/connectors/demo_weather.json", { connector: { url: weather.url } });
}, 600_000);
afterAll(async () => {
  await stage?.stop();
  await weather.stop();
});

/** Opens an example app in a browser of its own, `login`'s or nobody's; its faults are looked at when it is closed. */
async function open(code: string, login?: string) {
  const context = await stage.visit(login);
  const { page, frame, faults } = await stage.open(context, `/a/${code}`);
  const close = async () => {
    // A page that goes ends what it follows.
    expect(faults).toEqual([]);
    await context.close();
  };
  return { page, frame, close };
}

/** A private app, also after the page around it is loaded anew. */
const inside = (page: Page) => page.frameLocator("iframe");

const texts = (page: Pick<Page | FrameLocator, "locator">, selector: string) =>
  page.locator(selector).allTextContents();

async function until<T>(read: () => Promise<T>, wanted: T): Promise<void> {
  let last: unknown;
  await eventually(async () => Bun.deepEquals((last = await read()), wanted)).catch(() => {});
  expect(last).toEqual(wanted);
}

test("the board: a card is added, moved by its button and by hand, kept, and deleted", async () => {
  const { page, close } = await open("demo-board", "admin");
  const shown = inside(page);
  const cards = (column: string) => texts(shown, `[data-column=${column}] h3`).then((all) => all.filter(isOurs));
  const isOurs = (title: string) => title === "Sharpen the planes";
  await shown.locator("[data-column=todo] h3").first().waitFor();
  await shown.getByLabel("Add a card to To do").fill("Sharpen the planes");
  await page.keyboard.press("Enter");
  await until(() => cards("todo"), ["Sharpen the planes"]);
  await shown.getByLabel("Move “Sharpen the planes” right").click();
  await until(() => cards("doing"), ["Sharpen the planes"]);
  await shown.getByText("Sharpen the planes").dragTo(shown.locator("[data-column=done]"));
  await until(() => cards("done"), ["Sharpen the planes"]);
  const kept = async () => (await stage.app.get("/core/dbs/demo_board/search.json?q=planes")).json[0]?.column;
  await until(kept, "done");
  await page.reload();
  await until(() => cards("done"), ["Sharpen the planes"]);
  await shown.getByLabel("Delete “Sharpen the planes”").click();
  await until(() => cards("done"), []);
  await until(kept, undefined);
  await close();
});

test("the board moves a card by keyboard alone", async () => {
  const { page, close } = await open("demo-board", "admin");
  const shown = inside(page);
  const button = shown.getByLabel("Move “Write the autumn newsletter” right");
  await button.focus();
  await page.keyboard.press("Enter");
  await shown.locator("[data-column=doing] h3", { hasText: "newsletter" }).waitFor();
  await close();
});

test("the poll: one vote a browser, which may change, and everybody sees it at once", async () => {
  const [one, two] = [await open("demo-poll"), await open("demo-poll")];
  const votes = (page: Page) => page.locator("[aria-live]").textContent();
  const chosen = (page: Page) => texts(page, "button[aria-pressed=true] .grow");
  const shares = (page: Page) => texts(page, "[data-share]");
  await until(() => shares(two.page), ["60 %", "20 %", "20 %", "0 %"]);
  await one.page.getByText("Just fruit").click();
  await until(() => shares(two.page), ["50 %", "17 %", "17 %", "17 %"]);
  await one.page.getByText("Cheesecake").click();
  await until(() => shares(two.page), ["50 %", "17 %", "33 %", "0 %"]);
  expect(await shares(one.page)).toEqual(await shares(two.page));
  await one.page.reload();
  await until(() => chosen(one.page), ["Cheesecake"]);
  expect(await votes(one.page)).toContain("6 votes, yours is in");
  expect(await votes(two.page)).toContain("6 votes");
  expect(await chosen(two.page)).toEqual([]);
  await one.close();
  await two.close();
});

test("the expenses: one more changes the total and the chart, and can be taken away", async () => {
  const { page, close } = await open("demo-expenses", "admin");
  const shown = inside(page);
  const total = () => shown.locator("[data-total]").textContent();
  const chart = () => shown.locator("svg circle").evaluateAll((all) => all.map((one) => one.outerHTML));
  await until(total, "€540.80");
  const before = await chart();
  await shown.getByLabel("What was it?").fill("Glue");
  await shown.getByLabel("Amount").fill("9.20");
  await shown.getByLabel("Category", { exact: true }).selectOption("Office");
  await shown.getByRole("button", { name: "Add" }).click();
  await until(total, "€550.00");
  expect(await chart()).not.toEqual(before);
  await page.reload();
  await until(total, "€550.00");
  await shown.getByLabel("Delete “Glue”").click();
  await until(total, "€540.80");
  expect(await chart()).toEqual(before);
  await close();
});

test("the guest book: anybody signs, and what they wrote is shown as text", async () => {
  const { page, close } = await open("demo-guestbook");
  const message = `<img src=x onerror="document.title='broken'"><b>Hello</b> & goodbye`;
  await page.getByLabel("Your name").fill("<i>Eve</i>");
  await page.getByLabel("Your message").fill(message);
  await page.getByRole("button", { name: "Sign" }).click();
  await until(() => page.getByRole("status").textContent(), "Thank you!");
  for (const again of [false, true]) {
    if (again) await page.reload();
    await until(() => page.locator("blockquote").first().textContent(), message);
    expect(await page.locator("cite").first().textContent()).toStartWith("<i>Eve</i>, ");
    expect(await page.locator("li img, li b, li i").count()).toBe(0);
  }
  expect(await page.title()).toBe("Guest book");
  await close();
});

test("the weather: an action asks a connector, and says so where that does not answer", async () => {
  const { page, close } = await open("demo-weather");
  const sky = () => page.locator(".sky").textContent();
  await until(sky, "Some clouds");
  expect(await page.locator(".degrees").textContent()).toBe("17°");
  await page.getByRole("button", { name: "Reykjavík" }).click();
  await until(sky, "Snow");
  expect([await page.locator(".degrees").textContent(), await page.locator(".wind").textContent()]).toEqual([
    "-4°",
    "31 km/h",
  ]);
  await page.getByRole("button", { name: "Lisbon" }).click();
  await until(sky, "The weather service does not answer just now.");
  await close();
});

test("the game: it fills the window, starts at a key, and goes on by itself", async () => {
  const { page, close } = await open("demo-stardust");
  const canvas = page.locator("canvas");
  await canvas.waitFor();
  const { width = 0, height = 0 } = page.viewportSize() ?? {};
  expect(await canvas.boundingBox()).toEqual({ x: 0, y: 0, width, height });
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBe(height);
  const picture = async () => (await canvas.screenshot()).toString("base64");
  const first = await picture();
  await page.keyboard.press("Space");
  await until(async () => (await picture()) !== first, true);
  await page.keyboard.down("ArrowLeft");
  const then = await picture();
  await until(async () => (await picture()) !== then, true);
  await close();
});

/** Where someone looks at them: SHOTS=/tmp/shots bun test tests/browser/demo-apps.test.ts */
const folder = process.env["SHOTS"];

describe.each(Object.entries(demoApps))("%s", (code, shown) => {
  test.each([
    ["desktop", 1280, "light"],
    ["dark", 1280, "dark"],
    ["mobile", 360, "light"],
  ] as const)("is as wide as the window, and can be read: %s", async (name, width, colorScheme) => {
    const { page, frame, close } = await open(code, "admin");
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    await frame.locator(shown).first().waitFor();
    expect(await frame.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    // Where things fade in, they have faded in; a gradient has no one color.
    await frame.evaluate(() => Promise.all(document.getAnimations().map((animation) => animation.finished)));
    if (code !== "demo-weather") expect(await frame.evaluate(faintTexts)).toEqual([]);
    if (folder) await page.screenshot({ path: `${folder}/${code}-${name}.png` });
    await close();
  });
});
