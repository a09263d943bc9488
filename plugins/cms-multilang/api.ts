/** What other plugins, imports and commands may do with sites: the API of `/cms/…` without HTTP. */
import { service, type Account, type Tx } from "platform";

export const cmsKinds = ["site", "domain", "layout", "category", "page", "paragraph", "article"] as const;
/** In an order in which what others name comes first. */
export type CmsKind = (typeof cmsKinds)[number];

/** Who changes something; null = no person (a command, an import). */
export interface CmsAuthor {
  readonly account: Pick<Account, "id" | "locale" | "timezone">;
  readonly userId: number | null;
}

/** A record as the API answers it. */
export type CmsRecord = Readonly<Record<string, unknown>> & { readonly id: number };

/**
 * The writes of one transaction. Bodies are those of the API (untrusted: their types are checked). What does not fit
 * throws 422 by field, what is not there 404; one throw undoes them all.
 */
export interface CmsWrites {
  readonly tx: Tx;
  create(kind: CmsKind, body: unknown): Promise<CmsRecord>;
  /**
   * `ref` is an id or a code; of a domain, its name. A code is unique in its site: without `siteCode` ("none" = of no
   * site) it is taken where only one site has it, else 409. Fields that the body leaves out stay as they are.
   */
  update(kind: CmsKind, ref: string, body: unknown, siteCode?: string): Promise<CmsRecord>;
  /** Makes the record of this code in the body's site (of a domain: of this `name`), or changes it. */
  put(kind: CmsKind, body: unknown): Promise<{ readonly record: CmsRecord; readonly made: boolean }>;
  remove(kind: CmsKind, ref: string, siteCode?: string): Promise<void>;
  find(kind: CmsKind, ref: string, siteCode?: string): Promise<CmsRecord | undefined>;
}

export interface Cms {
  /** Everything in one transaction; afterwards every process shows the sites as they are now. */
  change<T>(author: CmsAuthor, run: (writes: CmsWrites) => Promise<T>): Promise<T>;
  find(accountId: number, kind: CmsKind, ref: string, siteCode?: string): Promise<CmsRecord | undefined>;
  /** By the query parameters of the list, e.g. `new URLSearchParams({ site_code: "acme" })`; at most 1,000 a call. */
  list(
    accountId: number,
    kind: CmsKind,
    query: URLSearchParams,
  ): Promise<{ readonly records: readonly CmsRecord[]; readonly total: number }>;
  /**
   * Makes the site of this code what its files say (the folder of `corestead site push`, text by path): in one
   * transaction, and nothing where a file has a mistake. Gives back the difference in lines; a second time, none.
   */
  pushFiles(author: CmsAuthor, site: string, files: ReadonlyMap<string, string>): Promise<readonly string[]>;
}

export const cms = service<Cms>("cms");
