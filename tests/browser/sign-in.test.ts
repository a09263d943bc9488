/** Second factors in a browser: an authenticator app, and passkeys of Chromium's virtual authenticator. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { codeAt } from "../../plugins/accounts/factors/totp.ts";
import { faultsOf } from "../chromium.ts";
import { eventually, person, type TestApp } from "../harness.ts";
import { atStudio, startStudio, type Studio } from "./studio-fixture.ts";

const password = "a long pass phrase";
let studio: Studio;
let app: TestApp;
/** A passkey belongs to a name, so not to 127.0.0.1. */
let origin: string;
let anna: number;
beforeAll(async () => {
  const free = Bun.serve({ port: 0, fetch: () => new Response() });
  const port = `${free.port}`;
  await free.stop(true);
  origin = `http://localhost:${port}`;
  studio = await startStudio({ env: { PORT: port, BASE_URL: origin } });
  ({ app } = studio);
  ({ id: anna } = await person(app, { login: "anna", role: "manager", password }));
});
afterAll(() => studio.stop());

async function withAuthenticator(page: Page): Promise<void> {
  const client = await page.context().newCDPSession(page);
  await client.send("WebAuthn.enable");
  const options = {
    protocol: "ctap2",
    transport: "internal",
    hasResidentKey: true,
    hasUserVerification: true,
  } as const;
  await client.send("WebAuthn.addVirtualAuthenticator", {
    options: { ...options, isUserVerified: true, automaticPresenceSimulation: true },
  });
}

async function byPassword(page: Page): Promise<void> {
  await page.locator("[autocomplete=username]").fill("anna");
  await page.locator("[autocomplete=current-password]").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}
const signOut = async (page: Page) => {
  await page.getByRole("button", { name: "Menu", exact: true }).click();
  await page.getByRole("button", { name: "Account menu" }).click();
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.waitForURL(`${origin}/login`);
};
const bytesOf = (secret: string) => {
  const bits = secret.split("").map((c) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(c).toString(2).padStart(5, "0"));
  return Uint8Array.from(bits.join("").match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
};

test("a person sets up an app and a passkey, and signs in by each of them", async () => {
  const context = await studio.browser.newContext({ locale: "en-US", viewport: { width: 360, height: 800 } });
  const page = await context.newPage();
  const faults = faultsOf(page);
  await withAuthenticator(page);
  await page.goto(`${origin}/login?return_to=/studio/account/me`);
  await byPassword(page);
  const security = page.getByRole("region", { name: "Sign-in security" });
  await security.getByText("Not set up").waitFor();

  await security.getByRole("button", { name: "Set up an app" }).click();
  const setUp = page.getByRole("dialog", { name: "Set up an app" });
  await setUp.getByRole("img", { name: "QR code" }).waitFor();
  expect(await setUp.getByRole("img").evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  const secret = ((await setUp.getByLabel("Key", { exact: true }).textContent()) ?? "").replaceAll(" ", "");
  const code = (ahead = 0) => codeAt(bytesOf(secret), Math.floor(Date.now() / 30_000) + ahead);
  await setUp.getByLabel("Code that the app shows").fill("000 000x");
  await setUp.getByRole("button", { name: "Confirm" }).click();
  await setUp.getByText("This code is wrong").waitFor();
  await setUp.getByLabel("Code that the app shows").fill(await code());
  await setUp.getByRole("button", { name: "Confirm" }).click();
  const shown = page.getByRole("dialog", { name: "Your recovery codes" });
  const codes = ((await shown.getByLabel("Recovery codes").textContent()) ?? "").split("\n");
  expect(codes).toHaveLength(10);
  await shown.getByRole("button", { name: "I have kept them" }).click();
  await security.getByText("10 codes are left").waitFor();

  await security.getByRole("button", { name: "Add a passkey" }).click();
  const naming = page.getByRole("dialog", { name: "Add a passkey" });
  await naming.getByLabel("Name", { exact: true }).fill(`<img src=x> \u202Elaptop`);
  await naming.getByRole("button", { name: "Continue" }).click();
  await security.getByRole("button", { name: /Rename .*<img/ }).click();
  await page.getByRole("dialog", { name: "Rename" }).getByLabel("Name", { exact: true }).fill("Laptop");
  await page.getByRole("dialog", { name: "Rename" }).getByRole("button", { name: "Rename" }).click();
  await security.getByRole("button", { name: /Remove .*Laptop/ }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);

  await signOut(page);
  await page.goto(`${origin}/login?return_to=/studio/account/me`);
  await page.getByRole("link", { name: "Use a passkey" }).click();
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await security.getByText("Last used").waitFor();
  expect(page.url()).toBe(`${origin}/studio/me`);

  await signOut(page);
  await byPassword(page);
  await page.getByRole("heading", { name: "Confirm that it is you" }).waitFor();
  // The wrong code was refused with 422.
  expect(faults.filter((fault) => !fault.includes("status of 422"))).toEqual([]);
  await page.getByLabel("Code").fill("wrong");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("alert").getByText("Wrong code").waitFor();
  await page.getByLabel("Code").fill(codes[0] ?? "");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.waitForURL(`${origin}/studio`);
  // Before its script runs the page hears no key.
  await page.getByRole("heading", { level: 1 }).waitFor();

  // A session that ends while the page is open: the factor is given in another tab, and the page goes on.
  await app.delete(`/account/users/${anna}/sessions.json`);
  // Any request tells the page, if it has not noticed by itself.
  await page.keyboard.press("Control+k");
  await page.keyboard.type("anything");
  const ended = page.getByRole("dialog", { name: "Your session has ended" });
  await ended.getByLabel("Password").fill(password);
  await ended.getByRole("button", { name: "Sign in" }).click();
  const [tab] = await Promise.all([
    context.waitForEvent("page"),
    ended.getByRole("link", { name: /second factor/ }).click(),
  ]);
  await byPassword(tab);
  await tab.getByLabel("Code").fill(codes[1] ?? "");
  await tab.getByRole("button", { name: "Continue" }).click();
  await tab.waitForURL(`${origin}/studio`);
  await tab.close();
  await page.evaluate(() => dispatchEvent(new Event("focus")));
  await ended.waitFor({ state: "detached" });

  // An old sign-in changes nothing; the page says what to do.
  await app.sql`update api_tokens set created_at = now() - interval '1 hour' where purpose = 'session'`;
  await page.goto(`${origin}/studio/account/me`);
  await security.getByText("8 codes are left").waitFor();
  expect(await security.getByRole("button", { name: /Remove|Set up|Add|Make/ }).count()).toBe(0);
  await security.getByRole("link", { name: "Sign in again" }).click();
  await page.getByRole("link", { name: "Use a passkey" }).click();
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await security.getByRole("button", { name: "Remove the app" }).click();
  await security.getByText("Not set up").waitFor();
  await security.getByRole("button", { name: /Remove .*Laptop/ }).click();
  await eventually(async () => (await security.getByText("codes are left").count()) === 0, "no codes without a factor");
  await context.close();
});

test("where an administrator requires a factor, one is set up on the page of the sign-in", async () => {
  await using admin = await atStudio(studio.browser, origin);
  await admin.page.goto(`${origin}/studio/account/settings`);
  await admin.page.getByLabel("Second factor").selectOption("everybody");
  await admin.page.getByText(/^Saved \d/).waitFor();
  const context = await studio.browser.newContext({
    locale: "de-DE",
    viewport: { width: 360, height: 800 },
    javaScriptEnabled: false,
  });
  const page = await context.newPage();
  const faults = faultsOf(page);
  await page.goto(`${origin}/login?return_to=/docs`);
  await page.locator("[autocomplete=username]").fill("anna");
  await page.locator("[autocomplete=current-password]").fill(password);
  await page.getByRole("button", { name: "Anmelden" }).click();
  await page.getByRole("heading", { name: "Zweiten Faktor einrichten" }).waitFor();
  const secret = ((await page.locator("code").textContent()) ?? "").replaceAll(" ", "");
  await page.getByLabel("Code", { exact: true }).fill(await codeAt(bytesOf(secret), Math.floor(Date.now() / 30_000)));
  await page.getByRole("button", { name: "Weiter" }).click();
  expect(await page.getByRole("listitem").count()).toBe(10);
  await page.getByRole("link", { name: /weiter/ }).click();
  await page.waitForURL(`${origin}/docs`);
  expect(faults).toEqual([]);
  await context.close();
});
