/** A server, a browser, and people who are signed in. One of each for a file of tests. */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { faultsOf, launchChromium } from "../chromium.ts";
import { adminPassword, startTestApp, type TestApp, type TestOptions } from "../harness.ts";

interface Opened extends AsyncDisposable {
  readonly page: Page;
  /** Errors, warnings and reports of the policy, as they come. */
  readonly faults: readonly string[];
}

export interface Studio {
  readonly app: TestApp;
  readonly browser: Browser;
  /** A new browser profile with the dashboard open. */
  signedIn(options?: Person & BrowserContextOptions): Promise<Opened>;
  stop(): Promise<void>;
}

export async function startStudio(options: TestOptions = {}): Promise<Studio> {
  const [app, browser] = await Promise.all([startTestApp(options), launchChromium()]);
  return {
    app,
    browser,
    signedIn: async (context) => atStudio(browser, app.origin, context),
    async stop() {
      await browser.close();
      await app.stop();
    },
  };
}

/** Opens the server at `origin`, signs in by the page and waits for the dashboard. */
export async function atStudio(
  browser: Browser,
  origin: string,
  { login = "admin", password = adminPassword, ...options }: Person & BrowserContextOptions = {},
): Promise<Opened> {
  const context = await browser.newContext({ locale: "en-US", viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const faults = faultsOf(page);
  await page.goto(origin);
  await page.locator("[autocomplete=username]").fill(login);
  await page.locator("[autocomplete=current-password]").fill(password);
  await page.locator("form button").click();
  await page.waitForURL(`${origin}/studio`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return { page, faults, [Symbol.asyncDispose]: () => context.close() };
}

interface Person {
  readonly login?: string;
  readonly password?: string;
}
