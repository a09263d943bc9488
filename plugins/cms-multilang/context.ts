/** What the functions of this plugin share. */
import type { BaseContext } from "platform";
import type { Accounts } from "../accounts/api.ts";
import type { JsonDatabases } from "../jsondb/api.ts";
import type { Media } from "../media/api.ts";
import type { Reading } from "./render/data.ts";
import type { SiteCache } from "./render/door/cache.ts";
import type { SiteEngine } from "./render/templates/engine.ts";

/** What pages are made with. */
export interface RenderContext extends Reading {
  readonly engine: SiteEngine;
  readonly media: Pick<Media, "picturesOf">;
}

export interface CmsContext extends BaseContext, RenderContext {
  readonly accounts: Accounts;
  readonly databases: Pick<JsonDatabases, "find">;
  /** What is known of each site; told of every committed change. */
  readonly sites: SiteCache;
}

/** `http:` or `https:`, as in `BASE_URL`. */
export const schemeOf = ({ origin }: Pick<BaseContext, "origin">) =>
  origin().startsWith("https:") ? "https:" : "http:";
