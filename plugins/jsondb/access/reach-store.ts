/** What a reach lets be found and shown, as SQL about records `r`: the only place where `access` becomes conditions. */
import type { Database } from "../databases/database.ts";
import { isUuid, type Queryable } from "platform";
import { noTable, type Table } from "../databases/schema.ts";
import { rawRecord, selectedData } from "../records/parts-store.ts";
import type { Printed } from "../records/print.ts";
import { filterConditions, newArgs, sourceOf, type Args } from "../search/filter-store.ts";
import { readFilters, type Condition } from "../search/filters.ts";
import type { Query } from "../search/query.ts";
import type { Level, OpenGrant } from "./access.ts";
import { formerNames } from "../databases/renames.ts";
import { grantsAt, hiddenSometimes, whole } from "./reach.ts";

type Scope = Pick<Query, "table" | "allTables">;

/**
 * The account's records of one table, or of all, that are open to this level; `names` are the fields that the statement
 * filters by, sorts by, counts or measures (reach-store.ts).
 */
export function inScope(
  args: Args,
  db: Database,
  scope: Scope,
  names: Iterable<string>,
  more: ScopeOptions = {},
): string {
  return `r.account_id = ${args.bind(db.accountId, "bigint")} and ${inTable(args, db, scope, names, more)}`;
}

interface ScopeOptions {
  readonly level?: Level;
  /** The database's id as SQL. */
  readonly id?: string;
}

/** A partial index is chosen only where the statement itself says which database it is. Throws for what is no id. */
export function idLiteral(id: string): string {
  if (!isUuid(id)) throw new Error(`${id} is not an id`);
  return `'${id.toLowerCase()}'::uuid`;
}

/** Literals, so that the planner can choose the index by table. */
export function inTable(
  args: Args,
  db: Database,
  scope: Scope,
  names: Iterable<string>,
  { level = "read", id = args.bind(db.id, "uuid") }: ScopeOptions = {},
): string {
  return [`r.db_id = ${id}`, ...ofTable(args, scope), ...openConditions(args, db, scope, names, level)].join(" and ");
}

function ofTable(args: Args, { table, allTables }: Scope): string[] {
  if (allTables) return [];
  if (table.name === "") return ["r.table_name = ''"];
  return [`r.table_name = ${args.bind(table.name, "text")}`, "r.table_name <> ''"];
}

/** The records of all tables, of whichever table each is. */
export const anyTable: Scope = { table: noTable, allTables: true };

/**
 * The records that are open to this level by grants which hide none of `names`: what a statement filters by, sorts by,
 * counts or writes. Nothing where all are.
 */
export function openConditions(
  args: Args,
  db: Database,
  scope: Scope,
  names: Iterable<string> = [],
  level: Level = "read",
): string[] {
  if (db.reach === whole) return []; // nearly always
  const grants = grantsAt(db.reach, level, names);
  if (grants.some(({ where }) => where.length === 0)) return [];
  const [only, ...others] = grants;
  if (!only) return ["false"];
  // As conditions of their own, those of one grant are planned as if the search had them.
  if (others.length === 0 && !isInSeveral(db, scope)) return whereOf(args, db, scope, only.where);
  return [`(${grants.map((grant) => grantCondition(args, db, scope, grant)).join(" or ")})`];
}

/** Whether a record fulfils a grant's `where`. */
export function grantCondition(args: Args, db: Database, scope: Scope, { where }: OpenGrant): string {
  if (where.length === 0) return "true";
  if (!isInSeveral(db, scope)) return `(${whereOf(args, db, scope, where).join(" and ")})`;
  const each = [...db.rules.tables.values()].map((table) => {
    const conditions = whereOf(args, db, { table, allTables: true }, where);
    return `(r.table_name = ${args.bind(table.name, "text")} and ${conditions.join(" and ")})`;
  });
  return `(${each.join(" or ")})`;
}

/** By each table's own types. Index columns are read where all records of the scope have this table's. */
function whereOf(args: Args, db: Database, { table, allTables }: Scope, where: readonly Condition[]): string[] {
  const rules = tableOf(db, table);
  // A record that has not got its new names yet fulfils nothing.
  const waits = formerNames(
    db.renames.filter((one) => one.table === rules.name),
    where.map(({ field }) => field),
  );
  const moved = waits.map((from) => `not jsonb_exists(r.data, ${args.bind(from, "text")})`);
  return [...moved, ...filterConditions(args, sourceOf(db, { table: rules, allTables }), readFilters(rules, where))];
}

function tableOf(db: Database, table: Table): Table {
  return db.rules.tables.get(table.name) ?? table;
}

function isInSeveral(db: Database, { allTables }: Scope): boolean {
  return allTables && db.rules.multiTable;
}

/** A record's data without what is hidden of it; `data` is an expression of jsonb. */
export function openData(args: Args, db: Database, scope: Scope, data = "r.data"): string {
  if (db.reach === whole) return data;
  const always: string[] = [];
  const sometimes: string[] = [];
  for (const name of hiddenSometimes(db.reach)) {
    const conditions = openConditions(args, db, scope, [name]);
    if (conditions.includes("false")) always.push(name);
    else if (conditions.length > 0)
      sometimes.push(`case when (${conditions.join(" and ")}) is not true then ${args.bind(name, "text")} end`);
  }
  const shown = always.length > 0 ? `(${data} - ${args.bind(always, "text[]")})` : data;
  return sometimes.length > 0 ? `(${shown} - array_remove(array[${sometimes.join(", ")}], null))` : shown;
}

/** What a search looks into where it names no fields: the data as it is shown, or the fields that a visitor sees. */
export function searchedData(
  args: Args,
  db: Database,
  query: Scope & { readonly searchable?: Query["searchable"] },
): string {
  const data = openData(args, db, query);
  return query.searchable ? selectedData(args.bind([...query.searchable], "text[]"), data) : data;
}

/**
 * Records as they were, as `readRaw` gives them, as the reach shows them: raw again, and null for one that is not open.
 * For what is told of records beside the records themselves: changes, and what was deleted.
 */
export async function shownOf(
  sql: Queryable,
  db: Database,
  records: readonly Printed[],
): Promise<readonly (string | null)[]> {
  const args = newArgs();
  const array = (of: (record: Printed) => string, type: string) => args.bind(records.map(of), `${type}[]`);
  const given = [
    array(({ id }) => id, "uuid"),
    array(({ tableName }) => tableName, "text"),
    array(({ data }) => data, "text"),
    array(({ createdAt }) => createdAt, "text"),
    array(({ updatedAt }) => updatedAt, "text"),
  ];
  const isOpen = ["true", ...openConditions(args, db, anyTable)].join(" and ");
  const text = `
    select case when ${isOpen} then ${rawRecord(openData(args, db, anyTable))} end as raw
    from unnest(${given.join(", ")}) with ordinality as g (id, table_name, data, made, changed, at), lateral (
      select g.id, g.table_name, g.data::jsonb as data, g.made::timestamptz as created_at,
        g.changed::timestamptz as updated_at) r
    order by g.at`;
  const rows = await sql.unsafe<{ raw: string | null }[]>(text, args.values);
  return rows.map(({ raw }) => raw);
}

/** How many of these records are open to this level by grants that hide none of `names`. */
export async function countOpen(
  on: Queryable,
  db: Database,
  ids: readonly string[],
  names: Iterable<string>,
  level: Level,
): Promise<number> {
  const args = newArgs();
  const where = `${inScope(args, db, anyTable, names, { level })} and r.id = any(${args.bind([...ids], "uuid[]")})`;
  const [row] = await on.unsafe<{ n: number }[]>(
    `select count(*)::int as n from records r where ${where}`,
    args.values,
  );
  return row?.n ?? 0;
}
