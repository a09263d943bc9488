/** Answers requests to the hosts of sites: pages, redirects, the sitemap, and what is missing. behaviour B.11. */
import { methodNotAllowed, type DoorRequest, type HostDoor, type Reply, type SiteDoor } from "platform";
import { askedPath, pathAddress, effectiveLocale } from "../addresses/addresses.ts";
import {
  addressIn,
  viewOf,
  type Asked,
  composeInputOf,
  movedTo,
  plainPage,
  cacheControlOf,
  pageReply,
  typeOf,
  htmlType,
  noStore,
  redirectTo,
} from "./replies.ts";
import type { Host } from "./hosts.ts";
import { createFoundPages, createKeptPages, createMissingPaths } from "./kept-pages.ts";
import type { Answer, FoundPages, KeptPages } from "./kept-pages.ts";
import { createSitemap } from "../sitemap/sitemap.ts";
import { schemeOf, type CmsContext } from "../../context.ts";
import { TemplateFault } from "../templates/blocks.ts";
import { findPage, choiceOf, completePage } from "../addresses/find.ts";
import { compose } from "../compose.ts";
import type { ErrorKind } from "../../rows.ts";
import { chooseVariant } from "../addresses/variant.ts";
import { errorPages } from "../addresses/variant-store.ts";
import { leavesHost, redirectKey } from "../../redirects/rule.ts";

const maxCacheBytes = 64_000_000;
const maxFoundBytes = 16_000_000;

export function createDoor(ctx: CmsContext): HostDoor {
  const kept = createKeptPages(maxCacheBytes, Date.now);
  const missing = createMissingPaths(Date.now);
  const foundPages = createFoundPages(maxFoundBytes);
  const sitemap = createSitemap(ctx);
  const isOwn = ownHost(ctx.origin);

  const askedOf = async (owner: Host, { request, log }: DoorRequest): Promise<Asked | null> => {
    const state = ctx.sites.peek(owner.siteId) ?? (await ctx.sites.get(owner.siteId));
    const domain = state?.domains.find(({ id }) => id === owner.domainId);
    if (!state?.site.active || !domain) return null;
    return { state, domain, log, headOnly: request.method === "HEAD", ...addressIn(request.url) };
  };

  const answer = async (asked: Asked): Promise<Reply | Response | null> => {
    const path = askedPath(asked.pathname);
    if (!path) return null;
    if (!path.hasSlash) {
      const page = await kept.get(asked, path.path, () => pageAnswer(ctx, { kept, foundPages }, asked, path.path));
      return page ?? sitemap.answer(path.path, { ...asked, scheme: schemeOf(ctx) });
    }
    const found = await findPage(ctx, viewOf(asked), path.path);
    if (!found) return (await redirectReply(asked, path.path)) ?? null;
    return movedTo(pathAddress("redirect" in found ? found.redirect : path.path) + asked.search);
  };

  /** Remembers missing paths too. Other routes answer some of them, and both kinds are requested again and again. */
  const answerOrMiss = async (asked: Asked): Promise<Reply | Response | null> => {
    if (missing.has(asked)) return null;
    // Read before the page is looked up. Otherwise an article that appears meanwhile would be missing for a while.
    const next = await asked.state.nextPublication();
    const found = await answer(asked);
    if (!found) missing.add(asked, next?.getTime());
    return found;
  };

  const doorOf = (owner: Host): SiteDoor => ({
    account: owner.account,
    async page(request) {
      const asked = await askedOf(owner, request);
      if (!asked) return null;
      const { pathname } = asked;
      // A path without a percent sign needs no decoding, so its key is known at once.
      const known = pathname.includes("%") ? undefined : kept.peek(asked, pathname.slice(1));
      return known ?? answerOrMiss(asked);
    },
    async missing(request) {
      const asked = await askedOf(owner, request);
      if (!asked) return plainPage("404", "en");
      const isRead = ["GET", "HEAD"].includes(request.request.method);
      if (!isRead && (await answerOrMiss(asked))) throw methodNotAllowed(["GET", "HEAD"]);
      return errorAnswer(ctx, kept, asked, "404");
    },
  });

  /** Keyed by Host, which stays one object until it changes. */
  const doors = new WeakMap<Host, SiteDoor>();
  return {
    find(host) {
      // If a site took the account's own address, nobody could sign in there to change it.
      if (isOwn(host)) return undefined;
      const owner = ctx.sites.find(host);
      if (!owner) return undefined;
      const door = doors.get(owner) ?? doorOf(owner);
      doors.set(owner, door);
      return door;
    },
  };
}

/** To be called once the server knows its own address. */
export function warnOfOwnHost({ origin, sites, log }: CmsContext): void {
  const { host } = new URL(origin());
  const site = sites.find(host);
  if (site)
    log.warn("BASE_URL is a site's domain too: the account is served there, and the site is not", {
      host,
      site_id: site.siteId,
    });
}

/** Every request asks, so the host is parsed once. The address is only known when the server listens. */
function ownHost(origin: () => string): (host: string) => boolean {
  let known = { origin: "", host: "" };
  return (host) => {
    const now = origin();
    if (known.origin !== now) known = { origin: now, host: new URL(now).host };
    return host === known.host;
  };
}

/** What the door keeps in memory. */
interface Memory {
  readonly kept: KeptPages;
  readonly foundPages: FoundPages;
}

/** Null if the path leads nowhere. */
async function pageAnswer(ctx: CmsContext, memory: Memory, asked: Asked, path: string): Promise<Answer | null> {
  try {
    return await pageOf(ctx, memory.foundPages, asked, path);
  } catch (error) {
    if (!(error instanceof TemplateFault)) throw error;
    const { state, domain, log } = asked;
    log.error("a page of a site failed", { site: state.site.code, domain: domain.name, path, error: error.message });
    const reply = await errorAnswer(ctx, memory.kept, asked, "500");
    return { reply, shared: true, until: Date.now() + faultMs, page: asked.page };
  }
}

async function pageOf(ctx: CmsContext, foundPages: FoundPages, asked: Asked, path: string): Promise<Answer | null> {
  const found = foundPages.get(asked, path) ?? (await findPage(ctx, viewOf(asked), path));
  if (!found) {
    const reply = await redirectReply(asked, path);
    return reply ? { reply, shared: false, until: 0, page: 1 } : null;
  }
  if ("redirect" in found) {
    const reply = movedTo(pathAddress(found.redirect) + asked.search);
    return { reply, shared: false, until: 0, page: 1 };
  }
  foundPages.put(asked, path, found);
  const made = await compose(ctx, composeInputOf(asked, schemeOf(ctx)), found);
  const { text, locale, page, pageNumber, shared, until } = made;
  const cacheControl = shared ? cacheControlOf(page.cacheSeconds) : "private, no-cache";
  const reply = pageReply({ status: 200, text, type: typeOf(path), locale, cacheControl });
  return { reply, shared, until, page: pageNumber };
}

/** How long a template that fails is not run again. */
const faultMs = 5000;

/** The site's own page of this kind. A plain one stands in if it has none, or if its own one fails too. */
async function errorAnswer(ctx: CmsContext, kept: KeptPages, request: Asked, kind: ErrorKind): Promise<Reply> {
  // Kept once, whichever part of a list was requested.
  const asked = { ...request, page: 1 };
  const { state, domain, lang } = asked;
  const locale = effectiveLocale({ page: null, lang, domain: domain.locale, site: state.site.locale });
  const plain = (until: number): Answer => ({ reply: plainPage(kind, locale), shared: true, until, page: 1 });
  // No path holds this character, so no page's key can equal it.
  const reply = await kept.get(asked, `\u0000${kind}`, async () => {
    try {
      return (await ownPage(ctx, asked, kind)) ?? plain(Infinity);
    } catch (error) {
      if (!(error instanceof TemplateFault)) throw error;
      asked.log.error("a site's error page failed", { site: asked.state.site.code, kind, error: error.message });
      return plain(Date.now() + faultMs);
    }
  });
  return reply ?? plainPage(kind, locale);
}

async function ownPage(ctx: CmsContext, asked: Asked, kind: ErrorKind): Promise<Answer | undefined> {
  const view = viewOf(asked);
  const page = chooseVariant(await errorPages(ctx, asked.state.site, kind), choiceOf(view));
  if (!page) return undefined;
  const found = await completePage(ctx, view, page);
  const { text, locale, shared, until } = await compose(ctx, composeInputOf(asked, schemeOf(ctx)), found);
  const reply = pageReply({ status: Number(kind), text, type: htmlType, locale, cacheControl: noStore });
  return { reply, shared, until, page: 1 };
}

/** Where a path without a page leads; one for the domain comes first. The request's query goes along unless there is one. */
async function redirectReply({ state, domain, search }: Asked, path: string) {
  const rules = await state.redirects();
  const rule = rules.get(redirectKey(domain.id, path)) ?? rules.get(redirectKey(null, path));
  // Earlier versions have stored such targets.
  if (!rule || leavesHost(rule.target)) return undefined;
  const { target, status } = rule;
  const [before = "", ...hash] = target.split("#");
  const location = search === "" || before.includes("?") ? target : [before + search, ...hash].join("#");
  return redirectTo(status, location);
}
