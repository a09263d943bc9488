/** What the writers of all resources share. */
import { mistakes, notFound, type Queryable, type Tx } from "platform";
import { locked, type SiteEdit, type Expected, type Found } from "./edit.ts";
import { codeFrom, freeOf, refOf, type Ref } from "./code.ts";
import type { SiteRow } from "./rows.ts";
import * as siteStore from "./sites/site-store.ts";

export type Mistakes = ReturnType<typeof mistakes>;

/**
 * Writes one kind of record. Every function is part of a change (see edit.ts) and throws 422 by field, 404 or 412.
 * Bodies have been checked against the resource's schema.
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

/** The site that the body of a new record names. Undefined, with a mistake, if it names none. */
export async function siteOf(
  { tx, account }: SiteEdit,
  wrong: Mistakes,
  { site_code: code, site_id: id }: SiteRefs,
): Promise<SiteRow | undefined> {
  if (!code && !id) wrong.add("site_code", "is required");
  const given = { as: "site", what: "site", code, id };
  return (await named(wrong, given, (ref) => siteStore.find(tx, account.id, ref))) ?? undefined;
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

/** The name of a new record defaults to its code. Adds a mistake if both are missing. */
export function nameOf(wrong: Mistakes, name: string | undefined, code: string | undefined): string {
  if (name === undefined && code === undefined) wrong.add("name", "is required");
  return name ?? code ?? "";
}

/** The code of a new record: the given one, else one made from the name, with a number if the site already has it. */
export async function codeOf<SiteId extends number | null>(
  { tx, account }: SiteEdit,
  taken: (tx: Tx, accountId: number, siteId: SiteId, base: string) => Promise<ReadonlySet<string>>,
  { code, name, kind, siteId }: { code: string | undefined; name: string; kind: string; siteId: SiteId },
): Promise<string> {
  if (code !== undefined) return code;
  const base = codeFrom(name, kind);
  return freeOf(base, await taken(tx, account.id, siteId, base));
}

/** Undefined keeps the previous value; an empty text stays as it was sent. */
export function orNull<T>(given: T | null | undefined, before: T | null | undefined): T | null {
  return (given === undefined ? before : given) ?? null;
}

type Find<Row> = (db: Queryable, accountId: number, ref: Ref) => Promise<Row | undefined>;

/** The record, read while its site is locked; see `locked`. */
export function lockedIn<Row extends Found>(
  edit: SiteEdit,
  find: Find<Row>,
  ref: Ref,
  expected: Expected,
): Promise<Row> {
  return locked(edit, (which) => find(edit.tx, edit.account.id, which), ref, expected);
}

/** The record as this transaction has written it. */
export async function reread<Row>({ tx, account }: SiteEdit, find: Find<Row>, id: number): Promise<Row> {
  return there(await find(tx, account.id, { id }));
}

/** A row that this transaction has just written or locked. */
export function there<Row>(row: Row | undefined): Row {
  if (row === undefined) throw notFound();
  return row;
}
