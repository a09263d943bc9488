/** SQL that keeps the changes of records in their own statements: that is how their history comes to be. */
import { currentActor, sourceOf, type Fragment, type Queryable, type Source } from "platform";
import type { Database } from "../databases/database.ts";
import type { Schema } from "../databases/schema.ts";

/** Who changes a record, where that is kept. */
export interface By {
  readonly userId: number | null;
  readonly source: Source;
}

/** A table that is gone has what stands beside the tables. */
function keepsHistory({ tables }: Schema, tableName: string): boolean {
  return (tables.get(tableName) ?? tables.get(""))?.history === true;
}

/** Whoever changes a record of one of these tables now; undefined if that is not kept. */
export function byNow({ rules }: Pick<Database, "rules">, ...tableNames: readonly string[]): By | undefined {
  return tableNames.some((name) => keepsHistory(rules, name)) ? whoNow() : undefined;
}

/** The same of a record that may be in any table. */
export function byNowInAny({ rules }: Pick<Database, "rules">): By | undefined {
  return keepsAny(rules) ? whoNow() : undefined;
}

export function keepsAny({ tables }: Schema): boolean {
  return [...tables.values()].some(({ history }) => history);
}

function whoNow(): By {
  const actor = currentActor();
  return { userId: actor?.user ?? null, source: sourceOf(actor) };
}

export const entryColumns = `db_id, id, n, account_id, op, source, user_id, table_name, left_table, old, patch, bytes,
  schema_version, plan_version, created_at, updated_at`;

/** For `update records r set`, where the changes are kept. */
export const countEntry = "entries = coalesce(r.entries, 0) + 1";

export interface Kept {
  readonly by: By;
  readonly op: "create" | "update" | "delete" | "restore";
  /** The record was there before, and is. */
  readonly isChange: boolean;
  readonly leftTable: string | null;
}

/**
 * For a statement that writes records, which are `changed`, with their `entries` and of a change also `old_data` and
 * `patch`. A change that changes nothing is none.
 */
export function kept(
  on: Queryable,
  { rules, schemaVersion }: Pick<Database, "schemaVersion" | "rules">,
  { by: { userId, source }, op, isChange, leftTable }: Kept,
): Fragment {
  const [number, sides] = op === "delete" ? removal : isChange ? change : creation;
  const isOther = isChange && leftTable === null ? on`where r.data is distinct from r.old_data` : on``;
  return on`, kept as (
    insert into record_history (${on.unsafe(entryColumns)})
    select r.db_id, r.id, ${on.unsafe(number)}, r.account_id, ${op}, ${source}, ${userId}::bigint, r.table_name,
      ${leftTable}, ${on.unsafe(sides)}, ${schemaVersion}, r.plan_version, r.created_at, r.updated_at
    from changed r ${op === "delete" ? inKeptTables(on, rules) : isOther})`;
}

const creation = ["r.entries", "null, r.data, pg_column_size(r.data)"] as const;
const change = ["r.entries", "r.old_data, r.patch, pg_column_size(r.old_data) + pg_column_size(r.patch)"] as const;
const removal = ["coalesce(r.entries, 0) + 1", "r.data, null, pg_column_size(r.data)"] as const;

/** Which table a deleted record is in is known only then. */
function inKeptTables(on: Queryable, rules: Schema): Fragment {
  const usual = keepsHistory(rules, "");
  const others = [...rules.tables.values()].filter(({ history }) => history !== usual).map(({ name }) => name);
  if (others.length === 0) return on``;
  return on`where (r.table_name = any(${others}::text[])) <> ${usual}`;
}

/** Of new records, each made by somebody else. */
export function keptCreates(
  on: Queryable,
  { schemaVersion }: Pick<Database, "schemaVersion">,
  all: readonly { readonly id: string; readonly by?: By | undefined }[],
): Fragment {
  const who = all.map(({ by }) => by);
  return on`, kept as (
    insert into record_history (${on.unsafe(entryColumns)})
    select r.db_id, r.id, ${on.unsafe(creation[0])}, r.account_id, 'create', m.source, m.user_id, r.table_name,
      null, ${on.unsafe(creation[1])}, ${schemaVersion}, r.plan_version, r.created_at, r.updated_at
    from changed r, unnest((select ${all.map(({ id }) => id)}::uuid[]),
      (select ${who.map((by) => by?.userId ?? null)}::bigint[]),
      (select ${who.map((by) => by?.source ?? null)}::text[])) as m (id, user_id, source)
    where m.id = r.id)`;
}
