/** SQL about single records. A write names the schema it was checked against, in the same statement. */
import * as telling from "./parts-store.ts";
import { invalid, type Fragment, type Queryable, type Tx } from "platform";
import { rawRecord, selectedData, once } from "./parts-store.ts";
import { anyTable, grantCondition, inScope, openData } from "../access/reach-store.ts";
import type { Database } from "../databases/database.ts";
import {
  bitsOf,
  columnValues,
  givenColumns,
  indexColumnList,
  later,
  recordIndexValues,
  textIn,
} from "../databases/columns-store.ts";
import { indexValues } from "./index-values.ts";
import { beside, freed, nothingBeside, type Beside } from "./keys-store.ts";
import { trashed } from "../trash/store.ts";
import { byNow, byNowInAny, countEntry, type By } from "../history/kept-store.ts";
import { printRaw, versionOf, versionTime } from "./print.ts";
import { recordLimits, type Data } from "./record.ts";
import type { Table } from "../databases/schema.ts";
import { newArgs, dataSourceOf, filterConditions, type Args } from "../search/filter-store.ts";
import type { Filters } from "../search/filters.ts";

/** One of many records to be inserted. */
export interface ManyRecord {
  readonly id: string;
  readonly createdAt: Date;
  /** `data` as JSON text. */
  readonly json: string;
  /** The person or program behind it, as JSON, where that is logged. */
  readonly actor?: string | undefined;
  /** The same, where its history is kept; left out, whoever it is now. */
  readonly by?: By | undefined;
}

export interface NewRecord extends ManyRecord {
  readonly data: Data;
  /** Of one that comes back. */
  readonly updatedAt?: Date;
}

/** Narrows a statement to the records of one visitor. behaviour 2.4, `scope_by`. */
export interface Guard {
  readonly field: string;
  readonly value: string;
}

export interface StoredRecord {
  readonly id: string;
  readonly tableName: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The fields that a change gave other values. */
  readonly changed?: readonly string[];
}

/** A record that was read or written: its answer's text, and with `whole` the record itself. */
export interface Written {
  readonly answer: string;
  readonly version: number;
  readonly record: StoredRecord | undefined;
}

/** The form in which a record is shown. */
export interface Shape {
  readonly form: "nested" | "public";
  /** Only these fields of `data`; all where undefined. */
  readonly fields?: readonly string[] | undefined;
  /** Give the record itself back too, for its event. */
  readonly whole?: boolean | undefined;
}

/** Narrows a deletion to one visitor's record and one version. */
interface Removal {
  readonly guard?: Guard | undefined;
  readonly expected?: number | undefined;
  readonly actor?: string | undefined;
}

interface RawRow extends StoredRecord {
  readonly raw: string;
}

/** The fields of a record to be changed. */
export interface Patch {
  readonly id: string;
  readonly table: Table;
  /** The changed fields as JSON text. */
  readonly json: string;
  readonly guard: Guard | undefined;
  /** The version that the caller has seen; undefined = any. */
  readonly expected: number | undefined;
  /** The person or program behind it, as JSON, where that is logged. */
  readonly actor?: string | undefined;
  /** The same, where its history is kept; left out, whoever it is now. */
  readonly by?: By | undefined;
}

/** The parts that the statements share. */
const parts = once((on) => ({
  nothing: on``,
  raw: on.unsafe(rawRecord()),
  narrowed: on.unsafe(rawRecord(selectedData("shown.names"))),
  recordColumns: on`, r.id, r.table_name, r.data, r.created_at, r.updated_at`,
  indexColumns: on.unsafe(indexColumnList),
  /** The columns of a new record. */
  columns: on.unsafe(
    `db_id, id, account_id, table_name, data, ${indexColumnList}, plan_version, rules_version, created_at, updated_at`,
  ),
  given: on.unsafe(columnValues("i.texts")),
  indexed: on.unsafe(recordIndexValues),
  changed: on.unsafe(givenColumns(textIn("i.texts"), "i.given")),
  changedAt: on.unsafe(later),
  counted: on.unsafe(`${countEntry},`),
}));

function shown(on: Queryable, { fields, whole }: Shape, to?: telling.Followers): Fragment {
  const { raw, narrowed, recordColumns, nothing } = parts(on);
  const text = fields ? on`(select ${narrowed} from (select ${[...fields]}::text[] as names) shown)` : raw;
  return on`${text} as raw ${whole ? recordColumns : nothing} ${to?.compares ? telling.namesChanged(on, to) : nothing}`;
}

function guarded(on: Queryable, guard: Guard | undefined): Fragment {
  return guard ? on`and r.data ->> ${guard.field} = ${guard.value}` : parts(on).nothing;
}

/** Through text: a parameter of the type timestamptz would lose its microseconds. */
function isAt(on: Queryable, expected: number | undefined): Fragment {
  return expected === undefined
    ? parts(on).nothing
    : on`and r.updated_at = ${versionTime(expected)}::text::timestamptz`;
}

function written([row]: readonly RawRow[], { form, whole }: Shape): Written | undefined {
  return row && { answer: printRaw(row.raw, form), version: versionOf(row.raw), record: whole ? row : undefined };
}

/** A record that is open, by its own address. */
function ofRecord(args: Args, db: Database, id: string, guard: Guard | undefined): string {
  const own = `${inScope(args, db, anyTable, [])} and r.id = ${args.bind(id, "uuid")}`;
  return guard ? `${own} and r.data ->> ${args.bind(guard.field, "text")} = ${args.bind(guard.value, "text")}` : own;
}

export async function get(
  on: Queryable,
  db: Database,
  id: string,
  shape: Shape,
  guard?: Guard,
): Promise<Written | undefined> {
  const args = newArgs();
  const open = openData(args, db, anyTable);
  const data = shape.fields ? selectedData(args.bind([...shape.fields], "text[]"), open) : open;
  const text = `select ${rawRecord(data)} as raw from records r where ${ofRecord(args, db, id, guard)}`;
  const rows = await on.unsafe<RawRow[]>(text, args.values, { prepare: true });
  return written(rows, shape);
}

/** The record's table, "" for the null table. */
export async function tableNameOf(on: Queryable, db: Database, id: string, guard?: Guard): Promise<string | undefined> {
  const args = newArgs();
  const text = `select r.table_name from records r where ${ofRecord(args, db, id, guard)}`;
  const [row] = await on.unsafe<{ tableName: string }[]>(text, args.values, { prepare: true });
  return row?.tableName;
}

export async function hasVersion(on: Queryable, db: Database, id: string, version: number): Promise<boolean> {
  const rows = await on`
    select from records r
    where r.db_id = ${db.id} and r.id = ${id} and r.account_id = ${db.accountId} ${isAt(on, version)}`;
  return rows.length > 0;
}

/** A record, and which of the database's grants it fulfils. */
export interface HeldRecord extends StoredRecord {
  readonly holds: readonly boolean[];
}

/**
 * The record as it is, held until the transaction ends; one that is to be deleted waits for those who are just linking
 * to it.
 */
export async function lock(
  tx: Tx,
  db: Database,
  id: string,
  guard?: Guard,
  strength: "no key update" | "update" = "no key update",
): Promise<HeldRecord | undefined> {
  const args = newArgs();
  const grants = db.reach.grants.map((grant) => `(${grantCondition(args, db, anyTable, grant)}) is true`);
  const text = `
    select r.id, r.table_name, r.data, r.created_at, r.updated_at, array[${grants.join(", ")}]::boolean[] as holds
    from records r where ${ofRecord(args, db, id, guard)} for ${strength}`;
  const [row] = await tx.unsafe<HeldRecord[]>(text, args.values, { prepare: true });
  return row;
}

/** False if the database has another schema by now, or is gone, or a link leads nowhere. */
export async function insert(
  on: Queryable,
  db: Database,
  table: Table,
  record: NewRecord,
  more: Beside = nothingBeside,
): Promise<boolean> {
  const { columns, given, nothing } = parts(on);
  const { first, only } = beside(on, db, table.name, more);
  const { values, strings, numbers } = indexValues(table, record.data);
  const { id, updatedAt, by = byNow(db, table.name) } = record;
  const to = { db, actor: record.actor, by, isRestored: updatedAt !== undefined };
  const entries = updatedAt ? entriesOf(on, db, id, by) : by && on`, 1`;
  const { count } = await on`
    ${telling.begin(on, to, first)} insert into records as r (${columns}${entries ? on`, entries` : nothing})
    select d.id, ${id}, d.account_id, ${table.name}, ${record.json}::text::jsonb, ${given},
      ${strings.set}, ${numbers.set}, d.plan_version, d.rules_version, ${record.createdAt}, ${updatedAt ?? record.createdAt}
      ${entries ?? nothing}
    from dbs d, (select ${[...values]}::text[] as texts) i
    where d.id = ${db.id} and d.account_id = ${db.accountId} and d.schema_version = ${db.schemaVersion} ${only}
    ${telling.end(on, to, "create", undefined)}`;
  return count === 1;
}

/** The number of the entries of a record that comes back. */
function entriesOf(on: Queryable, { id: dbId, accountId }: Database, id: string, by: By | undefined): Fragment {
  return on`, (
    select nullif(coalesce(max(h.n), 0) + ${by ? 1 : 0}, 0) from record_history h
    where h.db_id = ${dbId} and h.account_id = ${accountId} and h.id = ${id})`;
}

/**
 * Merges the patch into the record, key by key. Undefined if that cannot be done just so: no such record, one of
 * another table or version, or checked against other rules, or another schema by now. 422 if it would become too large.
 */
export async function update(on: Queryable, db: Database, patch: Patch & { data: Data }, shape: Shape) {
  const { changed, changedAt, counted, nothing } = parts(on);
  const { values, given, strings, numbers } = indexValues(patch.table, patch.data);
  const { id, actor, by = byNow(db, patch.table.name) } = patch;
  const to = { db, actor, by, compares: shape.whole };
  // One text for all changes: PostgreSQL keeps a plan for each text.
  const rows = await on<RawRow[]>`
    ${telling.begin(on, to)} update records r set data = r.data || i.patch, ${changed},
      long_strings = (r.long_strings & ~${strings.given}::int | ${strings.set}::int)::smallint,
      inexact_numbers = (r.inexact_numbers & ~${numbers.given}::int | ${numbers.set}::int)::smallint,
      ${by ? counted : nothing} updated_at = ${changedAt}
    from dbs d, (select ${[...values]}::text[] as texts, ${bitsOf(given)}::int as given, ${patch.json}::text::jsonb as patch) i
      ${telling.held(on, db, { ...to, id })}
    where r.db_id = ${db.id} and r.id = ${id} and r.account_id = ${db.accountId}
      and r.table_name = ${patch.table.name} and r.rules_version = ${db.rulesVersion}
      and d.id = ${db.id} and d.account_id = ${db.accountId} and d.schema_version = ${db.schemaVersion}
      ${guarded(on, patch.guard)} ${isAt(on, patch.expected)}
    ${telling.end(on, to, "update", shown(on, shape, to))}`.catch(refuseSize);
  return written(rows, shape);
}

/**
 * The same for a record that `lock` has locked and that was checked as a whole: its table and rules may be others. With
 * `isRestored` the patch is all of it.
 */
export async function rewrite(
  tx: Tx,
  db: Database,
  { id, table, json, guard, actor, isRestored }: Omit<Patch, "expected"> & { readonly isRestored?: boolean },
  shape: Shape,
  leftTable: string | undefined,
) {
  const { indexColumns, indexed, changedAt, counted, nothing } = parts(tx);
  const by = byNow(db, table.name, leftTable ?? table.name);
  const to = { db, actor, by, isRestored: isRestored === true, compares: shape.whole };
  const data = isRestored ? tx`i.patch` : tx`r.data || i.patch`;
  const rows = await tx<RawRow[]>`
    ${telling.begin(tx, to)} update records r set table_name = ${table.name}, data = ${data},
      (${indexColumns}) = (
        select ${indexed} from record_index(${data}, ${[...table.indexFields]}::text[]) x),
      plan_version = d.plan_version, rules_version = d.rules_version,
      ${by ? counted : nothing} updated_at = ${changedAt}
    from dbs d, (select ${json}::text::jsonb as patch offset 0) i ${telling.held(tx, db, { ...to, id })}
    where r.db_id = ${db.id} and r.id = ${id} and r.account_id = ${db.accountId}
      and d.id = ${db.id} and d.account_id = ${db.accountId} and d.schema_version = ${db.schemaVersion}
      ${guarded(tx, guard)}
    ${telling.end(tx, to, "update", shown(tx, shape, to), leftTable)}`.catch(refuseSize);
  return written(rows, shape);
}

/** What a deletion writes of its record elsewhere. */
function left(on: Queryable, db: Database): Fragment | undefined {
  const kept = trashed(on, db.rules);
  if (db.keySets.length === 0) return kept;
  return kept ? on`${freed(on, db)} ${kept}` : freed(on, db);
}

/** The deleted record; undefined if there was no such record, or none of this version. */
export async function remove(
  on: Queryable,
  db: Database,
  id: string,
  shape: Shape,
  { guard, expected, actor }: Removal,
): Promise<Written | undefined> {
  // Whoever begins to follow the database meanwhile is told.
  const { code, rules, schemaVersion, isConditional } = db;
  const to = { db: { code, rules, schemaVersion, isConditional, live: true }, actor, by: byNowInAny(db) };
  const rows = await on<RawRow[]>`
    ${telling.begin(on, to)} delete from records r
    where r.db_id = ${db.id} and r.id = ${id} and r.account_id = ${db.accountId} ${guarded(on, guard)}
      ${isAt(on, expected)}
    ${telling.end(on, to, "destroy", shown(on, shape), null, left(on, db))}`;
  return written(rows, shape);
}

/** The table's own bound on what changes let a record grow to. */
export function refuseSize(error: unknown): never {
  if (error instanceof Error && "constraint_name" in error && error.constraint_name === "records_size")
    throw invalid({ data: [`may have at most ${recordLimits.storedBytes} bytes as JSON`] });
  throw error;
}

// SQL about a record that is held: what holds of it, and what its numbers become.

/** `a + b`, as texts. */
export type Addition = readonly [a: string, b: string];

/** Whether a record fulfils all filters, and the sums in their order. PostgreSQL adds decimals of any length exactly. */
export async function readHeld(
  tx: Tx,
  db: Database,
  { id, table }: { readonly id: string; readonly table: Table },
  filters: Filters,
  additions: readonly Addition[],
): Promise<{ readonly holds: boolean; readonly sums: readonly string[] }> {
  const args = newArgs();
  const holds = ["true", ...filterConditions(args, dataSourceOf(db, { table }), filters)].join(" and ");
  const numbers = (at: 0 | 1) => args.bind(`{${additions.map((one) => one[at]).join(",")}}`, "text");
  const text = `
    select (${holds}) is true as holds, array(
      select (a + b)::text from unnest(${numbers(0)}::numeric[], ${numbers(1)}::numeric[]) with ordinality n (a, b, at)
      order by at) as sums
    from records r
    where r.db_id = ${args.bind(db.id, "uuid")} and r.id = ${args.bind(id, "uuid")}
      and r.account_id = ${args.bind(db.accountId, "bigint")}`;
  const [row] = await tx.unsafe<{ holds: boolean; sums: string[] }[]>(text, args.values);
  return row ?? { holds: false, sums: [] };
}
