/** What the functions of this plugin share. */
import type { BaseContext } from "platform";
import type { Accounts } from "../accounts/api.ts";
import type { SiteCache } from "./render/door/cache.ts";
import type { SiteEngine } from "./render/templates/engine.ts";

export interface CmsContext extends BaseContext {
  readonly accounts: Accounts;
  readonly engine: SiteEngine;
  /** What is known of each site; told of every committed change. */
  readonly sites: SiteCache;
}
