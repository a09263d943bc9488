/**
 * `localStorage`, `sessionStorage` and `document.cookie`, which the sandbox does not have: kept by `core.storage`, which
 * is asked at the first use, and in memory where that is closed. behaviour B.10.
 */
import { frameName } from "./frames.ts";
import type { Transport } from "./transport.ts";

/** The beginning of the keys of `core.storage` that are not the app's own. */
export const ownKeys = "core:";
const [local, session, cookie] = ["core:local:", "core:session:", "core:cookie:"];

/** Less than `core.storage` takes, which counts bytes. */
const mostCharacters = 800_000;
const mostItems = 900;
/** The server takes no longer key; longer ones stay in memory. */
const longestKey = 180;
const keptTabs = 5;
const retryMs = 5000;

interface StoredItem {
  readonly key: string;
  readonly value: unknown;
}

interface CookieValue {
  readonly value: string;
  /** In milliseconds; null = none. */
  readonly expires: number | null;
}

interface Tab {
  readonly at: number;
  readonly items: Readonly<Record<string, string>>;
}

/** `load`: what is stored on the server, read at once. */
export function installStorage(transport: Transport, address: string, load: (path: string) => unknown): void {
  const keeper = createKeeper(transport, address);
  let loaded: ReturnType<typeof sorted> | undefined;
  const all = () => (loaded ??= sorted(read(), keeper));
  const read = (): readonly StoredItem[] => {
    const kept = load(`${address}.json?prefix=${ownKeys}&values=true&limit=1000`) as StoredItem[] | null; // as our server answers
    keeper.isOpen = kept !== null;
    return kept ?? [];
  };
  const place = {
    localStorage: storageOf(
      () => all().local,
      (key, value) => keeper.keep(local + key, value),
    ),
    sessionStorage: storageOf(
      () => all().session,
      () => keeper.keep(session + tabName(), { at: Date.now(), items: Object.fromEntries(all().session) }),
    ),
  };
  for (const [name, value] of Object.entries(place))
    Object.defineProperty(window, name, { get: () => value, configurable: true, enumerable: true });
  Object.defineProperty(document, "cookie", {
    get: () => cookieText(all().cookies),
    set(text: unknown) {
      const given = cookieOf(String(text));
      if (given === undefined) return;
      const isOver = given.expires !== null && given.expires <= Date.now();
      if (isOver) all().cookies.delete(given.name);
      else all().cookies.set(given.name, given);
      keeper.keep(cookie + given.name, isOver ? undefined : { value: given.value, expires: given.expires });
    },
    configurable: true,
    enumerable: true,
  });
}

function sorted(kept: readonly StoredItem[], keeper: Keeper) {
  const starting = (start: string) =>
    kept.flatMap(({ key, value }) => (key.startsWith(start) ? [[key.slice(start.length), value] as const] : []));
  // This page has written the values below.
  const tabs = new Map(starting(session) as (readonly [string, Tab])[]);
  const others = [...tabs].filter(([name]) => name !== tabName()).toSorted(([, a], [, b]) => b.at - a.at);
  for (const [name] of others.slice(keptTabs)) keeper.keep(session + name, undefined);
  return {
    local: new Map(starting(local) as (readonly [string, string])[]),
    session: new Map(Object.entries(tabs.get(tabName())?.items ?? {})),
    cookies: new Map(starting(cookie) as (readonly [string, CookieValue])[]),
  };
}

/** The tab, as the page around the app calls it or, where there is none, as the window is called from now on. */
function tabName(): string {
  if (!window.name.startsWith(frameName)) window.name = frameName + Math.random().toString(36).slice(2);
  return window.name.slice(frameName.length, frameName.length + 100);
}

type Keeper = ReturnType<typeof createKeeper>;

/** Writes to the server, one after another; of several changes of one key the last. */
function createKeeper({ call }: Transport, address: string) {
  const waiting = new Map<string, unknown>();
  let isWriting = false;

  const write = async (key: string, value: unknown): Promise<void> => {
    const path = `${address}/${encodeURIComponent(key)}.json`;
    try {
      await (value === undefined ? call("DELETE", path) : call("PUT", path, { value }));
    } catch (error) {
      const status = error instanceof Error && "status" in error ? Number(error.status) : 0;
      if (status !== 429 && status < 500) {
        console.warn(`${key} stays in this page's memory`, error);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, retryMs));
      if (!waiting.has(key)) waiting.set(key, value);
    }
  };
  const writeAll = async () => {
    isWriting = true;
    for (const [key, value] of waiting) {
      waiting.delete(key);
      await write(key, value);
    }
    isWriting = false;
  };

  return {
    isOpen: false,
    /** `undefined` deletes. */
    keep(key: string, value: unknown): void {
      if (!this.isOpen || key.length > longestKey) return;
      waiting.set(key, value);
      if (!isWriting) void writeAll();
    },
  };
}

/** A `Storage`, with its items as properties. `changed`: undefined = the item is gone. */
function storageOf(
  items: () => Map<string, string>,
  changed: (key: string, value: string | undefined) => void,
): Storage {
  const set = (key: string, value: string) => {
    if (items().get(key) === value) return;
    refuseTooMuch(items(), key, value);
    items().set(key, value);
    changed(key, value);
  };
  const remove = (key: string) => {
    if (items().delete(key)) changed(key, undefined);
  };
  const methods: Readonly<Record<string, unknown>> = {
    getItem: (key: unknown) => items().get(String(key)) ?? null,
    setItem: (key: unknown, value: unknown) => set(String(key), String(value)),
    removeItem: (key: unknown) => remove(String(key)),
    clear: () => [...items().keys()].forEach(remove),
    key: (at: unknown) => [...items().keys()][Number(at)] ?? null,
  };
  return new Proxy<Storage>(Object.create(Storage.prototype), {
    get(target, name) {
      if (name === "length") return items().size;
      if (typeof name === "symbol") return Reflect.get(target, name);
      return methods[name] ?? items().get(name);
    },
    set(_, name, value) {
      if (typeof name === "string") set(name, String(value));
      return true;
    },
    deleteProperty(_, name) {
      if (typeof name === "string") remove(name);
      return true;
    },
    has: (target, name) => (typeof name === "string" && items().has(name)) || name in target,
    ownKeys: () => [...items().keys()],
    getOwnPropertyDescriptor(_, name) {
      const value = typeof name === "string" ? items().get(name) : undefined;
      return value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true };
    },
  });
}

function refuseTooMuch(items: ReadonlyMap<string, string>, key: string, value: string): void {
  let characters = key.length + value.length;
  for (const [name, text] of items) if (name !== key) characters += name.length + text.length;
  if (characters > mostCharacters || (items.size >= mostItems && !items.has(key)))
    throw new DOMException("an app may store at most 1 MB for each visitor", "QuotaExceededError");
}

function cookieText(cookies: ReadonlyMap<string, CookieValue>): string {
  const now = Date.now();
  const current = [...cookies].filter(([, { expires }]) => expires === null || expires > now);
  return current.map(([name, { value }]) => (name === "" ? value : `${name}=${value}`)).join("; ");
}

/** `theme=dark; Max-Age=3600`. Path, domain and flags mean nothing here. */
function cookieOf(text: string): (CookieValue & { readonly name: string }) | undefined {
  const [pair = "", ...attributes] = text.split(";");
  const equals = pair.indexOf("=");
  const [name, value] = [pair.slice(0, Math.max(equals, 0)).trim(), pair.slice(equals + 1).trim()];
  if (name === "" && value === "") return undefined;
  let expires: number | null = null;
  let hasAge = false;
  for (const attribute of attributes) {
    const [key = "", ...rest] = attribute.split("=");
    const given = rest.join("=").trim();
    if (/^\s*max-age\s*$/i.test(key) && /^-?\d+$/.test(given)) {
      hasAge = true;
      expires = Date.now() + Number(given) * 1000;
    } else if (/^\s*expires\s*$/i.test(key) && !hasAge && !Number.isNaN(Date.parse(given))) expires = Date.parse(given);
  }
  return { name, value, expires };
}
