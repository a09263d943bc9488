/** SQL that finds the records at the other end of links by their values. */
import type { Queryable } from "platform";
import { anyTable, inScope, openData } from "../access/reach-store.ts";
import { collate } from "../databases/columns-store.ts";
import type { Database } from "../databases/database.ts";
import type { Table } from "../databases/schema.ts";
import { namedData } from "../records/keys-store.ts";
import { columnOf, newArgs, sourceOf } from "../search/filter-store.ts";

interface By {
  /** The field whose value is given. */
  readonly by: string;
  readonly target: Database;
  readonly tables: readonly Table[];
}

export interface Found {
  readonly id: string;
  readonly count: number;
}

/** For each of these values the open record that has it, and how many there are. */
export async function byValues(
  on: Queryable,
  asked: By,
  values: readonly string[],
): Promise<ReadonlyMap<string, Found>> {
  const { by, target, tables } = asked;
  const [only, ...others] = tables;
  if (!only) return new Map();
  const args = newArgs();
  const scope = others.length === 0 ? { table: only, allTables: false } : anyTable;
  const among =
    others.length === 0
      ? []
      : [
          `r.table_name = any(${args.bind(
            tables.map(({ name }) => name),
            "text[]",
          )})`,
        ];
  const isOpen = [inScope(args, target, scope, [by]), ...among].join(" and ");
  const set = others.length === 0 ? keySetOf(asked, only) : undefined;
  const counted = "min(r.id::text) as id, count(*)::int as count";
  const given = args.bind([...values], "text[]");
  const held = `${namedData} ->> ${args.bind(by, "text")}`;
  const key = (value: string) => `record_key(${value}, ${set?.type === "datetime"})`;
  const text = set
    ? `select n.value, ${counted} from unnest(${given}) as n (value)
       join record_keys k on k.db_id = ${args.bind(target.id, "uuid")} and k.set_id = ${args.bind(set.id, "uuid")}
         and k.key = ${key("n.value")}
       join records r on r.id = k.id and ${isOpen} and ${key(held)} = k.key group by n.value`
    : `select ${held} as value, ${counted} from records r
       where ${isOpen} and ${inColumn(asked, only, others.length === 0, given)} ${held} = any(${given}) group by 1`;
  const rows = await on.unsafe<(Found & { value: string })[]>(text, args.values);
  return new Map(rows.map(({ value, ...found }) => [value, found]));
}

function keySetOf({ by, target }: By, { name }: Table) {
  return target.keySets.find((set) => set.filled && set.table === name && set.field === by);
}

/** Whether the values are found without a look at every record. */
export function isQuick(asked: By): boolean {
  const [only, ...others] = asked.tables;
  return only !== undefined && (!!keySetOf(asked, only) || inColumn(asked, only, others.length === 0, "") !== "");
}

/** The index column of the field, if it can be trusted: the beginnings of the values, as it holds them. */
function inColumn({ by, target }: By, table: Table, isOne: boolean, given: string): string {
  const source = sourceOf(target, { table, allTables: !isOne });
  const column = columnOf(source, by);
  if (!column?.startsWith("idx_str")) return "";
  return `r.${column} ${collate(source.equalsBy)} = any(array(select left(v, 255) from unnest(${given}) v)) and`;
}

/** Those of these records that are open and in the table, if it is given. */
export async function open(
  on: Queryable,
  db: Database,
  table: Table | undefined,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const args = newArgs();
  const text = `select r.id::text from records r
    where ${inScope(args, db, table ? { table, allTables: false } : anyTable, [])}
      and r.id = any(${args.bind([...ids], "uuid[]")})`;
  return new Set((await on.unsafe<{ id: string }[]>(text, args.values)).map(({ id }) => id));
}

/** What people know these records by, of those that are open; none for a record without a title. */
export async function titles(
  on: Queryable,
  db: Database,
  table: Table | undefined,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const args = newArgs();
  const scope = table ? { table, allTables: false } : anyTable;
  const named = (table ? [table] : [...db.rules.tables.values()]).flatMap(({ name, titleField }) =>
    titleField === undefined ? [] : [[args.bind(name, "text"), args.bind(titleField, "text")] as const],
  );
  if (named.length === 0) return new Map();
  const titleField = `case r.table_name ${named.map(([name, title]) => `when ${name} then ${title}`).join(" ")} end`;
  const text = `select t.id, t.title from (
      select r.id::text as id, left(${openData(args, db, scope)} ->> ${titleField}, ${mostTitle}) as title
      from records r
      where ${inScope(args, db, scope, [])} and r.id = any(${args.bind([...ids], "uuid[]")})) t
    where t.title <> ''`;
  const rows = await on.unsafe<{ id: string; title: string }[]>(text, args.values);
  return new Map(rows.map(({ id, title }) => [id, title]));
}

/** Characters of a title. */
const mostTitle = 1000;
