/** What the browser tests of apps share: a server, a Chromium, and people who sign in. */
import type { BrowserContext, Frame, FrameLocator, Page } from "playwright-core";
import type { AppContext } from "../../plugins/apps/client/page-data.ts";
import type { Core } from "../../plugins/apps/client/sdk.ts";
import { makeRuntimes } from "../../scripts/runtimes.ts";
import { faultsOf, launchChromium, type TestBrowser } from "../chromium.ts";
import { adminPassword, person, startTestApp, type TestApp } from "../harness.ts";

declare global {
  /** In the page of an app. */
  const core: Core;
  const CoreAppContext: AppContext;
}

export interface Stage {
  readonly app: TestApp;
  readonly browser: TestBrowser;
  /** A browser that is signed in as this person; without one, nobody's. */
  visit(login?: string, password?: string): Promise<BrowserContext>;
  /** Saves an app; its url_code. */
  make(app: Record<string, unknown>, token?: string): Promise<MadeApp>;
  /** Opens an app's page, with everything that went wrong in it. `frame`: the app itself, if it is private in a frame. */
  open(context: BrowserContext, path: string): Promise<{ page: Page; frame: Frame; faults: string[] }>;
  stop(): Promise<void>;
}

export interface MadeApp {
  readonly id: string;
  readonly path: string;
}

export const password = "a long pass phrase";

export async function startStage(): Promise<Stage> {
  // Whoever changes the SDK tests what they have written.
  await makeRuntimes();
  const [app, browser] = await Promise.all([startTestApp(), launchChromium()]);
  return {
    app,
    browser,
    async visit(login, given = password) {
      const context = await browser.newContext();
      // Generous, because the machine may be busy.
      context.setDefaultTimeout(90_000);
      if (login === undefined) return context;
      const answer = await context.request.post(`${app.origin}/account/session.json`, {
        data: { login, password: login === "admin" ? adminPassword : given },
        headers: { origin: app.origin },
      });
      if (answer.status() !== 201) throw new Error(`sign-in failed: ${await answer.text()}`);
      return context;
    },
    async make(fields, token) {
      const given = {
        name: "An app",
        app_engine: "js",
        css_engine: "none",
        public: true,
        source_code: "export {}",
        ...fields,
      };
      const answer = await app.post("/core/apps.json", { app: given }, token ? { token } : {});
      if (answer.status !== 201) throw new Error(`the app was not made: ${answer.text}`);
      return { id: answer.json.id, path: `/a/${answer.json.url_code}` };
    },
    async open(context, path) {
      const page = await context.newPage();
      const faults = faultsOf(page);
      await page.goto(app.origin + path);
      return { page, frame: await frameOf(page), faults };
    },
    async stop() {
      await browser.close();
      await app.stop();
    },
  };
}

/** The frame of a private app; else the whole page. */
export async function frameOf(page: Page): Promise<Frame> {
  const around = await page.$("iframe[data-src]");
  return (await around?.contentFrame()) ?? page.mainFrame();
}

/** What a hostile app of app-attacks.ts says came of its attempts. */
export async function reportOf(page: Pick<Page | Frame | FrameLocator, "locator">): Promise<Record<string, string>> {
  const root = page.locator("#core-app[data-done]");
  await root.waitFor({ state: "attached", timeout: 90_000 });
  return JSON.parse((await root.textContent()) ?? "{}");
}

export async function user(app: TestApp, login: string, role: "user" | "guest" | "manager" = "user") {
  return person(app, { login, role, password });
}
