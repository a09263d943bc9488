/**
 * A private app runs in a frame of our own page (`frame.js`), so that it cannot lead itself to another host. What it
 * would do to its own window, it asks that page for. behaviour B.10.
 */

/** The messages of the app's page to the page around it. */
export type FrameMessage =
  | { readonly type: "core:page"; readonly title: string; readonly hash: string }
  /** To an app's page, `/a/deals?id=7#top`, or to a record. */
  | { readonly type: "core:go"; readonly address: string }
  | { readonly type: "core:reload" };

/** The frame's name: this, and what the tab is called in the storage of the page around it. */
export const frameName = "core-frame:";

/** The address of an app's page, without its query. */
export const isAppPath = (path: string): boolean => /^\/a\/[\w-]{1,100}$/.test(path);

/** The address of a record in the Studio: `/studio/tables/orders?open=0197…` */
export const isRecordAddress = (address: string): boolean =>
  /^\/studio\/tables\/[\w-]{1,100}\?(?:table=[\w%.-]{1,200}&)?open=[\w-]{1,64}$/.test(address);

/** The query parameter that asks for the page around an app, in browsers that do not say what they load. */
export const frameParameter = "frame";

const around = window.parent;
// Read from `window`, and now: a script of the app may declare or set its own `name`.
const isFramed = around !== window && window.name.startsWith(frameName);

function tell(message: FrameMessage): void {
  // The policy has `frame-ancestors 'self'`, so the surrounding page is one of ours.
  around.postMessage(message, location.origin);
}

/** The page around reloads; false if there is none. */
export function reloadAround(): boolean {
  if (isFramed) tell({ type: "core:reload" });
  return isFramed;
}

/** A link to a record leads the page around there: the Studio shows itself in no frame. */
export function followRecordLinks(): void {
  if (around === window) return;
  addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!(link instanceof HTMLAnchorElement) || event.defaultPrevented) return;
    const { origin, pathname, search } = new URL(link.href, document.baseURI);
    if (origin !== location.origin || !isRecordAddress(pathname + search)) return;
    event.preventDefault();
    tell({ type: "core:go", address: pathname + search });
  });
}

/** The window's title and the fragment of its address are the app's; links and forms lead to apps' pages. */
export function followFrame(): void {
  if (!isFramed) return;
  let told = "";
  const report = () => {
    const [title, hash] = [document.title, location.hash];
    if (told === title + hash) return;
    told = title + hash;
    tell({ type: "core:page", title, hash });
  };
  addEventListener("hashchange", report);
  new MutationObserver(report).observe(document.head ?? document.documentElement, {
    subtree: true,
    childList: true,
    characterData: true,
  });
  document.addEventListener("DOMContentLoaded", report);
  addEventListener("click", goByLink);
  addEventListener("submit", goByForm);
}

/** From a frame that our page has not loaded, a browser sends no session with these. */
function goByLink(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!(link instanceof HTMLAnchorElement) || !isPlain || link.download !== "") return;
  const url = new URL(link.href, document.baseURI);
  const isSamePage = url.pathname + url.search === location.pathname + location.search && link.href.includes("#");
  if (isSamePage || !isOwnWindow(link.target)) return;
  go(event, url);
}

function goByForm(event: SubmitEvent): void {
  const { target: form, submitter } = event;
  if (!(form instanceof HTMLFormElement) || form.method !== "get" || !isOwnWindow(form.target)) return;
  const url = new URL(form.getAttribute("action") || location.href, document.baseURI);
  const fields = [...new FormData(form, submitter)].map(([name, value]) => [
    name,
    typeof value === "string" ? value : value.name,
  ]);
  url.search = new URLSearchParams(fields).toString();
  go(event, url);
}

function go(event: Event, { origin, pathname, search, hash }: URL): void {
  if (event.defaultPrevented || origin !== location.origin || !isAppPath(pathname)) return;
  event.preventDefault();
  tell({ type: "core:go", address: pathname + search + hash });
}

function isOwnWindow(target: string): boolean {
  return target === "" || target === "_self" || target === "_top" || target === "_parent";
}

/** An embedded app reports its height to the surrounding page, which resizes the frame to match. */
export function reportHeight(appId: string): void {
  const { parent } = window;
  if (parent === window) return;
  let last = -1;
  const report = () => {
    const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    if (height === last) return;
    last = height;
    // The policy has `frame-ancestors 'self'`, so the surrounding page is one of ours.
    parent.postMessage({ type: "core:height", app: appId, height }, location.origin);
  };
  new ResizeObserver(report).observe(document.documentElement);
  addEventListener("load", report);
}

/** Lets the keys of the palette work within an embedded app, unless the app uses them. */
export function forwardPaletteKeys(appId: string): void {
  const { parent } = window;
  if (parent === window) return;
  const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  const forward = (event: KeyboardEvent) => {
    const isPressed = event.key.toLowerCase() === "k" && (isMac ? event.metaKey : event.ctrlKey);
    if (!isPressed || event.altKey || event.shiftKey || event.defaultPrevented) return;
    event.preventDefault();
    parent.postMessage({ type: "core:palette", app: appId }, location.origin);
  };
  // The app's own listeners come first, wherever they are: this one is put behind them at each key.
  const putLast = () => {
    removeEventListener("keydown", forward);
    addEventListener("keydown", forward);
  };
  addEventListener("keydown", putLast, { capture: true });
}

/**
 * Reloads the page, which brings a new token or leads to sign-in; false if it did so a moment ago.
 * The sandbox has no storage, so the history entry remembers when.
 */
export function reloadOnce(): boolean {
  // Read from `window`, because a classic script of the app may declare its own `let history`.
  const { history } = window;
  const state: unknown = history.state;
  const last = typeof state === "object" && state !== null && "coreReloadedAt" in state ? state.coreReloadedAt : 0;
  if (typeof last === "number" && Date.now() - last < 60_000) return false;
  history.replaceState({ coreReloadedAt: Date.now() }, "");
  location.reload();
  return true;
}
