/** What the writing of every resource has in common. */
import { mistakes, notFound, type Queryable, type Tx } from "platform";
import { locked, type SiteEdit, type Expected, type Found } from "./edit.ts";
import { codeFrom, freeOf, refOf, type Ref } from "./code.ts";
import type { SiteRow } from "./rows.ts";
import type { SiteStore } from "./sites/site-store.ts";

export type Mistakes = ReturnType<typeof mistakes>;

/**
 * One kind of record, as it is written. Every function is part of a change (see edit.ts) and throws 422 by field, 404
 * and 412. A body has been checked against the resource's schema.
 */
export interface Writer<Body, Row> {
  create(edit: SiteEdit, body: Body): Promise<Row>;
  update(edit: SiteEdit, ref: Ref, body: Body, expected: Expected): Promise<Row>;
  remove(edit: SiteEdit, ref: Ref, expected: Expected): Promise<void>;
}

export interface SiteRefs {
  readonly site_code?: string | null;
  readonly site_id?: number | null;
}

interface Named {
  /** The reference's fields are `<as>_code` and `<as>_id`. */
  readonly as: string;
  readonly what: string;
  readonly code: string | null | undefined;
  readonly id: number | null | undefined;
  /** That of the record itself: what it names is of the same one. */
  readonly siteId?: number | undefined;
}

/**
 * The record that a body names by code or id, of this site where one is given: undefined = it says nothing, null = none,
 * or what it names is not there, which is a mistake.
 */
export async function named<Row extends { readonly id: number }>(
  wrong: Mistakes,
  { as, what, code, id, siteId }: Named,
  find: (ref: Ref) => Promise<Row | undefined>,
): Promise<Row | null | undefined> {
  if (!code && !id) return code === undefined && id === undefined ? undefined : null;
  const ref = refOf(code || `${id}`, siteId === undefined ? undefined : { id: siteId });
  const row = ref && (await find(ref));
  if (row && (!id || row.id === id)) return row;
  const where = siteId === undefined ? "account" : "site";
  wrong.add(row || !code ? `${as}_id` : `${as}_code`, `names no ${what} of this ${where}`);
  return null;
}

/** The site that the body of a new record names; undefined, and a mistake, where it names none. */
export async function siteOf(
  { tx, account }: SiteEdit,
  sites: Pick<SiteStore, "find">,
  wrong: Mistakes,
  { site_code: code, site_id: id }: SiteRefs,
): Promise<SiteRow | undefined> {
  if (!code && !id) wrong.add("site_code", "is required");
  const given = { as: "site", what: "site", code, id };
  return (await named(wrong, given, (ref) => sites.find(tx, account.id, ref))) ?? undefined;
}

/** A record stays in its site. */
export function mustStay(
  wrong: Mistakes,
  { site_code, site_id }: SiteRefs,
  before: { readonly siteId: number | null; readonly siteCode: string | null },
): void {
  if (site_code && site_code !== before.siteCode) wrong.add("site_code", "cannot be changed");
  if (site_id && site_id !== before.siteId) wrong.add("site_id", "cannot be changed");
}

/** The name of a new record is its code where none is given; adds a mistake where there is neither. */
export function nameOf(wrong: Mistakes, name: string | undefined, code: string | undefined): string {
  if (name === undefined && code === undefined) wrong.add("name", "is required");
  return name ?? code ?? "";
}

/** The code of a new record: the given one, else one made from the name, with a number where its site has that. */
export async function codeOf<SiteId extends number | null>(
  { tx, account }: SiteEdit,
  store: { taken(tx: Tx, accountId: number, siteId: SiteId, base: string): Promise<ReadonlySet<string>> },
  { code, name, kind, siteId }: { code: string | undefined; name: string; kind: string; siteId: SiteId },
): Promise<string> {
  if (code !== undefined) return code;
  const base = codeFrom(name, kind);
  return freeOf(base, await store.taken(tx, account.id, siteId, base));
}

/** Undefined leaves what was; an empty text stays as it was sent. */
export function orNull<T>(given: T | null | undefined, before: T | null | undefined): T | null {
  return (given === undefined ? before : given) ?? null;
}

interface Findable<Row> {
  find(db: Queryable, accountId: number, ref: Ref): Promise<Row | undefined>;
}

/** The record of this store while its site is held; see `locked`. */
export function lockedIn<Row extends Found>(
  edit: SiteEdit,
  store: Findable<Row>,
  ref: Ref,
  expected: Expected,
): Promise<Row> {
  return locked(edit, (which) => store.find(edit.tx, edit.account.id, which), ref, expected);
}

/** The record as it is after this transaction has written it. */
export async function reread<Row>({ tx, account }: SiteEdit, store: Findable<Row>, id: number): Promise<Row> {
  return there(await store.find(tx, account.id, { id }));
}

/** A row that this transaction has just written, or holds. */
export function there<Row>(row: Row | undefined): Row {
  if (row === undefined) throw notFound();
  return row;
}
