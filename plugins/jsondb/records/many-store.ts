/** SQL about several records of one table at once, each with the values of its index columns. */
import { bytesBefore, readBounds, type Fragment, type Queryable } from "platform";
import { rawRecord } from "./answer-store.ts";
import type { IndexValues } from "./index-values.ts";
import type { ManyRecord } from "./record-store.ts";
import { indexColumns, kindOf, type ColumnKind } from "../databases/columns.ts";
import type { Database } from "../databases/database.ts";
import { endCreates, once } from "./telling-store.ts";
import { flagColumns, indexColumnList } from "../databases/index-columns-store.ts";
import type { Table } from "../databases/schema.ts";

/** A new record with the values of its index columns. */
export interface IndexedRecord extends ManyRecord {
  readonly index: IndexValues;
}

/** Times through texts: a parameter of the type timestamptz would lose its microseconds. */
const arrayTypes: Record<ColumnKind, string> = { str: "text[]", int: "bigint[]", time: "text[]::timestamptz[]" };

const parts = once((on) => ({
  nothing: on``,
  begin: on`with changed as (`,
  columns: on.unsafe(indexColumnList),
  recordColumns: on.unsafe(
    `db_id, id, account_id, table_name, data, ${indexColumnList}, plan_version, rules_version, created_at, updated_at`,
  ),
  indexed: on.unsafe([...indexColumns, ...flagColumns].map((name) => `n.${name}`).join(", ")),
  types: indexColumns.map((name) => on.unsafe(arrayTypes[kindOf(name)])),
}));

/** Those of the first of these records that there are, whole, as many as an answer has room for; `done` were looked for. */
export async function get(
  on: Queryable,
  db: Database,
  ids: readonly string[],
): Promise<{ rows: { raw: string }[]; done: number }> {
  const rows = await on.unsafe<{ raw: string | null; at: number }[]>(
    getText,
    [`{${ids.join(",")}}`, db.id, db.accountId],
    { prepare: true },
  );
  const left = rows.find(({ raw }) => raw === null);
  return { rows: rows.filter(hasRaw), done: left ? left.at - 1 : ids.length };
}

/**
 * All or none: false if the database has another schema by now, or is gone. Arrays are given as `(select …)`, because
 * PostgreSQL would count the items of a bare one, and plan a statement anew for each count: half of what a batch costs.
 * So the plan stays, and must be one for any size of the table: `lateral` finds each record by its key.
 */
export async function insert(
  on: Queryable,
  db: Database,
  table: Table,
  all: readonly IndexedRecord[],
): Promise<boolean> {
  const { begin, nothing, recordColumns, indexed, columns } = parts(on);
  const isLogged = all.some(({ actor }) => actor !== undefined);
  const { count } = await on`
    ${isLogged ? begin : nothing} insert into records as r (${recordColumns})
    select d.id, n.id, d.account_id, ${table.name}, n.json::jsonb, ${indexed}, d.plan_version, d.rules_version,
      n.created_at, n.created_at
    from dbs d, unnest((select ${all.map(({ id }) => id)}::uuid[]), (select ${all.map(({ json }) => json)}::text[]),
      (select ${all.map(({ createdAt }) => createdAt.toJSON())}::timestamptz[]) ${indexArrays(on, all)})
      as n (id, json, created_at, ${columns})
    where d.id = ${db.id} and d.account_id = ${db.accountId} and d.schema_version = ${db.schemaVersion}
    ${isLogged ? endCreates(on, db, all) : nothing}`;
  return count === all.length;
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
export function indexArrays(on: Queryable, all: readonly IndexedRecord[]): Fragment {
  return on`
    ${parts(on).types.map((type, at) => on`, (select ${valuesAt(all, at)}::${type})`)},
    (select ${all.map(({ index }) => `${index.strings.set}`)}::smallint[]),
    (select ${all.map(({ index }) => `${index.numbers.set}`)}::smallint[])`;
}

/** Empty where no row has a value: what is missing in an array is null for `unnest`. */
function valuesAt(all: readonly IndexedRecord[], at: number) {
  const values = all.map(({ index }) => index.values[at] ?? null);
  return values.some((value) => value !== null) ? values : [];
}
