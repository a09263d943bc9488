/** SQL of the search for records in all databases of an account. */
import { type Caller, type Reader, type Tx } from "platform";
import { inScope, openData } from "../access/reach-store.ts";
import type { Database } from "../databases/database.ts";
import type { Table } from "../databases/schema.ts";
import { visibleTo } from "../databases/store.ts";
import { newArgs, phraseCondition, sourceOf } from "./filter-store.ts";

/** A table, and the fields of it that are searched. */
export interface Searched {
  readonly db: Database;
  readonly table: Table;
  readonly fields: readonly string[];
}

export interface FoundRow {
  /** The place of its table among those that were searched. */
  readonly at: number;
  readonly id: string;
  readonly title: string | null;
}

/** Of the databases that may open for the caller those with the newest records, or that are new themselves. */
export async function recentIds(sql: Reader, caller: Caller, most: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from dbs where account_id = ${caller.account.id} and ${visibleTo(sql, caller)}
    order by greatest(id, (select r.id from records r where r.db_id = dbs.id order by r.id desc limit 1)) desc
    limit ${most}`;
  return rows.map(({ id }) => id);
}

export interface Bounds {
  /** So many of the newest records of each table are looked at. */
  readonly newest: number;
  readonly ofTable: number;
  /** After these milliseconds PostgreSQL cancels it with error 57014. */
  readonly maxMs: number;
}

/** The newest records of each table that have the pattern in one of its fields. */
export async function find(
  sql: Reader,
  tables: readonly Searched[],
  pattern: string,
  { newest, ofTable, maxMs }: Bounds,
): Promise<readonly FoundRow[]> {
  const args = newArgs();
  const parts = tables.map(({ db, table, fields }, at) => {
    const scope = { table, allTables: false };
    const title =
      table.titleField === undefined
        ? "null"
        : `left(${openData(args, db, scope)} ->> ${args.bind(table.titleField, "text")}, 255)`;
    const has = phraseCondition(args, sourceOf(db, scope), { pattern, fields, values: [] }, "");
    return `(select ${at} as at, r.id::text as id, ${title} as title
      from (select * from records r where ${inScope(args, db, scope, fields)} order by r.id desc limit ${newest}) r
      where ${has} limit ${ofTable})`;
  });
  const run = async (tx: Tx) => {
    await tx`select set_config('statement_timeout', ${`${maxMs}`}, true)`;
    return tx.unsafe<FoundRow[]>(parts.join(" union all "), args.values);
  };
  return "begin" in sql ? sql.begin(run) : run(sql);
}
