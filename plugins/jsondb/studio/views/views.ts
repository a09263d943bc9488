/** Views of a table: as the server keeps them, and as the query of an address. Pure. */
import { isMap } from "studio/exact";
import { listOf } from "../cells.ts";
import { conditionsOf, listParameters, parametersOf, type Operator } from "../conditions.ts";

export const viewKinds = ["table", "board", "calendar", "gallery", "chart", "form"] as const;
export type ViewKind = (typeof viewKinds)[number];

export interface View {
  readonly id: string;
  readonly name: string;
  readonly kind: ViewKind;
  readonly table: string | null;
  readonly filters: Readonly<Record<string, unknown>>;
  readonly sort: string;
  readonly columns: readonly string[];
  readonly groupBy: string | null;
  readonly dateField: string | null;
  readonly coverField: string | null;
  readonly measure: string;
  readonly measureField: string | null;
  readonly unit: string;
  readonly isShared: boolean;
}

const textOrNull = (value: unknown) => (typeof value === "string" ? value : null);
const texts = (value: unknown) => (Array.isArray(value) ? value.filter((one) => typeof one === "string") : []);

export function viewOf(value: unknown): View[] {
  if (!isMap(value) || typeof value["id"] !== "string" || typeof value["name"] !== "string") return [];
  return [
    {
      id: value["id"],
      name: value["name"],
      // A kind that nothing here draws is a table.
      kind: viewKinds.find((kind) => kind === value["kind"]) ?? "table",
      table: textOrNull(value["table_name"]),
      filters: isMap(value["filters"]) ? value["filters"] : {},
      sort: texts(value["sort"])[0] ?? "",
      columns: texts(value["columns"]),
      groupBy: textOrNull(value["group_by"]),
      dateField: textOrNull(value["date_field"]),
      coverField: textOrNull(value["cover_field"]),
      measure: textOrNull(value["measure"]) ?? "count",
      measureField: textOrNull(value["measure_field"]),
      unit: textOrNull(value["unit"]) ?? "month",
      isShared: value["shared"] === true,
    },
  ];
}

/** The address of a view, as far as it says what is shown. */
export function queryOf(view: View): URLSearchParams {
  const { id, kind, table, filters, sort, columns, groupBy } = view;
  const query = new URLSearchParams({ view: id });
  if (table !== null) query.set("table", table);
  const { any, ...fields } = filters;
  append(query, "filter", Array.isArray(any) ? fields : filters);
  if (Array.isArray(any))
    for (const [at, group] of any.entries()) append(query, `any[${at}]`, isMap(group) ? group : {});
  if (kind === "table" && groupBy !== null) query.set("group", groupBy);
  if (kind === "chart") {
    if (groupBy !== null) query.set("by", groupBy);
    if (view.unit !== "month") query.set("unit", view.unit);
    if (view.measure !== "count") query.set("measure", view.measure);
    if (view.measureField !== null) query.set("of", view.measureField);
  }
  if (sort) query.set("sort", sort);
  if (columns.length > 0) query.set("cols", columns.join(","));
  return query;
}

function append(query: URLSearchParams, place: string, filters: View["filters"]): void {
  for (const [field, given] of Object.entries(filters)) {
    const operators = isMap(given) ? Object.entries(given) : [["eq", given] as const];
    for (const [op, value] of operators) {
      const key = op === "eq" ? `${place}[${field}]` : `${place}[${field}][${op}]`;
      const all = Array.isArray(value)
        ? listParameters(key, value.map(filterText))
        : [[key, filterText(value)] as const];
      for (const [name, text] of all) query.append(name, text);
    }
  }
}

function filterText(value: unknown): string {
  return typeof value === "string" ? value : value === null ? "" : JSON.stringify(value);
}

/** How the API writes those of our operators that it does not have. */
const spelled: Partial<Record<Operator, "eq" | "ne">> = { contains: "eq", empty: "eq", filled: "ne" };

/** What a view keeps of an address, as the body of a request: of a table how it is grouped, of a chart what it measures. */
export function bodyOf(query: URLSearchParams, kind?: ViewKind): Record<string, unknown> {
  const filters: Record<string, unknown> = {};
  const groups = new Map<number, Record<string, unknown>>();
  for (const condition of conditionsOf(query)) {
    const { group } = condition;
    const into = group === undefined ? filters : (groups.get(group) ?? {});
    const [[, value] = []] = parametersOf(condition);
    if (value === undefined) continue;
    const op = spelled[condition.op] ?? condition.op;
    if (group !== undefined) groups.set(group, into);
    const before = into[condition.field];
    const others = isMap(before) ? before : before === undefined ? {} : { eq: before };
    into[condition.field] =
      op === "eq" && before === undefined ? value : { ...others, [op]: op === "in" ? listOf(condition.value) : value };
  }
  return {
    table_name: query.get("table"),
    filters: groups.size === 0 ? filters : { ...filters, any: [...groups.values()] },
    ...(kind === "table" && { group_by: query.get("group") }),
    ...(kind === "chart" && {
      group_by: query.get("by"),
      unit: query.get("unit") ?? "month",
      measure: query.get("measure") ?? "count",
      measure_field: query.get("of"),
    }),
    sort: query.get("sort") ? [query.get("sort")] : [],
    columns: query.get("cols")?.split(",") ?? [],
  };
}

/** Whether an address shows something else than its view. */
export function differs(query: URLSearchParams, view: View): boolean {
  const [now, kept] = [bodyOf(query, view.kind), bodyOf(queryOf(view), view.kind)];
  // The first of several tables need not be named.
  if (now["table_name"] === null || kept["table_name"] === null) now["table_name"] = kept["table_name"] = null;
  return JSON.stringify(now) !== JSON.stringify(kept);
}

interface Saved {
  readonly name: string;
  /** The query of the address, without `?`. */
  readonly query: string;
}

/** The views that were kept among a person's preferences. */
export function savedOf(value: unknown): Saved[] {
  return (Array.isArray(value) ? value : []).flatMap((one) =>
    isMap(one) && typeof one["name"] === "string" && typeof one["query"] === "string"
      ? [{ name: one["name"], query: one["query"] }]
      : [],
  );
}
