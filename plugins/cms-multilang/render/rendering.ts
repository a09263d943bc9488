/** Assembles the reading side. */
import type { BaseContext, HostDoor, Route } from "platform";
import type { Media } from "../../media/api.ts";
import type { Accounts } from "../../accounts/api.ts";

import { previewRoutes } from "./render-routes.ts";
import { createRenderStore } from "./render-store.ts";
import { createBlocks } from "./templates/blocks.ts";
import { createDrafts } from "./draft/drafts.ts";
import { draftRoutes } from "./draft/draft-routes.ts";
import { prune } from "./draft/preview-store.ts";
import { createSiteCache, type SiteCache } from "./door/cache.ts";
import { createComposer } from "./compose.ts";
import { createDoor } from "./door/door.ts";
import type { SiteEngine } from "./templates/engine.ts";
import { createFinder } from "./addresses/find.ts";
import { createPageUrls } from "./templates/page-urls.ts";
import { createPictures } from "./templates/pictures.ts";
import { createShowing, type ReadShowing } from "./templates/showing.ts";
import { createTemplates } from "./templates/templates.ts";

export interface SiteRendering {
  /** Called after every committed change. */
  readonly sites: SiteCache;
  readonly door: HostDoor;
  readonly routes: readonly Route[];
  readonly showingOf: ReadShowing;
  /** Deletes previews that have expired. */
  readonly prune: () => Promise<void>;
  /** Call it once the server knows its own address. */
  readonly warn: () => void;
}

interface Needed {
  readonly ctx: Pick<BaseContext, "sql" | "read" | "cache" | "broadcast" | "log" | "origin" | "transaction">;
  readonly accounts: Pick<Accounts, "accountById">;
  readonly media: Media;
  readonly engine: SiteEngine;
}

export function createSiteRendering({ ctx, accounts, media, engine }: Needed): SiteRendering {
  const renderStore = createRenderStore(ctx.sql, ctx.read);
  const sites = createSiteCache({ ctx, renderStore, account: (id) => accounts.accountById(id) });
  const templatesOf = createTemplates(renderStore, engine);
  const blocksOf = createBlocks(engine, templatesOf);
  const finder = createFinder(renderStore, blocksOf);
  const showingOf = createShowing({ renderStore, engine, blocksOf });
  const found = { picturesOf: createPictures(media), pageUrlsOf: createPageUrls(renderStore) };
  const composer = createComposer({ renderStore, engine, templatesOf, showingOf, ...found });
  media.onChanged(async (accountId) => {
    const ids = await renderStore.siteIds(accountId);
    await Promise.all(ids.map((id) => sites.invalidate(accountId, id)));
  });
  const scheme = () => (ctx.origin().startsWith("https:") ? "https:" : "http:");
  const door = createDoor({ sites, renderStore, showingOf, finder, composer, scheme });
  const drafts = createDrafts({ ctx, sites, finder, composer, engine, scheme });
  const isOwn = ownHost(ctx.origin);
  return {
    sites,
    // If a site took the account's own address, nobody could sign in there to change it.
    door: { find: (host) => (isOwn(host) ? undefined : door.find(host)) },
    routes: [...previewRoutes({ sites, renderStore, finder, composer, scheme }), ...draftRoutes(drafts)],
    showingOf,
    prune: () => prune(ctx.sql),
    warn() {
      const { host } = new URL(ctx.origin());
      const site = sites.find(host);
      if (site)
        ctx.log.warn("BASE_URL is a site's domain too: the account is served there, and the site is not", {
          host,
          site_id: site.siteId,
        });
    },
  };
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
