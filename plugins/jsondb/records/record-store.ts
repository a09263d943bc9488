/** All SQL about single records. A write names the schema it was checked against, in the same statement. */
import { invalid, type Queryable, type Sql, type Tx } from "platform";
import { rawRecord, selectedData } from "./answer-store.ts";
import { createTelling } from "../live/change-store.ts";
import type { Database } from "../databases/database.ts";
import { indexValues } from "./index-values.ts";
import { printRaw } from "./print.ts";
import { recordLimits, type Data } from "./record.ts";
import type { Table } from "../databases/schema.ts";

/** One of many records to be inserted. */
export interface ManyRecord {
  readonly id: string;
  readonly createdAt: Date;
  /** `data` as JSON text. */
  readonly json: string;
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

/** A record that was read or written: its answer's text, and the record itself where that was asked for. */
export interface Written {
  readonly answer: string;
  readonly record: StoredRecord | undefined;
}

/** How a record is to be shown. */
export interface Shape {
  readonly form: "nested" | "public";
  /** Only these fields of `data`; all where undefined. */
  readonly fields?: readonly string[] | undefined;
  /** Give the record itself back too, for its event. */
  readonly whole?: boolean | undefined;
}

interface RawRow extends StoredRecord {
  readonly raw: string;
}

export interface Change {
  readonly id: string;
  readonly table: Table;
  /** The changed fields as JSON text. */
  readonly json: string;
  readonly guard: Guard | undefined;
}

export type RecordStore = ReturnType<typeof createRecordStore>;

export function createRecordStore(sql: Sql) {
  const columns =
    sql.unsafe(`db_id, id, account_id, table_name, data, idx_str_1, idx_str_2, idx_str_3, idx_int_1, idx_int_2,
    idx_time_1, idx_time_2, long_strings, inexact_numbers, plan_version, rules_version, created_at, updated_at`);
  const indexColumns = sql.unsafe(
    "idx_str_1, idx_str_2, idx_str_3, idx_int_1, idx_int_2, idx_time_1, idx_time_2, long_strings, inexact_numbers",
  );
  const indexedValues = sql.unsafe(
    "x.str_1, x.str_2, x.str_3, x.int_1, x.int_2, x.time_1, x.time_2, x.long_strings, x.inexact_numbers",
  );
  const raw = sql.unsafe(rawRecord());
  const narrowed = sql.unsafe(rawRecord(selectedData("shown.names")));
  const recordColumns = sql`, r.id, r.table_name, r.data, r.created_at, r.updated_at`;
  const nothing = sql``;
  const telling = createTelling(sql);

  const shown = ({ fields, whole }: Shape) => {
    const text = fields ? sql`(select ${narrowed} from (select ${[...fields]}::text[] as names) shown)` : raw;
    return sql`${text} as raw ${whole ? recordColumns : nothing}`;
  };
  const guarded = (guard: Guard | undefined) => (guard ? sql`and r.data ->> ${guard.field} = ${guard.value}` : nothing);
  const written = (rows: readonly RawRow[], { form, whole }: Shape): Written | undefined => {
    const [row] = rows;
    return row && { answer: printRaw(row.raw, form), record: whole ? row : undefined };
  };

  return {
    /** False where the database has another schema by now, or is gone. */
    async create(db: Database, table: Table, record: NewRecord, on: Queryable = sql): Promise<boolean> {
      const { values, strings, numbers } = indexValues(table, record.data);
      const [str1, str2, str3, int1, int2, time1, time2] = values;
      const { count } = await on`
        ${telling.begin(db.live)} insert into records as r (${columns})
        select d.id, ${record.id}, d.account_id, ${table.name}, ${record.json}::text::jsonb, ${str1 ?? null}, ${str2 ?? null},
          ${str3 ?? null}, ${int1 ?? null}::text::bigint, ${int2 ?? null}::text::bigint, ${time1 ?? null}::text::timestamptz,
          ${time2 ?? null}::text::timestamptz, ${strings.set}, ${numbers.set}, d.plan_version, d.rules_version, ${record.createdAt},
          ${record.createdAt}
        from dbs d
        where d.id = ${db.id} and d.account_id = ${db.accountId} and d.schema_version = ${db.schemaVersion}
        ${telling.end(db.live, "create", undefined)}`;
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
        ${telling.begin(db.live)} insert into records as r (${columns})
        select d.id, n.id, d.account_id, ${table.name}, v.data, ${indexedValues}, d.plan_version, d.rules_version,
          n.created_at, n.created_at
        from dbs d, unnest(${records.map(({ id }) => id)}::uuid[], ${records.map(({ json }) => json)}::text[],
          ${records.map(({ createdAt }) => createdAt.toJSON())}::timestamptz[]) as n (id, json, created_at),
          lateral (select n.json::jsonb as data offset 0) v,
          record_index(v.data, ${[...table.indexFields]}::text[]) x
        where d.id = ${db.id} and d.account_id = ${db.accountId} and d.schema_version = ${db.schemaVersion}
        ${telling.end(db.live, "create", undefined)}`;
      return count === records.length;
    },

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

    /** The record, held until the transaction ends. */
    async lock(tx: Tx, db: Database, id: string, guard?: Guard): Promise<StoredRecord | undefined> {
      const [row] = await tx<StoredRecord[]>`
        select r.id, r.table_name, r.data, r.created_at, r.updated_at from records r
        where r.db_id = ${db.id} and r.id = ${id} and r.account_id = ${db.accountId} ${guarded(guard)}
        for no key update`;
      return row;
    },

    /**
     * Merges the change into the record, key by key. Undefined where that cannot be done just so: no such record, one of
     * another table or checked against other rules, or another schema by now. 422 where it would become too large.
     */
    async update(db: Database, change: Change & { data: Data }, shape: Shape, on: Queryable = sql) {
      const { values, given, strings, numbers } = indexValues(change.table, change.data);
      const [str1, str2, str3, int1, int2, time1, time2] = values.map((value) => value ?? null);
      const [hasStr1, hasStr2, hasStr3, hasInt1, hasInt2, hasTime1, hasTime2] = given;
      // One text for all changes: PostgreSQL keeps a plan for each text.
      const rows = await on<RawRow[]>`
        ${telling.begin(db.live)} update records r set data = r.data || ${change.json}::text::jsonb,
          idx_str_1 = case when ${hasStr1 ?? false} then ${str1 ?? null} else r.idx_str_1 end,
          idx_str_2 = case when ${hasStr2 ?? false} then ${str2 ?? null} else r.idx_str_2 end,
          idx_str_3 = case when ${hasStr3 ?? false} then ${str3 ?? null} else r.idx_str_3 end,
          idx_int_1 = case when ${hasInt1 ?? false} then ${int1 ?? null}::text::bigint else r.idx_int_1 end,
          idx_int_2 = case when ${hasInt2 ?? false} then ${int2 ?? null}::text::bigint else r.idx_int_2 end,
          idx_time_1 = case when ${hasTime1 ?? false} then ${time1 ?? null}::text::timestamptz else r.idx_time_1 end,
          idx_time_2 = case when ${hasTime2 ?? false} then ${time2 ?? null}::text::timestamptz else r.idx_time_2 end,
          long_strings = (r.long_strings & ~${strings.given}::int | ${strings.set}::int)::smallint,
          inexact_numbers = (r.inexact_numbers & ~${numbers.given}::int | ${numbers.set}::int)::smallint,
          updated_at = greatest(now(), r.created_at)
        from dbs d
        where r.db_id = ${db.id} and r.id = ${change.id} and r.account_id = ${db.accountId}
          and r.table_name = ${change.table.name} and r.rules_version = ${db.rulesVersion}
          and d.id = ${db.id} and d.account_id = ${db.accountId} and d.schema_version = ${db.schemaVersion}
          ${guarded(change.guard)}
        ${telling.end(db.live, "update", shown(shape))}`.catch(refuseSize);
      return written(rows, shape);
    },

    /** The same for a record that `lock` holds and that was checked whole: it may come from another table, or other rules. */
    async rewrite(tx: Tx, db: Database, change: Change, shape: Shape, leftTable: string | undefined) {
      const { id, table, json, guard } = change;
      const rows = await tx<RawRow[]>`
        ${telling.begin(db.live)} update records r set table_name = ${table.name}, data = r.data || v.changes,
          (${indexColumns}) = (
            select ${indexedValues} from record_index(r.data || v.changes, ${[...table.indexFields]}::text[]) x),
          plan_version = d.plan_version, rules_version = d.rules_version, updated_at = greatest(now(), r.created_at)
        from dbs d, (select ${json}::text::jsonb as changes offset 0) v
        where r.db_id = ${db.id} and r.id = ${id} and r.account_id = ${db.accountId}
          and d.id = ${db.id} and d.account_id = ${db.accountId} and d.schema_version = ${db.schemaVersion}
          ${guarded(guard)}
        ${telling.end(db.live, "update", shown(shape), leftTable)}`.catch(refuseSize);
      return written(rows, shape);
    },

    /** The deleted record; undefined where there was none. */
    async delete(
      db: Database,
      id: string,
      shape: Shape,
      guard?: Guard,
      on: Queryable = sql,
    ): Promise<Written | undefined> {
      const rows = await on<RawRow[]>`
        ${telling.begin(true)} delete from records r
        where r.db_id = ${db.id} and r.id = ${id} and r.account_id = ${db.accountId} ${guarded(guard)}
        ${telling.end(true, "destroy", shown(shape))}`;
      return written(rows, shape);
    },
  };
}

/** The table's own bound on what changes let a record grow to. */
function refuseSize(error: unknown): never {
  if (error instanceof Error && "constraint_name" in error && error.constraint_name === "records_size")
    throw invalid({ data: [`may have at most ${recordLimits.dataBytes} characters as JSON`] });
  throw error;
}
