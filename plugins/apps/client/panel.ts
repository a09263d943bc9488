/** The error panel (`panel.js`). Only people who may edit the app get a page that loads it. */
import { failedBuildId } from "./page-data.ts";
import { startReport, type Entry } from "./report.ts";

const host = document.createElement("div");
host.id = "core-errors";
const root = host.attachShadow({ mode: "closed" });
const badge = document.createElement("button");
const panel = document.createElement("section");
const list = document.createElement("ol");

/**
 * A preview in a frame tells the page around it, which shows the entries beside the source. The policy has
 * `frame-ancestors 'self'`, so that page is one of ours.
 */
const { parent } = window;
const isTold = parent !== window && location.pathname.startsWith("/a/preview/");

const report = startReport(scheduleShow);
let isPlanned = false;

/** The page shows the app as it was before the failed change. */
function reportFailedBuild(): void {
  const element = document.getElementById(failedBuildId);
  if (!element) return;
  element.remove();
  const mistakes: readonly string[] = JSON.parse(element.textContent ?? "[]");
  for (const mistake of mistakes) report.add("error", `the last change was not saved: ${mistake}`, "source_code");
}

const empty = "nothing was put on the page: neither #core-app nor the body shows anything";

/** Shown only if no error explains the empty page already. */
function reportEmpty(): void {
  if (faults() === 0)
    watchEmpty(
      () => report.add("warn", empty),
      () => report.remove(empty),
    );
}

function faults(): number {
  return report.entries.filter(({ level }) => level !== "log").reduce((sum, { count }) => sum + count, 0);
}

/** Rendering every error at once would keep an app that fails in a loop busy here. */
function scheduleShow(): void {
  if (isPlanned) return;
  isPlanned = true;
  setTimeout(() => {
    isPlanned = false;
    if (isTold) parent.postMessage({ type: "core:report", entries: report.entries }, location.origin);
    else show();
  }, 50);
}

function build(): void {
  const style = document.createElement("style");
  style.textContent = css;
  badge.type = "button";
  badge.setAttribute("aria-expanded", "false");
  badge.addEventListener("click", () => open(panel.hidden !== false));
  panel.hidden = true;
  panel.setAttribute("aria-label", "What this app reported");
  const head = document.createElement("header");
  const title = document.createElement("h2");
  title.textContent = "Seen only by those who may edit this app";
  head.append(
    title,
    action("Copy", copy),
    action("Clear", () => report.clear()),
    action("Close", () => open(false)),
  );
  panel.append(head, list);
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape") open(false);
  });
  root.append(style, panel, badge);
  show();
}

function open(isOpen: boolean): void {
  panel.hidden = !isOpen;
  badge.setAttribute("aria-expanded", `${isOpen}`);
  show();
}

function action(name: string, run: () => void): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = name;
  button.addEventListener("click", run);
  return button;
}

/** If the sandbox has no clipboard, the text is selected so that a person can copy it. */
function copy(): void {
  const select = () => getSelection()?.selectAllChildren(list);
  if (navigator.clipboard) navigator.clipboard.writeText(asText()).catch(select);
  else select();
}

function show(): void {
  const count = faults();
  badge.textContent = `${count} ${count === 1 ? "problem" : "problems"}`;
  badge.hidden = count === 0 && panel.hidden;
  // Added only when there is an error, so that an app without errors keeps its page unchanged.
  if (!badge.hidden && !host.isConnected) document.documentElement.append(host);
  if (badge.hidden) host.remove();
  if (!panel.hidden) list.replaceChildren(...report.entries.map(itemOf));
}

function itemOf({ level, text, place, count }: Entry): HTMLLIElement {
  const item = document.createElement("li");
  item.className = level;
  const body = document.createElement("pre");
  body.textContent = count > 1 ? `${text}  × ${count}` : text;
  item.append(body);
  if (place !== "") {
    const where = document.createElement("small");
    where.textContent = place;
    item.append(where);
  }
  return item;
}

function asText(): string {
  return report.entries.map(({ level, text, place }) => `[${level}] ${text}${place && ` (${place})`}`).join("\n");
}

const css = `
:host { all: initial; position: fixed; inset: auto 12px 12px auto; z-index: 2147483647; max-width: calc(100vw - 24px);
  font: 13px/1.45 system-ui, sans-serif; color: #1b2230; color-scheme: light }
section, button { box-sizing: border-box; font: inherit }
[hidden] { display: none !important }
button { cursor: pointer; border: 0; border-radius: 6px; padding: 4px 8px; background: #eceff4; color: #1b2230 }
button:focus-visible { outline: 2px solid #1f5fd0; outline-offset: 1px }
:host > button { display: block; margin-left: auto; padding: 6px 12px; border-radius: 999px; background: #b3261e; color: #fff;
  font-weight: 600; box-shadow: 0 2px 10px rgb(0 0 0 / .3) }
section { width: 34rem; max-width: 100%; margin-bottom: 8px; background: #fff; border-radius: 10px; overflow: hidden;
  box-shadow: 0 8px 40px rgb(0 0 0 / .35) }
header { display: flex; gap: 6px; align-items: center; padding: 8px 10px; border-bottom: 1px solid #d8dce4 }
h2 { flex: 1; margin: 0; font-size: 12px; font-weight: 600; color: #566074 }
ol { list-style: none; margin: 0; padding: 0; max-height: min(22rem, 50vh); overflow: auto }
li { padding: 6px 10px; border-bottom: 1px solid #eceff4; border-left: 3px solid #c3c9d4 }
li.error { border-left-color: #b3261e; background: #fdf3f2 } li.warn { border-left-color: #c77700; background: #fff8ec }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font: 12px/1.45 ui-monospace, monospace }
small { color: #566074 }
`;

if (!isTold) build();
reportFailedBuild();
addEventListener("load", () => setTimeout(reportEmpty, 1000));

// An app that mounts nothing shows an empty page, and no error says why.

const pauseMs = 1000;

/** Calls `told` if the page shows nothing now, and `gone` if something appears later. */
export function watchEmpty(told: () => void, gone: () => void): void {
  // An `html` page has no element that an app is mounted into.
  if (document.getElementById("core-app") === null || showsSomething()) return;
  told();
  const timer = setInterval(() => {
    if (!showsSomething()) return;
    clearInterval(timer);
    gone();
  }, pauseMs);
}

function showsSomething(): boolean {
  const { body } = document;
  if (body.innerText.trim() !== "") return true;
  return [...body.querySelectorAll(":not(#core-app)")].some((element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 0 && height > 0;
  });
}
