/** Links between records: what a write may name, what is written of it, and what a deletion does to those that link. behaviour B.7. */
import { badRequest, HttpError, invalid, isUuid } from "platform";
import type { BaseContext, Cache, Queryable, Tx } from "platform";
import { hiddenSometimes, mayAll, type Viewer } from "../access/reach.ts";
import { find, type Databases } from "../databases/cache.ts";
import { tryOpen, type Database, type StoredDatabase } from "../databases/database.ts";
import type { Link } from "../databases/kinds.ts";
import type { Table } from "../databases/schema.ts";
import type { CreatedRecord, Data } from "../records/record.ts";
import * as linkStore from "./store.ts";
import type { NewLink, StoredLink } from "./store.ts";

export const linkLimits = { deleted: 10_000, shown: 5 } as const;

/** A field of a database that links to others. */
export interface Linking {
  readonly stored: StoredDatabase;
  readonly table: Table;
  readonly field: string;
  readonly link: Link;
}

export interface LinkContext extends Databases, Pick<BaseContext, "sql"> {}

export function linkingCache(cache: BaseContext["cache"], sql: LinkContext["sql"]): Cache<readonly string[]> {
  return cache({
    name: "jsondb.linking",
    max: 10_000,
    load: async (key) => (await linkStore.linking(sql, Number(key))).map(({ id }) => id),
  });
}

type LinkFields = readonly (readonly [name: string, link: Link])[];
const known = new WeakMap<Table, LinkFields>();

/** The fields of a table that are links. Asked at every write. */
export function linkFields(table: Table): LinkFields {
  const before = known.get(table);
  if (before) return before;
  const fields = [...table.fields].flatMap(([name, { link }]) => (link ? [[name, link] as const] : []));
  known.set(table, fields);
  return fields;
}

/** The link that the name of a field goes through, `customer` of `customer.country`; undefined of the table's own. */
export function linkBefore(table: Table, name: string): string | undefined {
  if (!name.includes(".") || table.fields.has(name)) return undefined;
  return linkFields(table).find(([field]) => name.startsWith(`${field}.`))?.[0];
}

/** What is wrong with fields that must be the records' own. */
export function linkFaults(tables: readonly Table[], names: Iterable<string>): string[] {
  return [...names]
    .filter((name) => tables.some((table) => linkBefore(table, name)) && !tables.some(({ fields }) => fields.has(name)))
    .map(
      (name) =>
        `${name.slice(0, 100)} is a field at the other end of a link: search there first, and filter by the ids`,
    );
}

/** 400. */
export function mustBeOwn(table: Table, conditions: readonly { readonly field: string }[]): void {
  const [fault] = linkFaults(
    [table],
    conditions.map(({ field }) => field),
  );
  if (fault !== undefined) throw badRequest(fault);
}

/** Whether a change of a record may change its links: of these fields, or because it may leave its table. */
export function mayRelink({ rules }: Database, names: readonly string[], keepsTable: boolean): boolean {
  const all = [...rules.tables.values()].flatMap(linkFields);
  if (all.length === 0) return false;
  return (rules.multiTable && !keepsTable) || all.some(([name]) => names.includes(name));
}

/** The fields of an account that link to this database. */
export async function linkingTo(ctx: LinkContext, accountId: number, target: Pick<Database, "id" | "code">) {
  const ids = ctx.linking.peek(`${accountId}`) ?? (await ctx.linking.get(`${accountId}`)) ?? [];
  const found: Linking[] = [];
  for (const id of ids) {
    const stored = await find(ctx, accountId, id);
    for (const table of stored?.whole.rules.tables.values() ?? [])
      for (const [field, link] of linkFields(table))
        if (stored && linksTo(target, link)) found.push({ stored, table, field, link });
  }
  return found;
}

/** Whether a link names this database. */
export function linksTo({ id, code }: Pick<Database, "id" | "code">, { db }: Pick<Link, "db">): boolean {
  return db === code || db.toLowerCase() === id;
}

/** The ids that a value of a link names. */
export function idsIn(value: unknown): readonly string[] {
  return [...new Set([value].flat().flatMap((id) => (typeof id === "string" && isUuid(id) ? [id.toLowerCase()] : [])))];
}

/** The database at the other end as whoever asks may use it (a program: the whole); undefined if it does not open for them. */
export async function targetOf(
  ctx: LinkContext,
  accountId: number,
  link: Pick<Link, "db">,
  viewer: Viewer | undefined,
): Promise<Database | undefined> {
  const stored = await find(ctx, accountId, link.db);
  return stored && (viewer ? tryOpen(stored, viewer) : stored.whole);
}

/** Where a write is, and who makes it. */
interface Place {
  readonly db: Database;
  readonly table: Table;
  readonly viewer: Viewer | undefined;
}

/**
 * 422 for links of these fields to records that there are not, or not for whoever writes; the others are held until the
 * transaction ends.
 */
export async function mustBeThere(
  ctx: LinkContext,
  tx: Queryable,
  { db, table, viewer }: Place,
  all: readonly Data[],
): Promise<void> {
  for (const [field, link] of linkFields(table)) {
    const wanted = [...new Set(all.flatMap((data) => (Object.hasOwn(data, field) ? idsIn(data[field]) : [])))];
    if (wanted.length === 0) continue;
    const target = await targetOf(ctx, db.accountId, link, viewer);
    const there = target && (await linkStore.held(tx, target, tableIn(target, link), wanted.toSorted()));
    const missing = wanted.find((id) => !there?.has(id));
    if (missing !== undefined) throw invalid({ [field]: [`${missing} is not the id of a record of ${nameOf(link)}`] });
  }
}

/**
 * The links of a new record, to be written with it. Where not all records of a target are open to whoever writes, those
 * that it names are looked at first: 422 as `mustBeThere`.
 */
export async function newLinks(
  ctx: LinkContext,
  on: Queryable,
  place: Place,
  { id, data }: Pick<CreatedRecord, "id" | "data">,
): Promise<readonly NewLink[]> {
  const { db, table, viewer } = place;
  const links: NewLink[] = [];
  for (const [field, link] of linkFields(table)) {
    const targets = idsIn(Object.hasOwn(data, field) ? data[field] : null);
    if (targets.length === 0) continue;
    const target = await targetOf(ctx, db.accountId, link, viewer);
    if (!target || !mayAll(target, "read")) await mustBeThere(ctx, on, place, [{ [field]: data[field] }]);
    if (target)
      links.push(
        ...targets.map((to) => ({ recordId: id, field, target: to, targetDb: target.id, targetTable: link.table })),
      );
  }
  return links;
}

/**
 * The data of a record that comes back, without links to records that are gone meanwhile, and what is said of them. 422
 * where one is required. Links into a database that is gone stay, as those of other records do.
 */
export async function withoutLost(
  ctx: LinkContext,
  tx: Tx,
  { db, table }: Omit<Place, "viewer">,
  { id, data }: Pick<CreatedRecord, "id" | "data">,
): Promise<{ readonly data: Data; readonly hints: readonly string[] }> {
  const cleared: [string, unknown][] = [];
  const hints: string[] = [];
  const hidden = hiddenSometimes(db.reach);
  for (const [field, link] of linkFields(table)) {
    const value = Object.hasOwn(data, field) ? data[field] : null;
    const ids = idsIn(value).filter((one) => one !== id);
    const target = ids.length > 0 ? await targetOf(ctx, db.accountId, link, undefined) : undefined;
    if (!target) continue;
    const there = await linkStore.held(tx, target, tableIn(target, link), ids.toSorted());
    const lost = ids.filter((one) => !there.has(one));
    const [first] = lost;
    if (first === undefined) continue;
    const left = Array.isArray(value) ? value.filter((one) => !lost.includes(String(one).toLowerCase())) : null;
    const isEmpty = left === null || left.length === 0;
    if (isEmpty && table.fields.get(field)?.required)
      throw hidden.has(field)
        ? invalid({ base: ["a link that it needs leads to no record any more"] })
        : invalid({ [field]: [`${first} is not the id of a record of ${nameOf(link)}`] });
    cleared.push([field, left]);
    if (!hidden.has(field))
      hints.push(`${field}: ${first} is not the id of a record of ${nameOf(link)} any more, the link was cleared`);
  }
  return { data: cleared.length === 0 ? data : Object.fromEntries([...Object.entries(data), ...cleared]), hints };
}

export function tableIn(target: Database, { table }: Link): Table | undefined {
  return table === undefined ? undefined : target.rules.tables.get(table);
}

/** As a schema names it. */
export const nameOf = ({ db, table }: Link) => (table === undefined ? db : `${db}.${table}`);

/** All links of a record's data. */
export function linksOf(table: Table, data: Data): { field: string; target: string }[] {
  return linkFields(table).flatMap(([field]) =>
    idsIn(Object.hasOwn(data, field) ? data[field] : null).map((target) => ({ field, target })),
  );
}

/** How the records that link are changed: by writes.ts, with their events. */
interface Writes {
  readonly clear: (tx: Tx, db: Database, link: StoredLink, target: string) => Promise<void>;
  readonly remove: (tx: Tx, db: Database, id: string) => Promise<void>;
}

/**
 * Before a record is deleted, which the transaction holds: clears the links to it, deletes what goes with it, or throws
 * 409 where it may not go.
 */
export async function release(
  ctx: LinkContext,
  tx: Tx,
  { db, viewer }: Omit<Place, "table">,
  id: string,
  writes: Writes,
  gone = new Set<string>(),
): Promise<void> {
  gone.add(id);
  if (gone.size > linkLimits.deleted) throw tooMany();
  const links = await linkStore.to(tx, db.accountId, id, linkLimits.deleted + 1);
  if (links.length > linkLimits.deleted) throw tooMany();
  const linkings = await linkingTo(ctx, db.accountId, db);
  const isOf =
    ({ stored, table, field }: Linking) =>
    (one: StoredLink) =>
      one.dbId === stored.id && one.tableName === table.name && one.field === field;
  const others = links.filter(({ recordId }) => !gone.has(recordId));
  const restricting = linkings
    .filter(({ link }) => link.onDelete === "restrict")
    .flatMap((one) => others.filter(isOf(one)));
  if (restricting.length > 0) throw await restricted(ctx, db.accountId, viewer, restricting);
  for (const linking of linkings)
    for (const link of others.filter(isOf(linking))) {
      const source = linking.stored.whole;
      if (linking.link.onDelete === "clear") await writes.clear(tx, source, link, id);
      else if (!gone.has(link.recordId)) {
        await release(ctx, tx, { db: source, viewer }, link.recordId, writes, gone);
        await writes.remove(tx, source, link.recordId);
      }
    }
}

/** 409 with those of the records that the caller may see, and how many there are. */
async function restricted(
  ctx: LinkContext,
  accountId: number,
  viewer: Viewer | undefined,
  links: readonly StoredLink[],
): Promise<HttpError> {
  const records: string[] = [];
  for (const dbId of new Set(links.map((link) => link.dbId))) {
    const stored = await find(ctx, accountId, dbId);
    const source = stored && (viewer ? tryOpen(stored, viewer) : stored.whole);
    const ids = links.filter((link) => link.dbId === dbId).map(({ recordId }) => recordId);
    if (source)
      records.push(...(mayAll(source, "read") ? ids : await linkStore.open(ctx.sql, source, ids)).slice(0, 100));
  }
  const count = new Set(links.map(({ recordId }) => recordId)).size;
  return new HttpError(409, { error: "other records link to this one, and do not let it go", records, count });
}

function tooMany(): HttpError {
  const error = `more than ${linkLimits.deleted} records link to it: change or delete them first`;
  return new HttpError(409, { error, records: [], count: linkLimits.deleted + 1 });
}
