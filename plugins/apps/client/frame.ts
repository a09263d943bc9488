/**
 * The page around a private app (`frame.js`). It trusts nothing that the app says: it takes a title, a fragment, and
 * addresses of apps' pages, and shows these in the same frame; a click may lead to a record. behaviour B.10.
 */
import { frameName, isAppPath, isRecordAddress, reloadOnce, type FrameMessage } from "./frames.ts";

const found = document.querySelector("iframe");
if (found) start(found);

function start(frame: HTMLIFrameElement): void {
  /** The app's other address: a frame with the address of the page around it stays empty. */
  const inside = new URL(frame.dataset["src"] ?? "", location.href);
  const own = new Set([inside.pathname, location.pathname]);
  let shown = "";
  let asked = "";

  const show = (given: string, anew: boolean) => {
    const url = new URL(given, location.origin);
    if (own.has(url.pathname)) url.pathname = inside.pathname;
    const isOther = shown !== url.pathname + url.search;
    shown = url.pathname + url.search;
    frame.src = url.href;
    // Put in anew, a frame is loaded by this page, with the session, and named.
    if (isOther || anew) document.body.append(frame);
  };

  const go = ({ pathname, search, hash }: URL) => {
    // Asked for twice without an app in between: the session has ended.
    const isAgain = asked === pathname + search;
    asked = pathname + search;
    if (isAgain) {
      reloadOnce();
      return;
    }
    if (own.has(pathname)) {
      const address = location.pathname + search + hash;
      if (search === location.search) history.replaceState(history.state, "", address);
      else history.pushState(null, "", address);
    }
    show(pathname + search + hash, true);
  };

  addEventListener("message", ({ source, data }: MessageEvent<Partial<FrameMessage> | null>) => {
    if (source !== frame.contentWindow || !data) return;
    if (data.type === "core:reload") reloadOnce();
    if (data.type === "core:go") {
      const url = URL.parse(String(data.address), location.origin);
      if (url?.origin !== location.origin) return;
      if (isAppPath(url.pathname)) go(url);
      else if (navigator.userActivation.isActive && isRecordAddress(url.pathname + url.search)) location.assign(url);
    }
    if (data.type === "core:page") {
      asked = "";
      document.title = String(data.title).slice(0, 300);
      const hash = String(data.hash);
      if (hash !== location.hash && (hash === "" || hash.startsWith("#")))
        history.replaceState(history.state, "", location.pathname + location.search + hash);
    }
  });
  addEventListener("popstate", () => show(location.pathname + location.search + location.hash, false));
  frame.addEventListener("load", () => frame.focus());
  // Over http there is no crypto.randomUUID; the name is no secret.
  sessionStorage["core.tab"] ??= Math.random().toString(36).slice(2);
  frame.name = frameName + sessionStorage["core.tab"];
  show(inside.pathname + inside.search + location.hash, true);
}
