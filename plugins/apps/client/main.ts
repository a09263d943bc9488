/**
 * The script that every app's page runs first (`core.js`). It is a classic script, so it has finished before any line
 * of the app runs. It removes the app token from the page and gives the app `core` and its own `fetch` and `XMLHttpRequest`; an earlier
 * script has set `CoreAppContext`. behaviour B.10.
 */
import {
  followFrame,
  followRecordLinks,
  forwardPaletteKeys,
  frameParameter,
  reloadAround,
  reloadOnce,
  reportHeight,
} from "./frames.ts";
import { takePageData } from "./page-data.ts";
import { installStorage } from "./page-storage.ts";
import { coreOf } from "./sdk.ts";
import { transportOf } from "./transport.ts";

const data = takePageData();
// Over http no browser says that it loads a whole window: the page around the app is asked for before the app runs.
const isBare = data?.framed === true && window.parent === window;
if (isBare) askForFrame();
else if (data) {
  const transport = transportOf(data, () => reloadAround() || reloadOnce());
  const { context, db } = data;
  const core = coreOf({ transport, appId: context.app.id, ownDb: db });
  define("core", core, false);
  if (window.origin === "null") installStorage(transport, `/core/apps/${context.app.id}/storage`, transport.readNow);
  if (data.token) define("fetch", transport.fetch, true);
  followFrame();
  followRecordLinks();
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

function askForFrame(): void {
  window.stop();
  const url = new URL(location.href);
  url.searchParams.set(frameParameter, "1");
  location.replace(url);
}
