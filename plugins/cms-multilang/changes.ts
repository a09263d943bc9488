/** What the writing side tells the reading side after a committed change, before the answer. */
export interface Sites {
  /** Anything of the site has changed: its `revision` has grown. */
  invalidate(accountId: number, siteId: number): Promise<void>;
  /** Which host is which site's, or a site's `active`, has changed. */
  hostsChanged(): Promise<void>;
}
