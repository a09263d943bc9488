/** SQL about single records. A write names the schema it was checked against, in the same statement. */
import { invalid, type Queryable, type Sql, type Tx } from "platform";
import { rawRecord, selectedData } from "./answer-store.ts";
import type { Database } from "../databases/database.ts";
import {
  bitsOf,
  columnValues,
  givenColumns,
  indexColumnList,
  recordIndexValues,
  textIn,
} from "../databases/index-columns-store.ts";
import { indexValues } from "./index-values.ts";
import { printRaw, versionOf, versionTime } from "./print.ts";
import { recordLimits, type Data } from "./record.ts";
import type { Table } from "../databases/schema.ts";
import { createTelling } from "./telling-store.ts";

/** One of many records to be inserted. */
export interface ManyRecord {
  readonly id: string;
  readonly createdAt: Date;
  /** `data` as JSON text. */
  readonly json: string;
  /** Whoever makes it, as JSON, where that is logged. */
  readonly actor?: string | undefined;
}

export interface NewRecord extends ManyRecord {
  readonly data: Data;
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

/** What may be deleted, and for whom. */
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
  /** Whoever makes it, as JSON, where that is logged. */
  readonly actor?: string | undefined;
}

/** Answers show milliseconds: no two changes of a record `r` have the same one, so that it tells them apart. */
export const later = "greatest(now(), date_trunc('milliseconds', r.updated_at) + interval '1 millisecond')";

export type RecordStore = ReturnType<typeof createRecordStore>;

export function createRecordStore(sql: Sql) {
  const parts = createParts(sql);
  return {
    ...createReads(sql, parts),
    ...createInserts(sql, parts),
    ...createPatches(sql, parts),
    ...createRemovals(sql, parts),
  };
}

type Parts = ReturnType<typeof createParts>;

/** The parts that the statements share. */
function createParts(sql: Sql) {
  const raw = sql.unsafe(rawRecord());
  const narrowed = sql.unsafe(rawRecord(selectedData("shown.names")));
  const recordColumns = sql`, r.id, r.table_name, r.data, r.created_at, r.updated_at`;
  const nothing = sql``;
  return {
    telling: createTelling(sql),
    shown({ fields, whole }: Shape) {
      const text = fields ? sql`(select ${narrowed} from (select ${[...fields]}::text[] as names) shown)` : raw;
      return sql`${text} as raw ${whole ? recordColumns : nothing}`;
    },
    guarded: (guard: Guard | undefined) => (guard ? sql`and r.data ->> ${guard.field} = ${guard.value}` : nothing),
    /** Through text: a parameter of the type timestamptz would lose its microseconds. */
    isAt: (expected: number | undefined) =>
      expected === undefined ? nothing : sql`and r.updated_at = ${versionTime(expected)}::text::timestamptz`,
    written([row]: readonly RawRow[], { form, whole }: Shape): Written | undefined {
      return row && { answer: printRaw(row.raw, form), version: versionOf(row.raw), record: whole ? row : undefined };
    },
  };
}

function createReads(sql: Sql, { shown, guarded, isAt, written }: Parts) {
  return {
    async get(
      db: Database,
      id: string,
      shape: Shape,
      guard?: Guard,
      on: Queryable = sql,
    ): Promise<Written | undefined> {
      const rows = await on<RawRow[]>`
        select ${shown(shape)} from records r
        where r.db_id = ${db.id} and r.id = ${id} and r.account_id = ${db.accountId} ${guarded(guard)}`;
      return written(rows, shape);
    },

    /** The record's table, "" for the null table. */
    async tableNameOf(db: Database, id: string, guard?: Guard, on: Queryable = sql): Promise<string | undefined> {
      const [row] = await on<{ tableName: string }[]>`
        select r.table_name from records r
        where r.db_id = ${db.id} and r.id = ${id} and r.account_id = ${db.accountId} ${guarded(guard)}`;
      return row?.tableName;
    },

    async hasVersion(db: Database, id: string, version: number, on: Queryable = sql): Promise<boolean> {
      const rows = await on`
        select from records r
        where r.db_id = ${db.id} and r.id = ${id} and r.account_id = ${db.accountId} ${isAt(version)}`;
      return rows.length > 0;
    },

    /** The record, held until the transaction ends. */
    async lock(tx: Tx, db: Database, id: string, guard?: Guard): Promise<StoredRecord | undefined> {
      const [row] = await tx<StoredRecord[]>`
        select r.id, r.table_name, r.data, r.created_at, r.updated_at from records r
        where r.db_id = ${db.id} and r.id = ${id} and r.account_id = ${db.accountId} ${guarded(guard)}
        for no key update`;
      return row;
    },
  };
}

function createInserts(sql: Sql, { telling }: Parts) {
  const columns = sql.unsafe(
    `db_id, id, account_id, table_name, data, ${indexColumnList}, plan_version, rules_version, created_at, updated_at`,
  );
  const given = sql.unsafe(columnValues("i.texts"));
  const indexed = sql.unsafe(recordIndexValues);
  return {
    /** False if the database has another schema by now, or is gone. */
    async create(db: Database, table: Table, record: NewRecord, on: Queryable = sql): Promise<boolean> {
      const { values, strings, numbers } = indexValues(table, record.data);
      const to = { db, actor: record.actor };
      const { count } = await on`
        ${telling.begin(to)} insert into records as r (${columns})
        select d.id, ${record.id}, d.account_id, ${table.name}, ${record.json}::text::jsonb, ${given},
          ${strings.set}, ${numbers.set}, d.plan_version, d.rules_version, ${record.createdAt}, ${record.createdAt}
        from dbs d, (select ${[...values]}::text[] as texts) i
        where d.id = ${db.id} and d.account_id = ${db.accountId} and d.schema_version = ${db.schemaVersion}
        ${telling.end(to, "create", undefined)}`;
      return count === 1;
    },

    /** The same for many of one table in one statement: all or none. For imports and batches. */
    async createMany(
      db: Database,
      table: Table,
      records: readonly ManyRecord[],
      on: Queryable = sql,
    ): Promise<boolean> {
      const { count } = await on`
        ${telling.begin({ db, actor: undefined })} insert into records as r (${columns})
        select d.id, n.id, d.account_id, ${table.name}, v.data, ${indexed}, d.plan_version, d.rules_version,
          n.created_at, n.created_at
        from dbs d, unnest(${records.map(({ id }) => id)}::uuid[], ${records.map(({ json }) => json)}::text[],
          ${records.map(({ createdAt }) => createdAt.toJSON())}::timestamptz[]) as n (id, json, created_at),
          lateral (select n.json::jsonb as data offset 0) v,
          record_index(v.data, ${[...table.indexFields]}::text[]) x
        where d.id = ${db.id} and d.account_id = ${db.accountId} and d.schema_version = ${db.schemaVersion}
        ${telling.end({ db, actor: undefined }, "create", undefined)}`;
      return count === records.length;
    },
  };
}

function createPatches(sql: Sql, { telling, shown, guarded, isAt, written }: Parts) {
  const columns = sql.unsafe(indexColumnList);
  const indexed = sql.unsafe(recordIndexValues);
  const changedAt = sql.unsafe(later);
  const changed = sql.unsafe(givenColumns(textIn("i.texts"), "i.given"));
  return {
    /**
     * Merges the patch into the record, key by key. Undefined if that cannot be done just so: no such record, one of
     * another table or version, or checked against other rules, or another schema by now. 422 if it would become too large.
     */
    async update(db: Database, patch: Patch & { data: Data }, shape: Shape, on: Queryable = sql) {
      const { values, given, strings, numbers } = indexValues(patch.table, patch.data);
      // One text for all changes: PostgreSQL keeps a plan for each text.
      const rows = await on<RawRow[]>`
        ${telling.begin({ db, actor: patch.actor })} update records r set data = r.data || i.patch, ${changed},
          long_strings = (r.long_strings & ~${strings.given}::int | ${strings.set}::int)::smallint,
          inexact_numbers = (r.inexact_numbers & ~${numbers.given}::int | ${numbers.set}::int)::smallint,
          updated_at = ${changedAt}
        from dbs d, (select ${[...values]}::text[] as texts, ${bitsOf(given)}::int as given, ${patch.json}::text::jsonb as patch) i
          ${telling.held(db, patch)}
        where r.db_id = ${db.id} and r.id = ${patch.id} and r.account_id = ${db.accountId}
          and r.table_name = ${patch.table.name} and r.rules_version = ${db.rulesVersion}
          and d.id = ${db.id} and d.account_id = ${db.accountId} and d.schema_version = ${db.schemaVersion}
          ${guarded(patch.guard)} ${isAt(patch.expected)}
        ${telling.end({ db, actor: patch.actor }, "update", shown(shape))}`.catch(refuseSize);
      return written(rows, shape);
    },

    /**
     * The same for a record that `lock` has locked and that was checked as a whole: its table and rules may be others.
     */
    async rewrite(tx: Tx, db: Database, patch: Omit<Patch, "expected">, shape: Shape, leftTable: string | undefined) {
      const { id, table, json, guard } = patch;
      const rows = await tx<RawRow[]>`
        ${telling.begin({ db, actor: patch.actor })} update records r set table_name = ${table.name}, data = r.data || i.patch,
          (${columns}) = (
            select ${indexed} from record_index(r.data || i.patch, ${[...table.indexFields]}::text[]) x),
          plan_version = d.plan_version, rules_version = d.rules_version,
          updated_at = ${changedAt}
        from dbs d, (select ${json}::text::jsonb as patch offset 0) i ${telling.held(db, patch)}
        where r.db_id = ${db.id} and r.id = ${id} and r.account_id = ${db.accountId}
          and d.id = ${db.id} and d.account_id = ${db.accountId} and d.schema_version = ${db.schemaVersion}
          ${guarded(guard)}
        ${telling.end({ db, actor: patch.actor }, "update", shown(shape), leftTable)}`.catch(refuseSize);
      return written(rows, shape);
    },
  };
}

function createRemovals(sql: Sql, { telling, shown, guarded, isAt, written }: Parts) {
  return {
    /** The deleted record; undefined if there was no such record, or none of this version. */
    async delete(
      db: Database,
      id: string,
      shape: Shape,
      { guard, expected, actor }: Removal,
      on: Queryable = sql,
    ): Promise<Written | undefined> {
      // Whoever begins to follow the database meanwhile is told.
      const to = { db: { code: db.code, live: true }, actor };
      const rows = await on<RawRow[]>`
        ${telling.begin(to)} delete from records r
        where r.db_id = ${db.id} and r.id = ${id} and r.account_id = ${db.accountId} ${guarded(guard)}
          ${isAt(expected)}
        ${telling.end(to, "destroy", shown(shape))}`;
      return written(rows, shape);
    },
  };
}

/** The table's own bound on what changes let a record grow to. */
export function refuseSize(error: unknown): never {
  if (error instanceof Error && "constraint_name" in error && error.constraint_name === "records_size")
    throw invalid({ data: [`may have at most ${recordLimits.storedBytes} bytes as JSON`] });
  throw error;
}
