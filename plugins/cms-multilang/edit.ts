/** Every change of a site is made here: one transaction, the site locked, its revision grown, the readers told. */
import { notFound, preconditionFailed, type Account, type BaseContext, type Tx } from "platform";
import type { Sites } from "./changes.ts";
import type { Ref } from "./code.ts";
import type { SiteStore } from "./sites/site-store.ts";

/** Who changes something; null = no person (a command, an import). */
export interface Author {
  readonly account: Pick<Account, "id" | "locale" | "timezone">;
  readonly userId: number | null;
  /** The host that the request came to: it serves the API, so it cannot be a site's. */
  readonly host?: string;
}

/** The transaction that is under way: hand it to every function that writes. */
export interface SiteEdit extends Author {
  readonly tx: Tx;
  /**
   * Grows the site's revision, once, and so holds the site until the transaction ends: changes of one site happen one
   * after another, and rules that look at several of its records hold. Throws 404 where the site is gone.
   */
  touch(siteId: number): Promise<void>;
  /** The same for every site of the account. */
  touchAll(): Promise<void>;
  /** Which host is which site's will be different. */
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

/** The version that the caller has seen of this record; undefined = whichever. */
export type Expected = (id: number) => number | undefined;

export const whichever: Expected = () => undefined;

export interface Found {
  readonly id: number;
  readonly version: number;
  readonly siteId: number | null;
}

/**
 * The record as it is while its site is held; where it has no site, all are. Throws 404, and 412 where it is not of the
 * version expected.
 */
export async function locked<Row extends Found>(
  edit: SiteEdit,
  find: (ref: Ref) => Promise<Row | undefined>,
  ref: Ref,
  expected: Expected,
): Promise<Row> {
  const seen = await find(ref);
  if (!seen) throw notFound();
  // Compared first, so that a tag of another record is refused whether or not this one is held.
  const version = expected(seen.id);
  await (seen.siteId === null ? edit.touchAll() : edit.touch(seen.siteId));
  const row = await find({ id: seen.id });
  if (!row) throw notFound();
  if (version !== undefined && row.version !== version) throw preconditionFailed();
  return row;
}
