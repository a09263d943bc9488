/** Every change of a site goes through here: one transaction, the site locked, its revision grown, the readers told. */
import { notFound, preconditionFailed, type Account, type BaseContext, type Tx } from "platform";
import type { Sites } from "./changes.ts";
import type { Ref } from "./code.ts";
import type { SiteStore } from "./sites/site-store.ts";

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

export type RunEdit = <T>(author: Author, run: (edit: SiteEdit) => Promise<T>) => Promise<T>;

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "committed">;
  readonly siteStore: Pick<SiteStore, "touch" | "touchAll">;
  readonly sites: Sites;
}

export function createRunEdit({ ctx, siteStore, sites }: Needed): RunEdit {
  return async (author, run) => {
    const accountId = author.account.id;
    const touched = new Set<number>();
    let hosts = false;
    const result = await ctx.transaction((tx) =>
      run({
        ...author,
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
    if (hosts) await ctx.committed(sites.hostsChanged);
    await Promise.all([...touched].map((siteId) => sites.invalidate(accountId, siteId)));
    return result;
  };
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
