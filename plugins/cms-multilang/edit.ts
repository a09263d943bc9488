/**
 * Every change of a site goes through here: one transaction, the site locked, its revision grown, the readers told.
 * Below it is what the writers of all kinds share.
 */
import { mistakes, notFound, preconditionFailed, type Account, type Tx } from "platform";
import { codeFrom, freeOf, refOf, type Ref } from "./code.ts";
import type { CmsContext } from "./context.ts";
import { find, taken, type Kind, type KindRow } from "./kind-store.ts";
import { sites, touch, touchAll, type SiteView } from "./sites/store.ts";

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
        if (!(await touch(tx, accountId, siteId))) throw notFound();
        touched.add(siteId);
      },
      touchAll: async () => {
        for (const id of await touchAll(tx, accountId, [...touched])) touched.add(id);
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

/**
 * Writes one kind of record. Every function is part of a change and throws 422 by field, 404 or 412. Bodies have been
 * checked against the kind's schema.
 */
export interface Writer<Body, Row> {
  create(edit: SiteEdit, body: Body): Promise<Row>;
  update(edit: SiteEdit, ref: Ref, body: Body, expected: Expected): Promise<Row>;
  remove(edit: SiteEdit, ref: Ref, expected: Expected): Promise<void>;
}

/** The version of this record that the caller has seen; undefined = any. */
export type Expected = (id: number) => number | undefined;

export const whichever: Expected = () => undefined;

/**
 * The record, read again after its site is locked (all sites, if it belongs to none). Throws 404 if it is gone, and 412
 * if its version is not the expected one.
 */
export async function locked<Row extends KindRow>(
  edit: SiteEdit,
  kind: Kind<Row>,
  ref: Ref,
  expected: Expected,
): Promise<Row> {
  const seen = await find(kind, edit.tx, edit.account.id, ref);
  if (!seen) throw notFound();
  // Compared before locking, so that the tag of another record is refused in any case.
  const version = expected(seen.id);
  await (seen.siteId === null ? edit.touchAll() : edit.touch(seen.siteId));
  const row = await reread(edit, kind, seen.id);
  if (version !== undefined && row.version !== version) throw preconditionFailed();
  return row;
}

/** The record as this transaction has written it. */
export async function reread<Row extends KindRow>(
  { tx, account }: SiteEdit,
  kind: Kind<Row>,
  id: number,
): Promise<Row> {
  return there(await find(kind, tx, account.id, { id }));
}

/** A row that this transaction has just written or locked. */
export function there<Row>(row: Row | undefined): Row {
  if (row === undefined) throw notFound();
  return row;
}

export type Mistakes = ReturnType<typeof mistakes>;

interface SiteRefs {
  readonly site_code?: string | null;
  readonly site_id?: number | null;
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

/** The site that the body of a new record names. Undefined, with a mistake, if it names none. */
export async function siteOf(
  { tx, account }: SiteEdit,
  wrong: Mistakes,
  { site_code: code, site_id: id }: SiteRefs,
): Promise<SiteView | undefined> {
  if (!code && !id) wrong.add("site_code", "is required");
  const given = { as: "site", what: "site", code, id };
  return (await named(wrong, given, (ref) => find(sites, tx, account.id, ref))) ?? undefined;
}

/** The site of an address, by its id or its code. */
export async function siteAt({ sql }: Pick<CmsContext, "sql">, accountId: number, text: string): Promise<SiteView> {
  const ref = refOf(text);
  return there(ref && (await find(sites, sql, accountId, ref)));
}

/** A record stays in its site. */
export function mustStay(wrong: Mistakes, { site_code, site_id }: SiteRefs, before: KindRow): void {
  if (site_code && site_code !== before.siteCode) wrong.add("site_code", "cannot be changed");
  if (site_id && site_id !== before.siteId) wrong.add("site_id", "cannot be changed");
}

/** The name of a new record defaults to its code. Adds a mistake if both are missing. */
export function nameOf(wrong: Mistakes, name: string | undefined, code: string | undefined): string {
  if (name === undefined && code === undefined) wrong.add("name", "is required");
  return name ?? code ?? "";
}

/** The code of a new record: the given one, else one made from the name, with a number if the site already has it. */
export async function codeOf(
  edit: SiteEdit,
  kind: { readonly name: string; readonly table: string },
  { code, name, siteId }: { code: string | undefined; name: string; siteId: number | null | undefined },
): Promise<string> {
  if (code !== undefined) return code;
  const base = codeFrom(name, kind.name);
  return freeOf(base, await taken(kind, edit, siteId, base));
}

/** Undefined keeps the previous value; an empty text stays as it was sent. */
export function orNull<T>(given: T | null | undefined, before: T | null | undefined): T | null {
  return (given === undefined ? before : given) ?? null;
}
