/** What is answered on the hosts of sites: pages, redirects, the sitemap, and what is missing. behaviour B.11. */
import type { DoorRequest, HostDoor, Log, Reply } from "platform";
import type { Locale } from "../locales.ts";
import type { ErrorKind } from "../pages/error-pages.ts";
import type { RenderStore } from "./render-store.ts";
import { askedPath, pathAddress, type Domain } from "./addresses.ts";
import type { ReadBlocks } from "./blocks.ts";
import type { SiteCache, SiteState } from "./cache.ts";
import type { Composer } from "./compose.ts";
import type { SiteEngine } from "./engine.ts";
import { TemplateFault } from "./fault.ts";
import { choiceOf, type Finder, type FoundPage, type View } from "./find.ts";
import { langOf } from "./locale.ts";
import { createByteCache } from "./page-cache.ts";
import { pageNumberOf } from "./pagination.ts";
import { cacheControlOf, htmlType, movedTo, noStore, pageReply, plainPage, typeOf, unchanged } from "./replies.ts";
import { createSitemap } from "./sitemap.ts";
import type { ComposeInput } from "./system-values.ts";
import { chooseVariant } from "./variant.ts";

export interface DoorOptions {
  readonly sites: SiteCache;
  readonly store: RenderStore;
  readonly engine: SiteEngine;
  readonly blocksOf: ReadBlocks;
  readonly finder: Finder;
  readonly composer: Composer;
  /** The scheme of `BASE_URL`. */
  readonly scheme: () => string;
  readonly maxCacheBytes?: number;
  readonly now?: () => number;
  /** Addresses in one file of a sitemap. */
  readonly maxAddresses?: number;
}

/** A request on a site's host. */
interface Asked {
  readonly state: SiteState;
  readonly domain: Domain;
  readonly pathname: string;
  readonly search: string;
  readonly query: URLSearchParams;
  readonly lang: Locale | undefined;
  /** `?page=`, from 1. */
  readonly page: number;
  readonly log: Log;
  readonly headOnly: boolean;
}

interface Kept {
  readonly reply: Reply;
  /** Milliseconds since 1970 from which on it is no longer right; Infinity where only a change ends it. */
  readonly until: number;
}

interface Answer extends Kept {
  readonly shared: boolean;
  /** Which part of a list it is, whatever was asked for: what has one part is kept once. */
  readonly page: number;
}

/** A template that fails is not run again for every request. */
const faultMs = 5000;
const maxFoundBytes = 16_000_000;
/** About what a parsed tag takes. */
const parsedTagChars = 750;
const missingMs = 10_000;
const maxMissing = 10_000;
const maxMissingChars = 300;
const noQuery = new URLSearchParams();

export function createDoor(options: DoorOptions): HostDoor {
  const { sites, store, finder, composer, scheme, now = Date.now } = options;
  const pages = createByteCache<Kept>(options.maxCacheBytes ?? 64_000_000, ({ reply }) => reply.body?.length ?? 0);
  const found = createFoundCache(maxFoundBytes);
  const making = new Map<string, Promise<Answer | null>>();
  const missing = createMissing(now);
  const sitemap = createSitemap(options);

  /** Kept answers, and one making for those who ask for the same at once. */
  const kept = async (asked: Asked, path: string, make: () => Promise<Answer | null>): Promise<Reply | null> => {
    const known = valid(pages.get(keyOf(asked, asked.page, path)), now());
    if (known) return known.reply;
    // A path may hold a question mark, but no line break.
    const own = `${keyOf(asked, asked.page, path)}\n${asked.search}`;
    const answer = making.get(own) ?? forgetWhenDone(making, own, make());
    const made = await answer;
    if (made?.shared && made.until > now()) pages.put(keyOf(asked, made.page, path), made);
    return made && made.reply;
  };

  const inputOf = (asked: Asked): ComposeInput => {
    const { domain, query, page } = asked;
    return { ...viewOf(asked), domain, scheme: scheme(), query, page };
  };

  const pageOf = async (asked: Asked, path: string): Promise<Answer | null> => {
    const view = viewOf(asked);
    const place = found.get(asked, path) ?? (await finder.find(view, path));
    if (!place) return null;
    if ("redirect" in place) {
      const reply = movedTo(pathAddress(place.redirect) + asked.search);
      return { reply, shared: false, until: 0, page: 1 };
    }
    found.put(asked, path, place);
    const { text, locale, page, pageNumber, shared, until } = await composer.compose(inputOf(asked), place);
    const cacheControl = shared ? cacheControlOf(page.cacheSeconds) : "private, no-cache";
    const reply = pageReply({ status: 200, text, type: typeOf(path), locale, cacheControl });
    return { reply, shared, until, page: pageNumber };
  };

  const pageAt = async (asked: Asked, path: string): Promise<Answer | null> => {
    try {
      return await pageOf(asked, path);
    } catch (error) {
      if (!(error instanceof TemplateFault)) throw error;
      const { state, domain } = asked;
      asked.log.error("a page of a site failed", {
        site: state.site.code,
        domain: domain.name,
        path,
        error: error.message,
      });
      const reply = await errorPage(asked, "500");
      return { reply, shared: true, until: now() + faultMs, page: asked.page };
    }
  };

  /** The site's own page for what is missing or has failed; a plain one where it has none, or that one fails too. */
  const errorPage = async (request: Asked, kind: ErrorKind): Promise<Reply> => {
    const asked = { ...request, page: 1 }; // whatever part of a list is missing: it is kept once
    const view = viewOf(asked);
    const plain = plainPage(kind);
    const made = await kept(asked, `\u0000${kind}`, async () => {
      const page = chooseVariant(await store.errorPages(asked.state.site, kind), choiceOf(view));
      if (!page) return { reply: plain, shared: true, until: Infinity, page: 1 };
      try {
        const composed = await composer.compose(inputOf(asked), await finder.complete(view, page));
        const { text, locale, shared, until } = composed;
        const reply = pageReply({ status: Number(kind), text, type: htmlType, locale, cacheControl: noStore });
        return { reply, shared, until, page: 1 };
      } catch (error) {
        if (!(error instanceof TemplateFault)) throw error;
        asked.log.error("a site's error page failed", { site: asked.state.site.code, kind, error: error.message });
        return { reply: plain, shared: true, until: now() + faultMs, page: 1 };
      }
    });
    return made ?? plain;
  };

  const askedOf = async ({ request, host, log }: DoorRequest): Promise<Asked | null> => {
    const owner = sites.find(host);
    if (!owner) return null;
    const state = sites.peek(owner.siteId) ?? (await sites.get(owner.siteId));
    const domain = state?.domains.find(({ id }) => id === owner.domainId);
    if (!state?.site.active || !domain) return null;
    return { state, domain, log, headOnly: request.method === "HEAD", ...partsOf(request.url) };
  };

  const fresh = async (asked: Asked): Promise<Reply | Response | null> => {
    const path = askedPath(asked.pathname);
    if (!path) return null;
    if (!path.hasSlash) {
      const page = await kept(asked, path.path, () => pageAt(asked, path.path));
      return page ?? sitemap.answer(path.path, { ...asked, scheme: scheme() });
    }
    const place = await finder.find(viewOf(asked), path.path);
    if (!place) return null;
    return movedTo(pathAddress("redirect" in place ? place.redirect : path.path) + asked.search);
  };

  return {
    find: sites.find,
    async page(request) {
      const asked = await askedOf(request);
      if (!asked) return null;
      const { pathname } = asked;
      // A path without a percent sign is kept as it is asked for: nothing to decode.
      const key = keyOf(asked, asked.page, pathname.slice(1));
      const known = pathname.includes("%") ? undefined : valid(pages.get(key), now());
      // What other routes answer here, and what nobody does, is asked for again and again too.
      if (!known && missing.has(asked)) return null;
      // Before the page is looked for: what appears meanwhile would else be missing for a while.
      const next = known ? null : await asked.state.nextPublication();
      const reply = known?.reply ?? (await fresh(asked));
      if (!reply) missing.add(asked, next?.getTime());
      if (!reply || reply instanceof Response) return reply;
      return unchanged(reply, request.request.headers.get("if-none-match"));
    },
    async missing(request) {
      const asked = await askedOf(request);
      return asked ? errorPage(asked, "404") : plainPage("404");
    },
  };
}

/** Never by the raw Host: a domain is one of ours. */
function keyOf({ state, domain, lang }: Asked, page: number, path: string): string {
  return `${state.serial}/${domain.id}/${lang ?? ""}/${page}/${path}`;
}

function valid(kept: Kept | undefined, now: number): Kept | undefined {
  return kept && kept.until > now ? kept : undefined;
}

/** Pages as they were found, for those that are rendered anew each time. What an article is may change by itself. */
function createFoundCache(maxBytes: number) {
  const charsOf = ({ page: { content, fields } }: FoundPage) =>
    content.length + JSON.stringify(fields).length + parsedTagChars * (content.match(/\{[{%]/g)?.length ?? 0);
  const places = createByteCache<FoundPage>(maxBytes, charsOf);
  const keyFor = ({ state, domain }: Asked, path: string) => `${state.serial}/${domain.locale ?? ""}/${path}`;
  return {
    get: (asked: Asked, path: string) => places.get(keyFor(asked, path)),
    put(asked: Asked, path: string, place: FoundPage) {
      const key = keyFor(asked, path);
      if (!place.article && places.get(key) !== place) places.put(key, place);
    },
  };
}

/**
 * Paths that a domain does not have, for a while: until its site changes, or the next article appears. Another domain of
 * the site may well have them, since an article is found by the domain's locale.
 */
function createMissing(now: () => number) {
  const until = new Map<string, number>();
  const key = ({ state, domain, pathname }: Asked) => `${state.serial}/${domain.id}${pathname}`;
  return {
    has: (asked: Asked) => (until.get(key(asked)) ?? 0) > now(),
    add(asked: Asked, nextArticle = Infinity) {
      if (asked.pathname.length > maxMissingChars) return;
      if (until.size >= maxMissing) until.clear();
      until.set(key(asked), Math.min(now() + missingMs, nextArticle));
    },
  };
}

function viewOf({ state, domain, lang }: Asked): View {
  return { state, lang, domainLocale: domain.locale, preview: false, drafts: false };
}

function partsOf(url: string): Pick<Asked, "pathname" | "search" | "query" | "lang" | "page"> {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const whole = start < 0 ? "/" : url.slice(start);
  const mark = whole.indexOf("?");
  if (mark < 0) return { pathname: whole, search: "", query: noQuery, lang: undefined, page: 1 };
  const query = new URLSearchParams(whole.slice(mark + 1));
  const [lang, page] = [langOf(query), pageNumberOf(query)];
  return { pathname: whole.slice(0, mark), search: whole.slice(mark), query, lang, page };
}

function forgetWhenDone<T>(running: Map<string, Promise<T>>, key: string, work: Promise<T>): Promise<T> {
  const done = work.finally(() => {
    if (running.get(key) === done) running.delete(key);
  });
  running.set(key, done);
  return done;
}
