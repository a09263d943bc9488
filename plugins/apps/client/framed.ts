/**
 * A private app runs in a frame of our own page (`frame.js`), so that it cannot lead itself to another host. What it
 * would do to its own window, it asks that page for. behaviour B.10.
 */

/** What the app's page sends to the page around it. */
export type FrameMessage =
  | { readonly type: "core:page"; readonly title: string; readonly hash: string }
  /** To an app's page: `/a/deals?id=7#top` */
  | { readonly type: "core:go"; readonly address: string }
  | { readonly type: "core:reload" };

/** The frame's name: this, and what the tab is called in the storage of the page around it. */
export const frameName = "core-frame:";

/** The address of an app's page, without its query. */
export const isAppPath = (path: string): boolean => /^\/a\/[\w-]{1,100}$/.test(path);

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
