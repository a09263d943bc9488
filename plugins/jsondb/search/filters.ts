/** The filters of a search, read from its parameters. No SQL. */
import { badRequest, currentActor, isUuid, wildcardPattern } from "platform";
import { columnKindOf, ownFields } from "../databases/columns.ts";
import { fits } from "../databases/kinds.ts";
import type { Table } from "../databases/schema.ts";

/**
 * Exactly this value by the field's type (`eq`), or anything else (`ne`); `isPattern`: `value` is a LIKE pattern, case
 * ignored.
 */
export interface Exact {
  readonly op: "eq" | "ne";
  readonly field: string;
  readonly value: string;
  readonly isPattern: boolean;
}

export type ComparisonOp = "gt" | "gte" | "lt" | "lte";

export interface Comparison {
  readonly op: ComparisonOp;
  readonly field: string;
  readonly value: string;
}

/** One of these exact values: nothing, if there are none. */
export interface Choice {
  readonly op: "in";
  readonly field: string;
  readonly values: readonly string[];
}

/** Missing or null, or neither. */
export interface Presence {
  readonly op: "null";
  readonly field: string;
  readonly isNull: boolean;
}

export type Filter = Exact | Comparison | Choice | Presence;

export interface Filters {
  /** All of them hold. */
  readonly filters: readonly Filter[];
  /** Groups: if there are any, all filters of at least one group hold. */
  readonly any: readonly (readonly Filter[])[];
  /** By what is at the end of links: all of them hold. */
  readonly ends?: readonly EndFilter[] | undefined;
}

/** A condition on the records that a link leads to, as SQL (links/filters.ts). */
export interface EndFilter {
  /** The link. */
  readonly field: string;
  readonly condition: (args: { readonly bind: Bind; readonly values: Arg[] }) => string;
}

export type Arg = string | number | (string | null)[];
type Bind = (value: Arg, type: string) => string;

export const filterLimits = { conditions: 20, values: 100, field: 255, text: 10_000 } as const;

/** Bounded, because a few characters such as 1e999999 are a number that PostgreSQL refuses. */
export const numberForm = /^[+-]?\d{1,1000}(\.\d{1,1000})?(e[+-]?\d{1,3})?$/i;

export const booleans: ReadonlyMap<string, "true" | "false"> = new Map([
  ["true", "true"],
  ["1", "true"],
  ["false", "false"],
  ["0", "false"],
]);

export const operators = ["gt", "gte", "lt", "lte", "ne", "in", "null"] as const;
export type Operator = (typeof operators)[number];

/** One condition as a request gives it. */
export interface Condition {
  /** The number of its group: one group must hold whole. Undefined: the condition must hold. */
  readonly group?: string | undefined;
  readonly field: string;
  readonly op: "eq" | Operator;
  /** A list is for `in`; as a text its values are separated by commas. */
  readonly value: string | readonly string[];
  /** For `eq` and `ne`: whether the value is a LIKE pattern. Undefined: if it has wildcards. */
  readonly isPattern?: boolean;
}

/** `filter[age][gt]=30`, `any[0][city]=Łódź`: whether a parameter is one of these. */
export function isFilter(parameter: string): boolean {
  return parameter.startsWith("any[") || (parameter.startsWith("filter[") && parameter.endsWith("]"));
}

/** The conditions of a request's parameters. 400 for an operator that there is not. */
export function conditionsOf(table: Table, params: URLSearchParams): Condition[] {
  const conditions: Condition[] = [];
  const lists = new Map<string, string[]>();
  for (const [parameter, value] of params) {
    if (!isFilter(parameter)) continue;
    const { group, inside } = placeOf(parameter);
    const list = inside.endsWith("][in][") ? (lists.get(parameter) ?? []) : undefined;
    list?.push(value);
    if (list && lists.has(parameter)) continue;
    if (list) lists.set(parameter, list);
    const place = placeInside(table, parameter, list ? inside.slice(0, -"][".length) : inside);
    conditions.push({ group, ...place, value: list ?? value });
  }
  return conditions;
}

/** 400 for a value that a filter does not take, or for too many of them. */
export function readFilters(table: Table, conditions: readonly Condition[]): Filters {
  const filters: Filter[] = [];
  const groups = new Map<string, Filter[]>();
  let values = 0;
  if (conditions.length > filterLimits.conditions)
    throw badRequest(`at most ${filterLimits.conditions} filters may be given`);
  for (const condition of conditions) {
    const { group } = condition;
    const filter = readFilter(table, condition);
    values += filter.op === "in" ? filter.values.length : 0;
    if (values > filterLimits.values) throw badRequest(`\`in\` may name at most ${filterLimits.values} values`);
    if (group === undefined) filters.push(filter);
    else groups.set(group, [...(groups.get(group) ?? []), filter]);
  }
  return { filters, any: [...groups.values()] };
}

/** The fields that filters name. */
export function fieldsOf({ filters, any, ends = [] }: Filters): string[] {
  return [...filters, ...any.flat(), ...ends].map(({ field }) => field);
}

/** 400 if a text is too long or holds a character that PostgreSQL cannot compare. */
export function checked(name: string, text: string, maxLength: number): string {
  if (text.length > maxLength) throw badRequest(`\`${name}\` may have at most ${maxLength} characters`);
  if (text.includes("\0") || !text.isWellFormed())
    throw badRequest(`\`${name}\` has a character that cannot be searched for`);
  // As texts are stored.
  return text.normalize("NFC");
}

/** The text in the brackets, and the group's number. */
function placeOf(parameter: string): { group: string | undefined; inside: string } {
  if (parameter.startsWith("filter[")) return { group: undefined, inside: parameter.slice("filter[".length, -1) };
  const end = parameter.indexOf("][");
  const group = parameter.slice("any[".length, Math.max(end, 0));
  if (!/^\d{1,3}$/.test(group) || !parameter.endsWith("]"))
    throw badRequest("a group of filters is written `any[0][field]=…` or `any[0][field][gt]=…`");
  return { group: `${Number(group)}`, inside: parameter.slice(end + 2, -1) };
}

function placeInside(table: Table, parameter: string, inside: string): Pick<Condition, "field" | "op"> {
  const at = table.fields.has(inside) ? -1 : inside.lastIndexOf("][");
  if (at < 0) return { field: inside, op: "eq" };
  const given = inside.slice(at + 2);
  const op = operators.find((one) => one === given);
  if (!op) throw badRequest(`\`${parameter.slice(0, 300)}\`: the operators are ${operators.join(", ")}`);
  return { field: inside.slice(0, at), op };
}

function readFilter(table: Table, condition: Condition): Filter {
  const { field: name, op, isPattern } = condition;
  const given = isPerson(table, name) ? meant(condition.value) : condition.value;
  const field = checked("filter", name, filterLimits.field);
  const wrong = (rule: string) => badRequest(`\`${field}\` ${op}: ${rule}`);
  if (op === "in") return choice(table, field, given, wrong);
  if (typeof given !== "string") throw wrong("takes one value, a list is for `in`");
  const value = checked(field, given, filterLimits.text);
  if (op === "null") {
    const truth = booleans.get(value.toLowerCase());
    if (truth === undefined) throw wrong("must be true or false");
    return { op, field, isNull: truth === "true" };
  }
  if (op === "eq" || op === "ne") {
    const filter = exact(op, field, value, isPattern);
    if (op === "ne" && !filter.isPattern && value !== "") refuse(wrong, table, field, value);
    return filter;
  }
  if (!ownFields.has(field) && table.fields.get(field)?.type === "boolean")
    throw wrong("true and false have no order, use `ne` or `in`");
  refuse(wrong, table, field, value);
  return { op, field, value };
}

const isPerson = (table: Table, name: string) => table.fields.get(name)?.format === "user";

/** `{user_id}` is whoever asks; nobody has the id 0. */
function meant(value: Condition["value"]): Condition["value"] {
  const me = String(currentActor()?.user ?? 0);
  return typeof value === "string"
    ? value.replaceAll("{user_id}", me)
    : value.map((one) => (one === "{user_id}" ? me : one));
}

function choice(table: Table, field: string, given: string | readonly string[], wrong: Wrong): Choice {
  const all = typeof given === "string" ? checked(field, given, filterLimits.text).split(",") : given;
  const values = all.flatMap((one) => (one === "" ? [] : [checked(field, one, filterLimits.text)]));
  for (const one of values) refuse(wrong, table, field, one);
  return { op: "in", field, values };
}

function exact(op: Exact["op"], field: string, value: string, given?: boolean): Exact {
  if (given !== undefined) return { op, field, value, isPattern: given };
  const isPattern = /[*%]/.test(value);
  return { op, field, value: isPattern ? wildcardPattern(value) : value, isPattern };
}

type Wrong = (rule: string) => Error;

/** A filter for the field's written value, if one of its type may be written so. */
export function writtenAs({ fields }: Table, field: string, text: string): Exact[] {
  const type = fields.get(field)?.type;
  const kind = columnKindOf(type);
  const filter = exact("eq", field, text);
  if (filter.isPattern) return /^[\d.:+\-TZe*%]+$/i.test(text) ? [filter] : [];
  const isSo = kind === "int" ? numberForm.test(text) : type === "time" ? fits("time", text) : isInstant(text);
  return isSo ? [filter] : [];
}

/** A value that the field's type cannot hold. */
function refuse(wrong: Wrong, { fields }: Table, field: string, value: string): void {
  if (field === "id" && !isUuid(value)) throw wrong("must be the id of a record");
  if (ownFields.has(field)) {
    if (field !== "id" && !isInstant(value)) throw wrong(timeRule);
    return;
  }
  const type = fields.get(field)?.type;
  if (!type) return;
  const kind = columnKindOf(type);
  if (kind === "int" && !numberForm.test(value)) throw wrong("must be a number");
  if (kind === "time" && type === "time" && !fits("time", value)) throw wrong("must be a time like 10:00 or 10:00:00");
  if (kind === "time" && type !== "time" && !isInstant(value)) throw wrong(timeRule);
  if (type === "boolean" && !booleans.has(value.toLowerCase())) throw wrong("must be true or false");
}

const timeRule =
  "must be a date like 2026-01-31, a datetime like 2026-01-31T10:00:00Z, or days like {today}, {this_week} or {last_7_days}";

function isInstant(value: string): boolean {
  return fits("datetime", value) || fits("date", value) || spanForm.test(value);
}

const spanForm =
  /^\{(?:(today|yesterday|tomorrow)|(last|this|next)_(week|month|year)|(last|next)_([1-9]\d{0,2})_days)\}$/;

/** The days that `{this_week}` or `{last_7_days}` means now, today among them: the first, and the one after the last. */
export function spanOf(value: string, timezone: string, now = Date.now()) {
  const found = spanForm.exec(value);
  if (!found) return undefined;
  const [, day, which, unit, side, count = "1"] = found;
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).toPlainDate();
  const by = (name: string | undefined) =>
    name === "last" || name === "yesterday" ? -1 : name === "this" || name === "today" ? 0 : 1;
  if (unit !== undefined) {
    const begun =
      unit === "week"
        ? today.subtract({ days: today.dayOfWeek - 1 })
        : today.with(unit === "year" ? { month: 1, day: 1 } : { day: 1 });
    const first = begun.add({ [`${unit}s`]: by(which) });
    return { first, next: first.add({ [`${unit}s`]: 1 }) };
  }
  const days = Number(count);
  const first =
    side === undefined ? today.add({ days: by(day) }) : side === "last" ? today.subtract({ days: days - 1 }) : today;
  return { first, next: first.add({ days }) };
}
