/** A server, a browser, and people who are signed in. One of each for a file of tests. */
import type { BrowserContextOptions, Page } from "playwright-core";
import { faultsOf, launchChromium, type TestBrowser } from "../chromium.ts";
import { adminPassword, startTestApp, type TestApp, type TestOptions } from "../harness.ts";

interface Opened extends AsyncDisposable {
  readonly page: Page;
  /** Errors, warnings and reports of the policy, as they come. */
  readonly faults: readonly string[];
}

export interface Studio {
  readonly app: TestApp;
  readonly browser: TestBrowser;
  /** A new browser profile with a page of the Studio open. */
  signedIn(options?: Opening & BrowserContextOptions): Promise<Opened>;
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

/**
 * Signs in at the server at `origin`, opens a page of the Studio and waits for it. The page of the sign-in, which takes a
 * third of the time, is tested by what asks for it: sign-in, studio-sessions and the tests of apps.
 */
export async function atStudio(
  browser: TestBrowser,
  origin: string,
  { login = "admin", password = adminPassword, at = "/studio", ...options }: Opening & BrowserContextOptions = {},
): Promise<Opened> {
  const context = await browser.newContext({ locale: "en-US", viewport: { width: 1280, height: 800 }, ...options });
  // Generous, because the machine may be busy.
  context.setDefaultTimeout(90_000);
  const answer = await context.request.post(`${origin}/account/session.json`, {
    data: { login, password },
    headers: { origin },
  });
  if (answer.status() !== 201) throw new Error(`sign-in failed: ${await answer.text()}`);
  const page = await context.newPage();
  const faults = faultsOf(page);
  await page.goto(origin + at);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return { page, faults, [Symbol.asyncDispose]: () => context.close() };
}

interface Opening {
  readonly login?: string;
  readonly password?: string;
  /** The path of the page, instead of the dashboard. */
  readonly at?: string;
}
