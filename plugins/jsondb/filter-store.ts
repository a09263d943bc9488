/** Conditions on a record `r` as SQL. An index column is only a help: each condition is right by the data alone. */
import { selectedData } from "./answer-store.ts";
import { columnKindOf, type IndexColumn } from "./columns.ts";
import type { Database } from "./database.ts";
import type { Filter, Phrase, Query } from "./query.ts";
import type { Table } from "./schema.ts";

/** Collects a statement's arguments: `bind` gives the text that stands for a value. */
export interface Args {
  readonly values: Arg[];
  bind(value: Arg, type: string): string;
}

export type Arg = string | number | (string | null)[];

export function createArgs(): Args {
  const values: Arg[] = [];
  const bound = new Map<string, string>();
  return {
    values,
    bind(value, type) {
      const key = `${type} ${typeof value === "object" ? JSON.stringify(value) : value}`;
      const known = bound.get(key);
      if (known !== undefined) return known;
      const text = `$${values.push(value)}::${type}`;
      bound.set(key, text);
      return text;
    },
  };
}

/** Whose values a condition may take from index columns. */
export interface Source {
  readonly table: Table;
  /** All records are indexed by this table's plan. */
  readonly indexed: boolean;
}

export function sourceOf(db: Database, { table, allTables }: Pick<Query, "table" | "allTables">): Source {
  return { table, indexed: db.indexed && !allTables };
}

/** The column that holds a field, where it can be trusted. */
export function columnOf({ table, indexed }: Source, field: string): IndexColumn | undefined {
  return indexed ? table.indexes.get(field) : undefined;
}

type Scope = Pick<Query, "table" | "allTables">;

/** The account's records of one table, or of all. */
export function inScope(args: Args, db: Database, scope: Scope): string {
  return `r.account_id = ${args.bind(db.accountId, "bigint")} and ${inTable(args, db, scope)}`;
}

/** Literals, so that the planner can choose the index by table. */
export function inTable(args: Args, db: Database, { table, allTables }: Scope): string {
  const own = `r.db_id = ${args.bind(db.id, "uuid")}`;
  if (allTables) return own;
  if (table.name === "") return `${own} and r.table_name = ''`;
  return `${own} and r.table_name = ${args.bind(table.name, "text")} and r.table_name <> ''`;
}

/** SPEC 4.4 `filter[field]`; an empty value finds what is missing, null or "". */
export function filterCondition(args: Args, source: Source, { field, value, isPattern }: Filter): string {
  const own = source.table.fields.has(field) ? undefined : recordField(args, field, value);
  if (own !== undefined) return own;
  if (isPattern) return likeCondition(args, source, field, value);
  const name = () => args.bind(field, "text");
  if (value === "") return `coalesce(r.data ->> ${name()}, '') = ''`;
  const type = source.table.fields.get(field)?.type;
  const column = columnOf(source, field);
  if (type === "boolean") {
    const truth = booleans.get(value.toLowerCase());
    return truth === undefined ? "false" : `r.data -> ${name()} = ${args.bind(truth, "text")}::jsonb`;
  }
  switch (columnKindOf(type)) {
    case "int": {
      if (!numberForm.test(value)) return "false";
      const number = `${args.bind(value, "text")}::numeric`;
      const exact = `record_number(r.data -> ${name()}) = ${number}`;
      if (!column) return exact;
      // Compared with the column first: the planner knows how many records are exact there, and how many have the value.
      const whole = wholeNumber(value);
      if (whole === undefined) return `r.${column} = record_int(${number}) and ${numberGuard(value, exact)}`;
      return `r.${column} = ${args.bind(whole, "bigint")} and (r.inexact_numbers = 0 or ${exact})`;
    }
    case "time": {
      const instant = `record_instant(${args.bind(value, "text")})`;
      return column ? `r.${column} = ${instant}` : `record_instant(r.data ->> ${name()}) = ${instant}`;
    }
    default: {
      const text = args.bind(value, "text");
      if (!column) return `r.data ->> ${name()} = ${text}`;
      // A shorter value than the column holds is there whole.
      if (value.length < 255) return equalStrings(column, text);
      return `${equalStrings(column, `left(${text}, 255)`)} and r.data ->> ${name()} = ${text}`;
    }
  }
}

/** Whether one of the phrase's fields matches, case ignored. */
export function phraseCondition(
  args: Args,
  source: Source,
  { pattern, fields }: Phrase,
  searchable?: readonly string[],
): string {
  if (fields) return `(${fields.map((field) => likeCondition(args, source, field, pattern)).join(" or ")})`;
  const data = searchable ? selectedData(args.bind([...searchable], "text[]")) : "r.data";
  return `record_mentions(${data}, record_lower(${args.bind(pattern, "text")}))`;
}

function likeCondition(args: Args, source: Source, field: string, pattern: string): string {
  const like = `like record_lower(${args.bind(pattern, "text")})`;
  const whole = `record_lower(r.data ->> ${args.bind(field, "text")}) ${like}`;
  const column = columnOf(source, field);
  if (!column?.startsWith("idx_str")) return whole;
  return `(r.long_strings = 0 and record_lower(r.${column}) ${like} or r.long_strings <> 0 and ${whole})`;
}

/** Fields of the record itself, where the schema has none of that name. */
function recordField(args: Args, field: string, value: string): string | undefined {
  if (field === "id") return `r.id::text = ${args.bind(value.toLowerCase(), "text")}`;
  if (field === "created_at" || field === "updated_at")
    return `date_trunc('milliseconds', r.${field}) = record_instant(${args.bind(value, "text")})`;
  return undefined;
}

/** The hash is what the indexes of other columns hold of a string: they find it while they give their order. */
function equalStrings(column: IndexColumn, text: string): string {
  return `r.${column} = ${text} and hashtext(r.${column}) = hashtext(${text} collate "C")`;
}

/** As bigint has it; undefined where it is none, or too large. */
function wholeNumber(value: string): string | undefined {
  const digits = /^([+-]?\d+)(\.0*)?$/.exec(value)?.[1];
  if (digits === undefined) return undefined;
  const number = BigInt(digits);
  return BigInt.asIntN(64, number) === number ? `${number}` : undefined;
}

/** The column of an exact record holds no such number, unless it is written with an exponent. */
function numberGuard(value: string, exact: string): string {
  return /e/i.test(value) ? exact : `r.inexact_numbers <> 0 and ${exact}`;
}

const booleans = new Map([
  ["true", "true"],
  ["1", "true"],
  ["false", "false"],
  ["0", "false"],
]);

// Bounded, because a few characters such as 1e999999 are a number that PostgreSQL refuses.
const numberForm = /^[+-]?\d{1,100}(\.\d{1,100})?(e[+-]?\d{1,3})?$/i;
