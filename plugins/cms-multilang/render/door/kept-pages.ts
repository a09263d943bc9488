/**
 * What the door keeps between requests. Every key begins with the serial number of the site's state. A change of the
 * site gives it a new state, so nothing that was kept before is found again.
 */
import type { Reply } from "platform";
import type { Asked } from "./asked.ts";
import type { FoundPage } from "../addresses/find.ts";
import { createByteCache } from "./page-cache.ts";

export interface Kept {
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

export interface MissingPaths {
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
