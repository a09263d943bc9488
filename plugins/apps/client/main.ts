/**
 * The script that every app's page runs first (`core.js`): a classic, strict script, so that it is done before any line
 * of the app runs. It takes the app token out of the page and gives the app `core` and its `fetch`; `CoreAppContext` is
 * there already.
 * behaviour B.10.
 */
import { reportHeight } from "./embed.ts";
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
  if (context.embed) reportHeight(context.app.id);
  if (data.main) void mountDefault(data.main);
}

/**
 * What a plain script exports is shown in `#core-app`: an element, or a function that is given it. The compiled engines
 * do the same for their components.
 */
async function mountDefault(address: string): Promise<void> {
  await new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve)); // else there is no `#core-app`
  const loaded = await import(new URL(address, location.href).href).catch(() => undefined); // its own script element reports the fault
  const main: unknown = loaded?.default;
  const root = document.getElementById("core-app") ?? document.body;
  const shown: unknown = typeof main === "function" ? await main(root) : main;
  if (shown instanceof Node) root.append(shown);
}

function define(name: string, value: unknown, writable: boolean): void {
  Object.defineProperty(window, name, { value, writable, configurable: writable, enumerable: true });
}

/**
 * Loads the page anew, with another token or as the sign-in page; false where that has just been done.
 * The sandbox has no storage: the history entry remembers.
 */
function reloadOnce(): boolean {
  // Of the window: a classic script of the app may have a `let history` of its own.
  const { history } = window;
  const state: unknown = history.state;
  const last = typeof state === "object" && state !== null && "coreReloadedAt" in state ? state.coreReloadedAt : 0;
  if (typeof last === "number" && Date.now() - last < 60_000) return false;
  history.replaceState({ coreReloadedAt: Date.now() }, "");
  location.reload();
  return true;
}
