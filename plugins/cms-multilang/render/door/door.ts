/** Answers requests to the hosts of sites: pages, redirects, the sitemap, and what is missing. behaviour B.11. */
import { methodNotAllowed, type DoorRequest, type HostDoor, type Reply, type SiteDoor } from "platform";
import { askedPath, pathAddress } from "../addresses/addresses.ts";
import { addressIn, viewOf, type Asked } from "./asked.ts";
import { redirectReply } from "../addresses/redirects.ts";
import { errorAnswer } from "./error-answers.ts";
import type { Host } from "./hosts.ts";
import { createFoundPages, createKeptPages, createMissingPaths } from "./kept-pages.ts";
import { pageAnswer } from "./page-answers.ts";
import { movedTo, plainPage } from "./replies.ts";
import { createSitemap } from "../sitemap/sitemap.ts";
import * as finder from "../addresses/find.ts";
import { schemeOf, type CmsContext } from "../../context.ts";

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
    const found = await finder.findPage(ctx, viewOf(asked), path.path);
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
