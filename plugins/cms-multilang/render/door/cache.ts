/**
 * What the reading side keeps in memory, and how a change ends it. A site's state is one object, and everything made
 * from it, pages included, is kept under its serial number. A change drops the object in every process before the
 * change is answered. A rendering that began earlier is then stored where nobody looks.
 */
import {
  type Reading,
  type CategoryData,
  type LayoutData,
  type RedirectData,
  type SiteData,
  type SiteFound,
} from "../data.ts";
import type { Account, BaseContext } from "platform";
import * as renderStore from "../store.ts";
import { nextPublication } from "../templates/article-list-store.ts";
import type { Domain } from "../addresses/addresses.ts";
import { createHosts, type Host } from "./hosts.ts";

export interface SiteState {
  /** Unique in this process; a change gives the site a new one. */
  readonly serial: number;
  readonly site: SiteData;
  readonly account: Account;
  readonly domains: readonly Domain[];
  readonly layout: (id: number) => Promise<LayoutData | undefined>;
  readonly categories: () => Promise<readonly CategoryData[]>;
  /** Those that editors have written; see redirects/rule.ts. */
  readonly redirects: () => Promise<ReadonlyMap<string, RedirectData>>;
  /** When the next article becomes visible. Until then, lists of articles are right. */
  readonly nextPublication: () => Promise<Date | null>;
}

export interface SiteCache extends Sites {
  /** Reads all hosts, before the first request. */
  load(): Promise<void>;
  find(host: string): Host | undefined;
  /** All hosts, by name. */
  hosts(): IterableIterator<[string, Host]>;
  /** The state, if it is in memory; never waits. */
  peek(siteId: number): SiteState | undefined;
  get(siteId: number): Promise<SiteState | undefined>;
}

type Cached = Reading & Pick<BaseContext, "cache" | "broadcast" | "log">;
type AccountOf = (id: number) => Promise<Account | undefined>;

const maxSites = 10_000;
let serials = 0;

export function createSiteCache(ctx: Cached, account: AccountOf): SiteCache {
  const hosts = createHosts({
    broadcast: ctx.broadcast,
    read: () => renderStore.hosts(ctx),
    account,
    failed: (error) => ctx.log.error("the hosts of sites could not be read", { error }),
  });
  const states = ctx.cache<SiteState>({
    name: "cms-sites",
    max: maxSites,
    load: async (key) => {
      const found = await renderStore.siteById(ctx, Number(key));
      const owner = found && (await account(found.site.accountId));
      return owner && newState(ctx, owner, found);
    },
  });

  return {
    load: hosts.load,
    find: hosts.find,
    hosts: hosts.all,
    peek: (siteId) => states.peek(`${siteId}`),
    get: (siteId) => states.get(`${siteId}`),
    invalidate: (_accountId, siteId) => states.invalidate(`${siteId}`),
    async hostsChanged() {
      await hosts.publish();
      // This also waits until every process has received what was published before.
      await states.clear();
    },
  };
}

/** Reads layouts, categories and redirects once per state; they end with it. */
function newState(
  ctx: Reading,
  account: Account,
  { site, domains, nextPublication: publication }: SiteFound,
): SiteState {
  const layouts = new Map<number, Promise<LayoutData | undefined>>();
  let categories: Promise<readonly CategoryData[]> | undefined;
  let redirects: Promise<ReadonlyMap<string, RedirectData>> | undefined;
  let next = publication;
  return {
    serial: ++serials,
    site,
    account,
    domains,
    layout: (id) => {
      const found = layouts.get(id) ?? forgetFailed(renderStore.layout(ctx, site, id), () => layouts.delete(id));
      layouts.set(id, found);
      return found;
    },
    categories: () => (categories ??= forgetFailed(renderStore.categories(ctx, site), () => (categories = undefined))),
    redirects: () => (redirects ??= forgetFailed(renderStore.redirects(ctx, site), () => (redirects = undefined))),
    nextPublication: async () => {
      // The article that was next may be visible by now.
      if (next && next.getTime() <= Date.now()) next = await nextPublication(ctx, site);
      return next;
    },
  };
}

/** Forgets a failed read, so that the next request tries again. */
function forgetFailed<T>(read: Promise<T>, forget: () => void): Promise<T> {
  read.catch(forget);
  return read;
}

/** What the writing side tells the reading side after a commit, before the request is answered. */
export interface Sites {
  /** Something in the site has changed: its `revision` has grown. */
  invalidate(accountId: number, siteId: number): Promise<void>;
  /** The map from hosts to sites, or a site's `active`, has changed. */
  hostsChanged(): Promise<void>;
}
