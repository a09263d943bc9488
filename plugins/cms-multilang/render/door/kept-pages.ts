/**
 * What the door keeps between requests. Every key begins with the serial number of the site's state. A change of the
 * site gives it a new state, so nothing that was kept before is found again.
 */
import type { Reply } from "platform";
import type { Asked } from "./replies.ts";
import type { FoundPage } from "../addresses/find.ts";

interface Kept {
  readonly reply: Reply;
  /** Milliseconds since 1970 at which it expires; Infinity if only a change ends it. */
  readonly until: number;
}

export interface Answer extends Kept {
  /** The same for every visitor, so it may be kept. */
  readonly shared: boolean;
  /** The part of a list that it shows. A page with one part is kept once, whichever part was requested. */
  readonly page: number;
}

export interface KeptPages {
  /** The kept answer; never waits. */
  readonly peek: (asked: Asked, path: string) => Reply | undefined;
  /** The kept answer, else the result of `make`, which runs once for simultaneous requests to one address. */
  readonly get: (asked: Asked, path: string, make: () => Promise<Answer | null>) => Promise<Reply | null>;
}

/** The key holds the domain and never the raw Host header, so visitors cannot invent keys. */
type Place = Pick<Asked, "state" | "domain">;
type Shown = Place & Pick<Asked, "lang" | "page">;

/**
 * Answers by state, domain, language, part of a list and path. They end with the state and at their `until`: the next
 * publication of an article, a minute after a page printed the time, or five seconds after a template failed.
 */
export function createKeptPages(maxBytes: number, now: () => number): KeptPages {
  const pages = createByteCache<Kept>(maxBytes, ({ reply }) => reply.body?.length ?? 0);
  // Same key as for pages, plus the query, which an answer may depend on.
  const making = new Map<string, Promise<Answer | null>>();

  const peek = (asked: Shown, path: string): Reply | undefined => {
    const kept = pages.get(pageKey(asked, asked.page, path));
    return kept && kept.until > now() ? kept.reply : undefined;
  };

  return {
    peek,
    async get(asked, path, make) {
      const known = peek(asked, path);
      if (known) return known;
      // A path may hold a question mark, but not a line break.
      const address = `${pageKey(asked, asked.page, path)}\n${asked.search}`;
      const answer = await (making.get(address) ?? forgetWhenDone(making, address, make()));
      if (answer?.shared && answer.until > now()) pages.put(pageKey(asked, answer.page, path), answer);
      return answer && answer.reply;
    },
  };
}

function pageKey({ state, domain, lang }: Shown, page: number, path: string): string {
  return `${state.serial}/${domain.id}/${lang ?? ""}/${page}/${path}`;
}

export interface FoundPages {
  readonly get: (asked: Place, path: string) => FoundPage | undefined;
  readonly put: (asked: Place, path: string, found: FoundPage) => void;
}

/** Roughly the memory of one parsed tag, in characters. */
const parsedTagChars = 750;

/**
 * Pages with their inherited values, for pages that are rendered on each request; by state, locale of the domain and
 * path. They end with the state. A page that shows an article is looked up each time, because an article can appear or
 * go by itself.
 */
export function createFoundPages(maxBytes: number): FoundPages {
  const charsOf = ({ page: { content, fields } }: FoundPage) =>
    content.length + JSON.stringify(fields).length + parsedTagChars * (content.match(/\{[{%]/g)?.length ?? 0);
  const places = createByteCache<FoundPage>(maxBytes, charsOf);
  const keyOf = ({ state, domain }: Place, path: string) => `${state.serial}/${domain.locale ?? ""}/${path}`;
  return {
    get: (asked, path) => places.get(keyOf(asked, path)),
    put(asked, path, found) {
      const key = keyOf(asked, path);
      if (!found.article && places.get(key) !== found) places.put(key, found);
    },
  };
}

interface MissingPaths {
  readonly has: (asked: Place & Pick<Asked, "pathname">) => boolean;
  /**
   * Remembers it until the site changes, the next article appears (`nextArticle`, milliseconds since 1970) or ten
   * seconds have passed.
   */
  readonly add: (asked: Place & Pick<Asked, "pathname">, nextArticle?: number) => void;
}

const missingMs = 10_000;
export const maxMissing = 10_000;
export const maxMissingChars = 300;

/**
 * Missing paths by state, domain and path. The domain counts, because another domain of the site may have the path:
 * articles are found by the domain's locale.
 */
export function createMissingPaths(now: () => number): MissingPaths {
  const until = new Map<string, number>();
  const keyOf = ({ state, domain, pathname }: Place & Pick<Asked, "pathname">) =>
    `${state.serial}/${domain.id}${pathname}`;
  return {
    has: (asked) => (until.get(keyOf(asked)) ?? 0) > now(),
    add(asked, nextArticle = Infinity) {
      if (asked.pathname.length > maxMissingChars) return;
      if (until.size >= maxMissing) until.clear();
      until.set(keyOf(asked), Math.min(now() + missingMs, nextArticle));
    },
  };
}

function forgetWhenDone<T>(running: Map<string, Promise<T>>, key: string, work: Promise<T>): Promise<T> {
  const done = work.finally(() => {
    if (running.get(key) === done) running.delete(key);
  });
  running.set(key, done);
  return done;
}

/** Values by key, as many as fit into `maxBytes`. The least recently used go first. */
interface ByteCache<V> {
  get(key: string): V | undefined;
  put(key: string, value: V): void;
  delete(key: string): void;
  readonly bytes: number;
}

/** The cost of an entry in addition to its key and the counted part of its value. */
const overheadBytes = 1000;

/** `charsOf` returns the length of a value. A character counts as two bytes, because text outside Latin-1 takes two. */
export function createByteCache<V>(maxBytes: number, charsOf: (value: V) => number): ByteCache<V> {
  const entries = new Map<string, { readonly value: V; readonly size: number }>();
  let bytes = 0;
  const drop = (key: string) => {
    bytes -= entries.get(key)?.size ?? 0;
    entries.delete(key);
  };
  return {
    get bytes() {
      return bytes;
    },
    get(key) {
      const entry = entries.get(key);
      // A Map keeps the order of insertion. While there is room, nothing is dropped, so the order does not matter yet.
      if (entry && bytes * 2 > maxBytes) {
        entries.delete(key);
        entries.set(key, entry);
      }
      return entry?.value;
    },
    put(key, value) {
      drop(key);
      const size = overheadBytes + 2 * (key.length + charsOf(value));
      // A value that would crowd out most others is not kept.
      if (size * 4 > maxBytes) return;
      entries.set(key, { value, size });
      bytes += size;
      for (const oldest of entries.keys()) {
        if (bytes <= maxBytes) break;
        drop(oldest);
      }
    },
    delete: drop,
  };
}
