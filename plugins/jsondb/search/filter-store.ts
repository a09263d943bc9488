/**
 * Conditions on a record `r` as SQL. Index columns only speed conditions up: each condition is correct by the data
 * alone.
 */
import { isUuid } from "platform";
import { columnKindOf, ownFields, type IndexColumn } from "../databases/columns.ts";
import { collate } from "../databases/columns-store.ts";
import type { Database } from "../databases/database.ts";
import { booleans, numberForm, type Arg, type Comparison, type Exact, type Filter, type Filters } from "./filters.ts";
import { valuesIn, type Phrase, type Query } from "./query.ts";
import { isoTime, ownTimeCondition, signs, timeBounds } from "./time-store.ts";
import type { Table } from "../databases/schema.ts";

/** Collects a statement's arguments: `bind` gives the text that stands for a value. */
export interface Args {
  readonly values: Arg[];
  bind(value: Arg, type: string): string;
}

export function newArgs(): Args {
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

/** The table whose index columns a condition may use. */
export interface Source {
  readonly table: Table;
  /** All records are indexed by this table's plan. */
  readonly indexed: boolean;
  /** Whose days a filter means. */
  readonly timezone: string;
  /** The order of strings. */
  readonly collation: string;
  /** The collation by whose indexes equal strings are found. */
  readonly equalsBy: string;
}

export function sourceOf(db: Database, { table, allTables }: Pick<Query, "table" | "allTables">): Source {
  return { table, indexed: db.indexed && !allTables, ...ruleOf(db) };
}

/** By the data alone, for what goes on while an index plan may move. */
export function dataSourceOf(db: Database, { table }: Pick<Query, "table">): Source {
  return { table, indexed: false, ...ruleOf(db) };
}

function ruleOf({ timezone, collation, equalsBy }: Database): Omit<Source, "table" | "indexed"> {
  return { timezone, collation, equalsBy };
}

/** The column that holds a field of the data, if it can be trusted. */
export function columnOf({ table, indexed }: Source, field: string): IndexColumn | undefined {
  return indexed && !ownFields.has(field) ? table.indexes.get(field) : undefined;
}

/** The conditions of all filters, and one for the groups of which one must hold. */
export function filterConditions(args: Args, source: Source, { filters, any, ends = [] }: Filters): string[] {
  const all = (group: readonly Filter[]) => group.map((filter) => filterCondition(args, source, filter));
  const groups = any.map((group) => `(${all(group).join(" and ")})`);
  const reached = ends.map(({ condition }) => condition(args));
  return [...all(filters), ...(groups.length > 0 ? [`(${groups.join(" or ")})`] : []), ...reached];
}

function filterCondition(args: Args, source: Source, filter: Filter): string {
  switch (filter.op) {
    case "eq":
      return exactCondition(args, source, filter);
    case "ne":
      return `(${exactCondition(args, source, filter)}) is not true`;
    case "in": {
      const { field } = filter;
      const one = (value: string) => exactCondition(args, source, { op: "eq", field, value, isPattern: false });
      return filter.values.length === 0 ? "false" : `(${filter.values.map(one).join(" or ")})`;
    }
    case "null": {
      const { field, isNull } = filter;
      if (ownFields.has(field)) return isNull ? "false" : "true";
      const column = columnOf(source, field);
      // A column of numbers or times is also null if the value has another type.
      const value = column?.startsWith("idx_str") ? `r.${column}` : `r.data ->> ${args.bind(field, "text")}`;
      return `${value} is ${isNull ? "" : "not "}null`;
    }
    default:
      return comparison(args, source, filter);
  }
}

/** Only values of the field's type are compared. */
function comparison(args: Args, source: Source, filter: Comparison): string {
  const { op, field, value } = filter;
  if (ownFields.has(field)) return ownCondition(args, source, filter);
  const sign = signs[op];
  // An index column never holds more than the value, so this bound can only be too wide.
  const bound = op === "gt" || op === "gte" ? ">=" : "<=";
  const column = columnOf(source, field);
  const name = () => args.bind(field, "text");
  const given = () => args.bind(value, "text");
  const number = () => `${given()}::numeric`;
  const type = source.table.fields.get(field)?.type;
  switch (columnKindOf(type)) {
    case "int": {
      const exact = `record_number(r.data -> ${name()}) ${sign} ${number()}`;
      if (!column) return exact;
      const isHeld = `r.inexact_numbers = 0 and r.${column} ${sign} ${number()}`;
      return `r.${column} ${bound} record_int(${number()}) and (${isHeld} or r.inexact_numbers <> 0 and ${exact})`;
    }
    case "time":
      return timeCondition(args, source, filter);
    case "str": {
      // The beginning of a longer string is after or before a shorter one as the whole is.
      const held = column && value.length < 255 ? `r.${column}` : `(r.data ->> ${name()})`;
      return `${held} ${collate(source.collation)} ${sign} ${given()}`;
    }
    default: {
      const isNumber = numberForm.test(value);
      const held = isNumber ? `(r.data ->> ${name()})::numeric` : `(r.data ->> ${name()}) ${collate(source.collation)}`;
      const kind = isNumber ? "number" : "string";
      return `case when jsonb_typeof(r.data -> ${name()}) = '${kind}' then ${held} ${sign} ${isNumber ? number() : given()} else false end`;
    }
  }
}

function ownCondition(args: Args, { timezone }: Source, { op, field, value }: Comparison | Exact): string {
  const compared = { op: op === "ne" ? "eq" : op, value } as const;
  if (field !== "id") return ownTimeCondition(args, timezone, field, compared);
  return isUuid(value) ? `r.id ${signs[compared.op]} ${args.bind(value.toLowerCase(), "uuid")}` : "false";
}

function timeCondition(args: Args, source: Source, { op, field, value }: Comparison | Exact): string {
  const column = columnOf(source, field);
  const held = column ? `r.${column}` : `record_instant(r.data ->> ${args.bind(field, "text")})`;
  const of = { type: source.table.fields.get(field)?.type, timezone: source.timezone };
  const bounds = timeBounds(args, of, { op: op === "ne" ? "eq" : op, value });
  return `(${bounds.map((bound) => `${held} ${signs[bound.op]} ${bound.instant}`).join(" and ")})`;
}

/** Exactly this value by the field's type; an empty one finds what is missing, null or "". */
function exactCondition(args: Args, source: Source, filter: Exact): string {
  const { field, value, isPattern } = filter;
  if (isPattern) return likeCondition(args, source, field, value);
  if (ownFields.has(field)) return ownCondition(args, source, filter);
  const name = () => args.bind(field, "text");
  if (value === "") return `coalesce(r.data ->> ${name()}, '') = ''`;
  const type = source.table.fields.get(field)?.type;
  const column = columnOf(source, field);
  if (type === "boolean") {
    const truth = booleans.get(value.toLowerCase());
    return truth === undefined ? "false" : `r.data -> ${name()} = ${args.bind(truth, "text")}::jsonb`;
  }
  // One of its items.
  if (type === "list") {
    const has = (item: string) => `r.data -> ${name()} @> ${item}`;
    const number = numberForm.test(value) ? ` or ${has(`to_jsonb(${args.bind(value, "text")}::numeric)`)}` : "";
    return `(${has(`to_jsonb(${args.bind(value, "text")})`)}${number}) is true`;
  }
  switch (columnKindOf(type)) {
    case "int": {
      if (!numberForm.test(value)) return "false";
      const number = `${args.bind(value, "text")}::numeric`;
      const exact = `record_number(r.data -> ${name()}) = ${number}`;
      if (!column) return exact;
      // Compared with the column first: the planner knows how many records are exact there, and how many have the
      // value.
      const whole = wholeNumber(value);
      if (whole === undefined) return `r.${column} = record_int(${number}) and ${numberGuard(value, exact)}`;
      return `r.${column} = ${args.bind(whole, "bigint")} and (r.inexact_numbers = 0 or ${exact})`;
    }
    case "time":
      return timeCondition(args, source, filter);
    default: {
      const text = args.bind(value, "text");
      if (!column) return `r.data ->> ${name()} = ${text}`;
      // A shorter value than the column holds is there whole.
      if (value.length < 255) return equalStrings(source, column, text);
      return `${equalStrings(source, column, `left(${text}, 255)`)} and r.data ->> ${name()} = ${text}`;
    }
  }
}

/** Whether one of the phrase's fields, or a value in all data, matches, case ignored. */
export function phraseCondition(args: Args, source: Source, phrase: Phrase, allData: string): string {
  const { pattern, fields } = phrase;
  const strings = fields?.map((field) => likeCondition(args, source, field, pattern)) ?? [
    mentions(args, pattern, allData),
  ];
  const all = [...strings, ...valueConditions(args, source, phrase)];
  return all.length > 0 ? `(${all.join(" or ")})` : "false";
}

function mentions(args: Args, pattern: string, allData: string): string {
  const like = args.bind(pattern, "text");
  if (!hasSigma(pattern)) return `record_mentions(${allData}, record_lower(${like}))`;
  return `exists (
    select from jsonb_path_query(${allData}, 'strict $.**') v
    where jsonb_typeof(v) in ('string', 'number', 'boolean') and ${folded("v #>> '{}'", pattern)} like ${folded(like, pattern)})`;
}

/** For the written values of numbers and times, and for choices. */
export function valueConditions(args: Args, source: Source, phrase: Phrase): string[] {
  return valuesIn(phrase).map((value) => exactCondition(args, source, value));
}

function likeCondition(args: Args, source: Source, field: string, pattern: string): string {
  const like = `like ${folded(args.bind(pattern, "text"), pattern)}`;
  if (ownFields.has(field)) return `${folded(ownText(field), pattern)} ${like}`;
  const whole = `${folded(`r.data ->> ${args.bind(field, "text")}`, pattern)} ${like}`;
  const column = columnOf(source, field);
  if (!column?.startsWith("idx_str")) return whole;
  return `(r.long_strings = 0 and ${folded(`r.${column}`, pattern)} ${like} or r.long_strings <> 0 and ${whole})`;
}

/** Greek has two small letters for one capital: the one at the end of a word is not what it is within. */
function folded(text: string, pattern: string): string {
  return hasSigma(pattern) ? `translate(record_lower(${text}), 'ς', 'σ')` : `record_lower(${text})`;
}

export function hasSigma(pattern: string): boolean {
  return /[Σσς]/.test(pattern);
}

/** As answers write it. */
function ownText(field: string): string {
  return field === "id" ? "r.id::text" : isoTime(`r.${field}`);
}

/** The indexes of other columns hold the hash of a string, so they can filter by it while they give their order. */
function equalStrings({ equalsBy }: Source, column: IndexColumn, text: string): string {
  return `r.${column} ${collate(equalsBy)} = ${text} and hashtext(r.${column}) = hashtext(${text} collate "C")`;
}

/** As a bigint; undefined if it is not whole or too large. */
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
