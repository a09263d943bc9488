/** Every change of a site goes through here: one transaction, the site locked, its revision grown, the readers told. */
import { notFound, preconditionFailed, type Account, type Tx } from "platform";
import type { Ref } from "./code.ts";
import type { CmsContext } from "./context.ts";
import * as siteStore from "./sites/site-store.ts";

/** Who makes a change; null = nobody in person (a command, an import). */
export interface Author {
  readonly account: Pick<Account, "id" | "locale" | "timezone">;
  readonly userId: number | null;
  /** The host of the request. It serves the API, so it cannot become a site's. */
  readonly host?: string;
}

/** The open transaction: pass it to every function that writes. */
export interface SiteEdit extends Author {
  readonly tx: Tx;
  readonly cms: CmsContext;
  /**
   * Grows the site's revision, once, and thereby locks the site until the transaction ends. Changes of one site happen
   * one after another, so rules that span several of its records hold. Throws 404 if the site is gone.
   */
  touch(siteId: number): Promise<void>;
  /** Does the same for every site of the account. */
  touchAll(): Promise<void>;
  /** To be called if the map from hosts to sites changes. */
  hostsChange(): void;
}

export async function runEdit<T>(cms: CmsContext, author: Author, run: (edit: SiteEdit) => Promise<T>): Promise<T> {
  const accountId = author.account.id;
  const touched = new Set<number>();
  let hosts = false;
  const result = await cms.transaction((tx) =>
    run({
      ...author,
      cms,
      tx,
      touch: async (siteId) => {
        if (touched.has(siteId)) return;
        if (!(await siteStore.touch(tx, accountId, siteId))) throw notFound();
        touched.add(siteId);
      },
      touchAll: async () => {
        for (const id of await siteStore.touchAll(tx, accountId, [...touched])) touched.add(id);
      },
      hostsChange: () => {
        hosts = true;
      },
    }),
  );
  if (hosts) await cms.committed(cms.sites.hostsChanged);
  await Promise.all([...touched].map((siteId) => cms.sites.invalidate(accountId, siteId)));
  return result;
}

/** The version of this record that the caller has seen; undefined = any. */
export type Expected = (id: number) => number | undefined;

export const whichever: Expected = () => undefined;

export interface Found {
  readonly id: number;
  readonly version: number;
  readonly siteId: number | null;
}

/**
 * The record, read again after its site is locked (all sites, if it belongs to none). Throws 404 if it is gone, and 412
 * if its version is not the expected one.
 */
export async function locked<Row extends Found>(
  edit: SiteEdit,
  find: (ref: Ref) => Promise<Row | undefined>,
  ref: Ref,
  expected: Expected,
): Promise<Row> {
  const seen = await find(ref);
  if (!seen) throw notFound();
  // Compared before locking, so that the tag of another record is refused in any case.
  const version = expected(seen.id);
  await (seen.siteId === null ? edit.touchAll() : edit.touch(seen.siteId));
  const row = await find({ id: seen.id });
  if (!row) throw notFound();
  if (version !== undefined && row.version !== version) throw preconditionFailed();
  return row;
}
