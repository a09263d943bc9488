/** Collects the errors of the page, and what the app writes to the console, as lines for its author. */

export interface Entry {
  readonly level: "error" | "warn" | "log";
  readonly text: string;
  /** The place in the code, e.g. `app.js:3:14`. */
  readonly place: string;
  readonly count: number;
}

export interface Report {
  readonly entries: readonly Entry[];
  readonly add: Add;
  /** Removes an entry that is no longer true. */
  remove(text: string): void;
  clear(): void;
}

const mostEntries = 200;
const mostChars = 4000;

/** Starts to collect; calls `changed` after every entry. */
export function startReport(changed: () => void): Report {
  const entries: Entry[] = [];
  const add = (level: Entry["level"], text: string, place = "") => {
    const short = text.length > mostChars ? `${text.slice(0, mostChars)} …` : text;
    const last = entries.at(-1);
    if (last && last.level === level && last.text === short && last.place === place)
      entries[entries.length - 1] = { ...last, count: last.count + 1 };
    else entries.push({ level, text: short, place, count: 1 });
    if (entries.length > mostEntries) entries.shift();
    changed();
  };
  followFaults(add);
  followConsole(add);
  return {
    entries,
    add,
    remove(text) {
      const at = entries.findIndex((entry) => entry.text === text);
      if (at >= 0) entries.splice(at, 1);
      changed();
    },
    clear() {
      entries.length = 0;
      changed();
    },
  };
}

type Add = (level: Entry["level"], text: string, place?: string) => void;

function followFaults(add: Add): void {
  // In the capture phase, because the error event of something that fails to load does not bubble.
  addEventListener(
    "error",
    (event) => {
      if (event instanceof ErrorEvent) add("error", printed(event.error ?? event.message), placeOf(event));
      else if (event.target instanceof Element) add("error", `could not load ${addressOf(event.target)}`);
    },
    true,
  );
  addEventListener("unhandledrejection", (event) => add("error", rejectionOf(event)));
  document.addEventListener("securitypolicyviolation", (event) => {
    const what = event.blockedURI || "something inline";
    add("error", `${what} is not allowed in an app (${event.effectiveDirective})`, placeOf(event));
  });
}

function followConsole(add: Add): void {
  const levels = { error: "error", warn: "warn", info: "log", log: "log", debug: "log" } as const;
  for (const [name, level] of Object.entries(levels)) {
    const method = name as keyof typeof levels; // a key of the object above
    const original = console[method];
    console[method] = (...values: unknown[]) => {
      original.apply(console, values);
      add(level, values.map(printed).join(" "));
    };
  }
}

function rejectionOf(event: Event): string {
  return `Unhandled rejection: ${"reason" in event ? printed(event.reason) : ""}`;
}

interface ErrorPosition {
  readonly filename?: string;
  readonly sourceFile?: string | null;
  readonly lineno?: number;
  readonly lineNumber?: number;
  readonly colno?: number;
  readonly columnNumber?: number;
}

function placeOf(event: ErrorPosition): string {
  const file = event.filename || event.sourceFile || "";
  const line = event.lineno ?? event.lineNumber ?? 0;
  if (file === "" || line === 0) return "";
  const name = file.startsWith(`${location.origin}/a/-/`) ? "app" : (file.split("/").pop() ?? file);
  return `${name}:${line}:${event.colno ?? event.columnNumber ?? 0}`;
}

function addressOf(element: Element): string {
  return element.getAttribute("src") ?? element.getAttribute("href") ?? `a <${element.localName}>`;
}

/** Shortens the long name of the app's own file. */
function shortened(stack: string): string {
  return stack.replaceAll(/https?:\/\/[^\s)]{0,300}?\/a\/-\/[^\s):]+/g, "app");
}

function printed(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Error) return shortened(value.stack?.includes(value.message) ? value.stack : `${value}`);
  try {
    if (typeof value === "object" && value !== null) return JSON.stringify(value) ?? kindOf(value);
    return String(value);
  } catch {
    return kindOf(value);
  }
}

/** `[object Map]` */
function kindOf(value: unknown): string {
  return Object.prototype.toString.call(value);
}
