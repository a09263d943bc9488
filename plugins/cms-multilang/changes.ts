/** What the writing side tells the reading side after a commit, before the request is answered. */
export interface Sites {
  /** Something in the site has changed: its `revision` has grown. */
  invalidate(accountId: number, siteId: number): Promise<void>;
  /** The map from hosts to sites, or a site's `active`, has changed. */
  hostsChanged(): Promise<void>;
}
