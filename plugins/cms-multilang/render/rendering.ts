/** Puts the reading side together. */
import type { BaseContext, HostDoor, Route } from "platform";
import type { Accounts } from "../../accounts/api.ts";
import type { Sites } from "../changes.ts";
import { previewRoutes } from "../render-routes.ts";
import { createRenderStore } from "../render-store.ts";
import { createSites } from "./cache.ts";
import { createComposer } from "./compose.ts";
import { createDoor } from "./door.ts";
import { siteEngine } from "./engine.ts";
import { createFinder } from "./find.ts";

export interface SiteRendering {
  /** Told of every committed change. */
  readonly sites: Sites;
  readonly door: HostDoor;
  readonly routes: readonly Route[];
}

export interface SiteRenderingOptions {
  readonly ctx: Pick<BaseContext, "sql" | "cache" | "broadcast" | "log" | "origin">;
  readonly accounts: Pick<Accounts, "accountById">;
}

export async function createSiteRendering({ ctx, accounts }: SiteRenderingOptions): Promise<SiteRendering> {
  const store = createRenderStore(ctx.sql);
  const sites = createSites({ ctx, store, account: (id) => accounts.accountById(id) });
  await sites.load();
  const engine = siteEngine();
  const finder = createFinder(store, engine);
  const composer = createComposer(store, engine);
  const scheme = () => (ctx.origin().startsWith("https:") ? "https:" : "http:");
  return {
    sites,
    door: createDoor({ sites, store, engine, finder, composer, scheme }),
    routes: previewRoutes({ sites, store, finder, composer, scheme }),
  };
}
