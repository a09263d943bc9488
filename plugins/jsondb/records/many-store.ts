/** SQL about several records of one table at once, each with the values of its index columns. */
import { bytesBefore, readBounds, type Queryable, type Sql } from "platform";
import { rawRecord } from "./answer-store.ts";
import type { IndexValues } from "./index-values.ts";
import type { ManyRecord } from "./record-store.ts";
import { indexColumns, kindOf, type ColumnKind } from "../databases/columns.ts";
import type { Database } from "../databases/database.ts";
import { createPatchMany } from "./patch-many-store.ts";
import { createTelling } from "./telling-store.ts";
import { flagColumns, indexColumnList } from "../databases/index-columns-store.ts";
import type { Table } from "../databases/schema.ts";

/** A new record with the values of its index columns. */
export interface IndexedRecord extends ManyRecord {
  readonly index: IndexValues;
}

/** Times through texts: a parameter of the type timestamptz would lose its microseconds. */
const arrayTypes: Record<ColumnKind, string> = { str: "text[]", int: "bigint[]", time: "text[]::timestamptz[]" };

export type ManyStore = ReturnType<typeof createManyStore>;

/**
 * Arrays are given as `(select …)`, because PostgreSQL would count the items of a bare one, and plan a statement anew for
 * each count: half of what a batch costs. So the plan stays, and must be one for any size of the table: `lateral` finds
 * each record by its key.
 */
export function createManyStore(sql: Sql) {
  const columns = sql.unsafe(indexColumnList);
  const recordColumns = sql.unsafe(
    `db_id, id, account_id, table_name, data, ${indexColumnList}, plan_version, rules_version, created_at, updated_at`,
  );
  const indexed = sql.unsafe([...indexColumns, ...flagColumns].map((name) => `n.${name}`).join(", "));
  const { arrays } = indexArrays(sql);
  const nothing = sql``;
  const telling = createTelling(sql);
  return {
    /** Those of the first of these records that there are, whole, as many as an answer has room for; `done` were looked for. */
    async get(on: Queryable, db: Database, ids: readonly string[]): Promise<{ rows: { raw: string }[]; done: number }> {
      const rows = await on.unsafe<{ raw: string | null; at: number }[]>(
        getText,
        [`{${ids.join(",")}}`, db.id, db.accountId],
        { prepare: true },
      );
      const left = rows.find(({ raw }) => raw === null);
      return { rows: rows.filter(hasRaw), done: left ? left.at - 1 : ids.length };
    },

    /** All or none: false if the database has another schema by now, or is gone. */
    async create(db: Database, table: Table, all: readonly IndexedRecord[], on: Queryable = sql): Promise<boolean> {
      const isLogged = all.some(({ actor }) => actor !== undefined);
      const { count } = await on`
        ${isLogged ? sql`with changed as (` : nothing} insert into records as r (${recordColumns})
        select d.id, n.id, d.account_id, ${table.name}, n.json::jsonb, ${indexed}, d.plan_version, d.rules_version,
          n.created_at, n.created_at
        from dbs d, unnest((select ${all.map(({ id }) => id)}::uuid[]), (select ${all.map(({ json }) => json)}::text[]),
          (select ${all.map(({ createdAt }) => createdAt.toJSON())}::timestamptz[]) ${arrays(all.map(({ index }) => index))})
          as n (id, json, created_at, ${columns})
        where d.id = ${db.id} and d.account_id = ${db.accountId} and d.schema_version = ${db.schemaVersion}
        ${isLogged ? telling.endCreates(db, all) : nothing}`;
      return count === all.length;
    },

    update: createPatchMany(sql),
  };
}

/** One text, because it is sent for most reads: to put a template together takes a fifth of what a batch costs here. */
const getText = `
  select case when ${bytesBefore("octet_length(f.raw)", "a.at")} < ${readBounds.answerBytes} then f.raw end as raw, a.at::int
  from unnest((select $1::text::uuid[])) with ordinality as a (id, at), lateral (
    select ${rawRecord()} as raw from records r
    where r.db_id = $2 and r.id = a.id and r.account_id = $3 offset 0) f
  order by a.at`;

function hasRaw<T extends { raw: string | null }>(row: T): row is T & { raw: string } {
  return row.raw !== null;
}

/** The index columns of many records as parameters: an array for each column, in the order of `indexColumnList`. */
export function indexArrays(sql: Sql) {
  const types = new Map(indexColumns.map((name) => [name, sql.unsafe(arrayTypes[kindOf(name)])]));
  /** Empty where no row has a value: what is missing in an array is null for `unnest`. */
  const valuesAt = (all: readonly IndexValues[], at: number) => {
    const values = all.map((index) => index.values[at] ?? null);
    return values.some((value) => value !== null) ? values : [];
  };
  return {
    arrays: (all: readonly IndexValues[]) => sql`
      ${[...types.values()].map((type, at) => sql`, (select ${valuesAt(all, at)}::${type})`)},
      (select ${all.map(({ strings }) => `${strings.set}`)}::smallint[]),
      (select ${all.map(({ numbers }) => `${numbers.set}`)}::smallint[])`,
  };
}
