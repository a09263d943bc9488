/**
 * The script that every app's page runs first (`core.js`). It is a classic script, so it has finished before any line
 * of the app runs. It removes the app token from the page and gives the app `core` and its own `fetch` and `XMLHttpRequest`; an earlier
 * script has set `CoreAppContext`. behaviour B.10.
 */
import { forwardPaletteKeys, reportHeight } from "./embed.ts";
import { takePageData } from "./page-data.ts";
import { createCore } from "./sdk.ts";
import { createTransport } from "./transport.ts";

const data = takePageData();
if (data) {
  const transport = createTransport(data, reloadOnce);
  const { context, db } = data;
  const core = createCore({ transport, appId: context.app.id, ownDb: db });
  define("core", core, false);
  if (data.token) define("fetch", transport.fetch, true);
  if (context.embed) {
    reportHeight(context.app.id);
    forwardPaletteKeys(context.app.id);
  }
  if (data.main) void mountDefault(data.main);
}

/**
 * Shows the default export of a plain script in `#core-app`: an element, or a function that is called with `#core-app`.
 * The compiled engines mount their components themselves.
 */
async function mountDefault(address: string): Promise<void> {
  await new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve)); // before that there is no `#core-app`
  const loaded = await import(new URL(address, location.href).href).catch(() => undefined); // the script element reports the error itself
  const main: unknown = loaded?.default;
  const root = document.getElementById("core-app") ?? document.body;
  const shown: unknown = typeof main === "function" ? await main(root) : main;
  if (shown instanceof Node) root.append(shown);
}

function define(name: string, value: unknown, writable: boolean): void {
  Object.defineProperty(window, name, { value, writable, configurable: writable, enumerable: true });
}

/**
 * Reloads the page, which brings a new token or leads to sign-in; false if it did so a moment ago.
 * The sandbox has no storage, so the history entry remembers when.
 */
function reloadOnce(): boolean {
  // Read from `window`, because a classic script of the app may declare its own `let history`.
  const { history } = window;
  const state: unknown = history.state;
  const last = typeof state === "object" && state !== null && "coreReloadedAt" in state ? state.coreReloadedAt : 0;
  if (typeof last === "number" && Date.now() - last < 60_000) return false;
  history.replaceState({ coreReloadedAt: Date.now() }, "");
  location.reload();
  return true;
}
