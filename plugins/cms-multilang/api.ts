/** What other plugins, imports and commands can do with sites: the API of `/cms/…` without HTTP. */
import { service, type Account, type Tx } from "platform";

export const cmsKinds = ["site", "domain", "layout", "category", "page", "paragraph", "article"] as const;
/** In the order in which records are written: a record comes after those that it refers to. */
export type CmsKind = (typeof cmsKinds)[number];

/** Who makes a change; null = nobody in person (a command, an import). */
export interface CmsAuthor {
  readonly account: Pick<Account, "id" | "locale" | "timezone">;
  readonly userId: number | null;
}

/** A record as the API shows it. */
export type CmsRecord = Readonly<Record<string, unknown>> & { readonly id: number };

/**
 * The writes of one transaction. Bodies are those of the API; they are untrusted, so their types are checked. A value
 * that does not fit throws 422 by field, a missing record 404. A single throw undoes them all.
 */
export interface CmsWrites {
  readonly tx: Tx;
  create(kind: CmsKind, body: unknown): Promise<CmsRecord>;
  /**
   * `ref` is an id or a code (of a domain, its name). A code is unique in its site. Without `siteCode` ("none" =
   * belongs to no site) it is enough if only one site has it, else 409. Fields that the body leaves out stay as they
   * are.
   */
  update(kind: CmsKind, ref: string, body: unknown, siteCode?: string): Promise<CmsRecord>;
  /** Changes the record of this code in the body's site (for a domain: of this `name`), or creates it. */
  put(kind: CmsKind, body: unknown): Promise<{ readonly record: CmsRecord; readonly made: boolean }>;
  remove(kind: CmsKind, ref: string, siteCode?: string): Promise<void>;
  find(kind: CmsKind, ref: string, siteCode?: string): Promise<CmsRecord | undefined>;
}

export interface Cms {
  /** The domains of all accounts' active sites, without ports, as every request finds them; asks no database. */
  hosts(): readonly { readonly host: string; readonly accountId: number }[];
  /** The account of a domain; undefined if no active site has it. Asks no database. */
  hostOwner(host: string): number | undefined;
  /** Runs everything in one transaction. Afterwards every process shows the new state of the sites. */
  change<T>(author: CmsAuthor, run: (writes: CmsWrites) => Promise<T>): Promise<T>;
  find(accountId: number, kind: CmsKind, ref: string, siteCode?: string): Promise<CmsRecord | undefined>;
  /**
   * Takes the query parameters of the list, e.g. `new URLSearchParams({ site_code: "acme" })`; at most 1,000 per call.
   */
  list(
    accountId: number,
    kind: CmsKind,
    query: URLSearchParams,
  ): Promise<{ readonly records: readonly CmsRecord[]; readonly total: number }>;
  /**
   * Makes the site of this code match its files (the folder of `corestead site push`, text by path), in one
   * transaction. If any file has a mistake, nothing changes. Returns the difference in lines; a second call finds none.
   */
  pushFiles(author: CmsAuthor, site: string, files: ReadonlyMap<string, string>): Promise<readonly string[]>;
}

export const cms = service<Cms>("cms");
