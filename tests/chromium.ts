/**
 * Finds and starts the Chromium of browser tests (Debian's, or the one that `CHROMIUM` names). Without it they
 * fail: a browser test that is silently skipped proves nothing. `scripts/test` installs it if it can.
 *
 *     const browser = await launchChromium();
 *     const page = await browser.newPage();
 */
// needs: chromium
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";
import { removeAfterwards } from "./harness.ts";

/** The headless one alone has no window to draw: it needs half the processor time. */
const places = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/opt/google/chrome/chrome",
];

const args = [
  "--no-sandbox",
  "--disable-gpu",
  // As browsers with a window do: an app in its sandbox has a process of its own.
  "--site-per-process",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // A container's /dev/shm is small.
  "--disable-dev-shm-usage",
  // Games draw without a graphics card and start their sound without a click.
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  "--autoplay-policy=no-user-gesture-required",
];

/** What a file of tests uses of the browser: closing it closes what was opened in it. */
export interface TestBrowser extends Pick<Browser, "newContext" | "newPage"> {
  close(): Promise<void>;
}

/** Starting it takes as long as a test, so that all files of a process share one. */
const shared: { chromium?: Promise<Browser> } = ((globalThis as { coresteadChromium?: {} }).coresteadChromium ??= {});

export async function launchChromium(): Promise<TestBrowser> {
  let browser = await (shared.chromium ??= startChromium());
  // Another file's page may have ended it.
  if (!browser.isConnected()) browser = await (shared.chromium = startChromium());
  const contexts = new Set<BrowserContext>();
  return {
    async newContext(options) {
      const context = await browser.newContext(options);
      contexts.add(context);
      return context;
    },
    async newPage(options) {
      const page = await browser.newPage(options);
      contexts.add(page.context());
      return page;
    },
    async close() {
      await Promise.all([...contexts].map((context) => context.close()));
    },
  };
}

/** It ends with the process, which then removes nothing. */
async function startChromium(): Promise<Browser> {
  const executablePath = process.env["CHROMIUM"] || places.find((place) => existsSync(place));
  if (!executablePath)
    throw new Error("browser tests need Chromium: `apt-get install chromium`, or name it in the variable CHROMIUM");
  const artifactsDir = mkdtempSync(join(tmpdir(), "corestead-browser-"));
  removeAfterwards(artifactsDir);
  const browser = await chromium.launch({ executablePath, args, artifactsDir });
  const session = await browser.newBrowserCDPSession();
  const { commandLine } = await session.send("SystemInfo.getInfo");
  const [, profile] = /--user-data-dir=(\S+)/.exec(commandLine) ?? [];
  if (profile) removeAfterwards(profile);
  await session.detach();
  return browser;
}

/** What went wrong in a page: script errors, console errors, policy violations and failed requests. */
export function faultsOf(page: Page): string[] {
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() !== "error" && message.type() !== "warning") return;
    // Chromium warns that drawing without a graphics card is slow.
    if (message.text().includes("GL Driver Message")) return;
    const { pathname } = URL.parse(message.location().url) ?? {};
    // Of a resource that failed, Chromium says only the status.
    faults.push(
      `console: ${message.text()}${pathname && message.text().includes("status of") ? ` at ${pathname}` : ""}`,
    );
  });
  page.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText ?? "";
    // The page itself ended the request, because it was left or asked anew.
    if (reason !== "net::ERR_ABORTED") faults.push(`request: ${request.url()} ${reason}`);
  });
  return faults;
}
