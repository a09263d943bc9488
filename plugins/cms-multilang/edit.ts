/**
 * Every change of a site goes through here: one transaction, the site locked, its revision grown, the readers told.
 * Below it is what the writers of all kinds share.
 */
import { notFound, type Account, type Mistakes, type Tx } from "platform";
import type { AfterCommit, At, Author as RowAuthor } from "platform";
import { codeFrom, freeOf, refOf, type Ref } from "./code.ts";
import type { CmsContext } from "./context.ts";
import { taken, type KindRow } from "./kind-store.ts";
import * as siteStore from "./sites/store.ts";

/** Who makes a change; null = nobody in person (a command, an import). */
export interface Author {
  readonly account: Pick<Account, "id" | "locale" | "timezone">;
  readonly userId: number | null;
  /** The host of the request. It serves the API, so it cannot become a site's. */
  readonly host?: string;
}

/** The open transaction: pass it to every function that writes. */
export interface SiteEdit extends Author, At<RowAuthor> {
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
  const afterCommit: AfterCommit[] = [];
  let hosts = false;
  const result = await cms.transaction((tx) =>
    run({
      ...cms,
      ...author,
      cms,
      tx,
      caller: { account: author.account, user: { id: author.userId } },
      transaction: (inner) => inner(tx),
      committed: async (then) => {
        afterCommit.push(then);
      },
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
  for (const then of afterCommit) await cms.committed(then);
  if (hosts) await cms.committed(cms.sites.hostsChanged);
  await Promise.all([...touched].map((siteId) => cms.sites.invalidate(accountId, siteId)));
  return result;
}

/** The version of this record that the caller has seen; undefined = any. */
export type Expected = (id: number) => number | undefined;

export const whichever: Expected = () => undefined;

export function hold({ touch, touchAll }: Pick<SiteEdit, "touch" | "touchAll">, siteId: number | null): Promise<void> {
  return siteId === null ? touchAll() : touch(siteId);
}

/** A row that this transaction has just written or locked. */
export function there<Row>(row: Row | undefined): Row {
  if (row === undefined) throw notFound();
  return row;
}

interface Titled {
  readonly code?: string | undefined;
  readonly name?: string | undefined;
}

interface SiteRefs {
  readonly site_code?: string | null | undefined;
  readonly site_id?: number | null | undefined;
}

interface Named {
  /** The fields of the reference are `<as>_code` and `<as>_id`. */
  readonly as: string;
  readonly what: string;
  readonly code: string | null | undefined;
  readonly id: number | null | undefined;
  /** The site of the record itself; the reference must be in the same one. */
  readonly siteId?: number | undefined;
}

/**
 * The record that a body names by code or id, in this site if one is given. Undefined: the body does not say. Null: it
 * says none, or names a record that does not exist (which adds a mistake).
 */
export async function named<Row extends { readonly id: number }>(
  wrong: Mistakes,
  { as, what, code, id, siteId }: Named,
  look: (ref: Ref) => Promise<Row | undefined>,
): Promise<Row | null | undefined> {
  if (!code && !id) return code === undefined && id === undefined ? undefined : null;
  const ref = refOf(code || `${id}`, siteId === undefined ? undefined : { id: siteId });
  const row = ref && (await look(ref));
  if (row && (!id || row.id === id)) return row;
  const where = siteId === undefined ? "account" : "site";
  wrong.add(row || !code ? `${as}_id` : `${as}_code`, `names no ${what} of this ${where}`);
  return null;
}

/** The id of the site that a body names. Undefined, with a mistake, if it names none. */
export async function siteIn(
  { tx, account }: SiteEdit,
  wrong: Mistakes,
  { site_code: code, site_id: id }: SiteRefs,
): Promise<number | undefined> {
  if (!code && !id) wrong.add("site_code", "is required");
  const given = { as: "site", what: "site", code, id };
  return (await named(wrong, given, (ref) => siteStore.byRef(tx, account.id, ref)))?.id;
}

/** The id of a record's site, which is locked then: it stays in its own, and a new one names its. Undefined: none. */
export async function placeOf(
  edit: SiteEdit,
  wrong: Mistakes,
  given: SiteRefs,
  before: (Pick<KindRow, "siteCode"> & { readonly siteId: number }) | undefined,
): Promise<number | undefined> {
  if (before) {
    if (given.site_code && given.site_code !== before.siteCode) wrong.add("site_code", "cannot be changed");
    if (given.site_id && given.site_id !== before.siteId) wrong.add("site_id", "cannot be changed");
    return before.siteId;
  }
  const siteId = await siteIn(edit, wrong, given);
  if (siteId !== undefined) await edit.touch(siteId);
  return siteId;
}

/**
 * The name and the code of a record of this site (null: of every one; undefined: of the account, or of none that is
 * known). Each defaults to the other; a code that is made of the name gets a number if another record has it.
 */
export async function titleOf(
  edit: SiteEdit,
  of: { readonly name: string; readonly table: string },
  { given, before }: { readonly given: Titled; readonly before: Required<Titled> | undefined },
  wrong: Mistakes,
  siteId: number | null | undefined,
): Promise<{ readonly name: string; readonly code: string }> {
  const name = given.name ?? before?.name ?? given.code;
  if (name === undefined) wrong.add("name", "is required");
  return { name: name ?? "", code: await codeOf(edit, of, given.code ?? before?.code, name ?? "", siteId) };
}

/** The code of a record: the given one, else one made from the name, with a number if the site already has it. */
export async function codeOf(
  edit: SiteEdit,
  of: { readonly name: string; readonly table: string },
  code: string | undefined,
  name: string,
  siteId: number | null | undefined,
): Promise<string> {
  if (code !== undefined) return code;
  const base = codeFrom(name, of.name);
  return freeOf(base, await taken(of, edit, siteId, base));
}
