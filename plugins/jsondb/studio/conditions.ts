/** Filters of records: as a person builds them, and as `filter[field][op]=value` stands in the address. Pure. */
import { columnKindOf, type FieldType } from "../databases/columns.ts";
import { isOwn, listOf, typedValue } from "./cells.ts";
import { me, type Look } from "./look/kinds.ts";

export const operators = ["eq", "contains", "ne", "gt", "gte", "lt", "lte", "in", "empty", "filled"] as const;
export type Operator = (typeof operators)[number];

export interface Condition {
  /** The number of its group, of which one must hold whole. Undefined: the condition must hold. */
  readonly group?: number;
  readonly field: string;
  readonly op: Operator;
  readonly value: string;
}

/** Values that are picked from a list, and have no order. */
export function isPicked({ kind }: Pick<Look, "kind">): boolean {
  return kind === "choice" || kind === "choices" || kind === "link" || kind === "person";
}

export function isDay({ kind }: Pick<Look, "kind">): boolean {
  return kind === "date" || kind === "datetime";
}

/** The operators that the API has for a type; a field that the schema does not know takes them all. */
export function operatorsOf(type: FieldType | undefined, picked = false): readonly Operator[] {
  if (picked) return ["eq", "ne", "in", "empty", "filled"];
  if (type === "boolean") return ["eq", "ne", "empty", "filled"];
  const isTextual = type === undefined || columnKindOf(type) === "str";
  return operators.filter((op) => op !== "contains" || isTextual);
}

/** The days that are offered, worked out when somebody asks; others may be typed into an address. */
export const spans = [
  "today",
  "yesterday",
  "tomorrow",
  "this_week",
  "last_week",
  "next_week",
  "this_month",
  "last_month",
  "this_year",
  "last_7_days",
  "last_30_days",
  "next_7_days",
  "next_30_days",
] as const;

/** `today` of `{today}`. */
export function spanIn(value: string): string | undefined {
  return /^\{([a-z0-9_]{1,20})\}$/.exec(value)?.[1];
}

export function needsValue(op: Operator): boolean {
  return op !== "empty" && op !== "filled";
}

/** Reads the conditions of an address. */
export function conditionsOf(search: URLSearchParams): Condition[] {
  return joinedLists(search).flatMap(([name, value]) => {
    const [, group, inside] = /^(?:filter|any\[(\d{1,3})\])\[(.{1,600})\]$/s.exec(name) ?? [];
    if (inside === undefined) return [];
    const at = inside.lastIndexOf("][");
    const op = at < 0 ? "eq" : inside.slice(at + 2);
    const field = at < 0 ? inside : inside.slice(0, at);
    return [{ ...conditionOf(field, op, value), ...(group !== undefined && { group: Number(group) }) }];
  });
}

/** A list has a parameter for each value, where one has a comma. */
function joinedLists(search: URLSearchParams): (readonly [string, string])[] {
  return [...new Set(search.keys())].flatMap((name) => {
    const values = search.getAll(name);
    if (name.endsWith("][in][]")) return [[name.slice(0, -2), inText(values)] as const];
    return values.map((value) => [name, value] as const);
  });
}

/** Values of `in` as one text: between commas, or as JSON where one has a comma. */
export function inText(values: readonly string[]): string {
  return values.some((one) => /[,[]/.test(one)) ? JSON.stringify(values) : values.join(",");
}

/** The parameters of `in` at a place. */
export function listParameters(place: string, values: readonly string[]): (readonly [string, string])[] {
  if (!values.some((one) => one.includes(","))) return [[place, values.join(",")]];
  return values.map((one) => [`${place}[]`, one]);
}

function conditionOf(field: string, op: string, value: string): Condition {
  if (value === "" && (op === "eq" || op === "ne")) return { field, op: op === "eq" ? "empty" : "filled", value: "" };
  // Nobody sees whether an empty field holds nothing or an empty text.
  if (op === "null") return { field, op: /^(?:true|1)$/i.test(value) ? "empty" : "filled", value: "" };
  const fragment = /^\*([^*%]+)\*$/.exec(value)?.[1];
  if (op === "eq" && fragment !== undefined) return { field, op: "contains", value: fragment };
  return { field, op: operators.find((one) => one === op) ?? "eq", value };
}

/** The parameters of a condition; none where its value is still to be typed. */
export function parametersOf({ group, field, op, value }: Condition): (readonly [string, string])[] {
  const place = `${group === undefined ? "filter" : `any[${group}]`}[${field}]`;
  if (op === "empty") return [[place, ""]];
  if (op === "filled") return [[`${place}[ne]`, ""]];
  if (value === "") return [];
  if (op === "in") return listParameters(`${place}[in]`, listOf(value).map(String));
  if (op === "eq") return [[place, value]];
  return [op === "contains" ? [place, `*${value}*`] : [`${place}[${op}]`, value]];
}

/** What a new record has so that these conditions find it. */
export function valuesOf(
  conditions: readonly Condition[],
  typeOf: (field: string) => FieldType | undefined,
  userId?: number,
): Record<string, unknown> {
  const given = conditions.filter(
    ({ group, field, op, value }) =>
      group === undefined && op === "eq" && value !== "" && !spanIn(value) && !isOwn(field),
  );
  const values = given.flatMap(({ field, value }) => {
    const type = typeOf(field);
    const typed = typedValue(type, value === me && userId !== undefined ? String(userId) : value);
    return type !== undefined && "value" in typed ? [[field, typed.value] as const] : [];
  });
  return Object.fromEntries(values);
}

/** With one more: among those that must hold, or as a group of its own. */
export function withOneMore(conditions: readonly Condition[], field: string, isAny: boolean): Condition[] {
  const begun: Condition = { field, op: "eq", value: "" };
  const next = Math.max(-1, ...conditions.map(({ group = -1 }) => group)) + 1;
  if (isAny) return [...conditions, { ...begun, group: next }];
  const grouped = conditions.filter(({ group }) => group !== undefined);
  return [...conditions.filter(({ group }) => group === undefined), begun, ...grouped];
}

/** All of them hold, or any one. */
export function joined(conditions: readonly Condition[], isAny: boolean): Condition[] {
  return conditions.map(({ field, op, value }, at) => ({ field, op, value, ...(isAny && { group: at }) }));
}

/** The fields that filters and the order name: what they cost depends on their indexes. */
export function fieldsAsked(search: URLSearchParams): string[] {
  const sorted = (search.get("sort") ?? "").replace(/^-/, "");
  const names = [...conditionsOf(search).map(({ field }) => field), sorted];
  return [...new Set(names.filter((name) => name !== ""))];
}

/** The address with these conditions instead of those that it has. */
export function withConditions(search: URLSearchParams, conditions: readonly Condition[]): string {
  const next = new URLSearchParams([...search].filter(([name]) => !/^(?:filter|any)\[/.test(name)));
  for (const [name, value] of conditions.flatMap(parametersOf)) next.append(name, value);
  const text = next.toString();
  return text === "" ? "" : `?${text}`;
}

/** The parameters for the API, out of an address of the Studio. */
export function recordQuery(search: URLSearchParams, table: string | undefined): URLSearchParams {
  const query = new URLSearchParams();
  if (table) query.set("table_name", table);
  for (const name of ["q", "search_in", "sort"]) {
    const value = search.get(name);
    if (value) query.set(name, value);
  }
  for (const [name, value] of conditionsOf(search).flatMap(parametersOf)) query.append(name, value);
  return query;
}

export interface Bulk {
  readonly op: "update" | "delete";
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The order of the list does not matter, and without any filter one must say that all are meant. */
export function bulkCall(
  query: URLSearchParams,
  { op, data }: Bulk,
): { search: string; body: Record<string, unknown> } {
  const asked = new URLSearchParams([...query].filter(([name]) => name !== "sort"));
  const search = asked.toString();
  return {
    search: search === "" ? "" : `?${search}`,
    body: { op, ...(data && { data }), ...(search === "" && { all: true }) },
  };
}
