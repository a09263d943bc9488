/** Answers requests to the hosts of sites: pages, redirects, the sitemap, and what is missing. behaviour B.11. */
import { methodNotAllowed, type DoorRequest, type HostDoor, type Reply, type SiteDoor } from "platform";
import { askedPath, pathAddress } from "../addresses/addresses.ts";
import { addressIn, viewOf, type Asked } from "./asked.ts";
import { redirectReply } from "../addresses/redirects.ts";
import type { ReadShowing } from "../templates/showing.ts";
import type { SiteCache } from "./cache.ts";
import type { Composer } from "../compose.ts";
import { createErrorAnswers } from "./error-answers.ts";
import type { Finder } from "../addresses/find.ts";
import type { Host } from "./hosts.ts";
import { createKeptPages, createMissingPaths } from "./kept-pages.ts";
import { createPageAnswers } from "./page-answers.ts";
import type { RenderStore } from "../render-store.ts";
import { movedTo, plainPage } from "./replies.ts";
import { createSitemap } from "../sitemap/sitemap.ts";

interface Needed {
  readonly sites: SiteCache;
  readonly renderStore: RenderStore;
  readonly showingOf: ReadShowing;
  readonly finder: Finder;
  readonly composer: Composer;
  /** As in `BASE_URL`. */
  readonly scheme: () => string;
  readonly maxCacheBytes?: number;
  readonly now?: () => number;
  /** The number of addresses in one file of a sitemap. */
  readonly maxAddresses?: number;
}

export function createDoor(needed: Needed): HostDoor {
  const { sites, finder, scheme, now = Date.now, maxCacheBytes = 64_000_000 } = needed;
  const kept = createKeptPages(maxCacheBytes, now);
  const missing = createMissingPaths(now);
  const errorAnswer = createErrorAnswers({ ...needed, kept, now });
  const pageAnswer = createPageAnswers({ ...needed, errorAnswer, now });
  const sitemap = createSitemap(needed);

  const askedOf = async (owner: Host, { request, log }: DoorRequest): Promise<Asked | null> => {
    const state = sites.peek(owner.siteId) ?? (await sites.get(owner.siteId));
    const domain = state?.domains.find(({ id }) => id === owner.domainId);
    if (!state?.site.active || !domain) return null;
    return { state, domain, log, headOnly: request.method === "HEAD", ...addressIn(request.url) };
  };

  const answer = async (asked: Asked): Promise<Reply | Response | null> => {
    const path = askedPath(asked.pathname);
    if (!path) return null;
    if (!path.hasSlash) {
      const page = await kept.get(asked, path.path, () => pageAnswer(asked, path.path));
      return page ?? sitemap.answer(path.path, { ...asked, scheme: scheme() });
    }
    const found = await finder.find(viewOf(asked), path.path);
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
      return errorAnswer(asked, "404");
    },
  });

  /** Keyed by Host, which stays one object until it changes. */
  const doors = new WeakMap<Host, SiteDoor>();
  return {
    find(host) {
      const owner = sites.find(host);
      if (!owner) return undefined;
      const door = doors.get(owner) ?? doorOf(owner);
      doors.set(owner, door);
      return door;
    },
  };
}
