/** Groups of an aggregate as the bars of a chart. Pure. */
import { columnKindOf } from "../../databases/columns.ts";
import { plainText } from "../cells.ts";
import { inText, type Condition } from "../conditions.ts";
import { isMap } from "studio/exact";
import { fieldsFor, kindOf } from "../look/kinds.ts";
import type { FieldDraft } from "../schema.ts";

export const units = ["day", "month", "year"] as const;
export const measures = ["count", "sum", "avg", "min", "max"] as const;
export type Measure = (typeof measures)[number];

export interface Asked {
  /** The field to group by, and for a time the unit. */
  readonly by: string;
  readonly unit: (typeof units)[number] | undefined;
  readonly measure: Measure;
  /** The field that is measured; none for the count. */
  readonly of: string | undefined;
}

export function isTime(field: string, fields: readonly FieldDraft[]): boolean {
  const type = fields.find(({ name }) => name === field)?.type;
  return field === "created_at" || field === "updated_at" || type === "date" || type === "datetime";
}

export function numbersOf(fields: readonly FieldDraft[]): FieldDraft[] {
  return fields.filter((field) => columnKindOf(field.type) === "int" && kindOf(field) !== "rollup");
}

/** Reads the chart of an address; a missing or impossible choice becomes the first sensible one. */
export function askedOf(search: URLSearchParams, fields: readonly FieldDraft[]): Asked {
  const by = search.get("by") || (fieldsFor("chart", fields)[0]?.name ?? "created_at");
  const unit = isTime(by, fields) ? (units.find((one) => one === search.get("unit")) ?? "month") : undefined;
  const numbers = numbersOf(fields);
  const wanted = measures.find((one) => one === search.get("measure")) ?? "count";
  const of = numbers.find(({ name }) => name === search.get("of")) ?? numbers[0];
  return wanted === "count" || !of
    ? { by, unit, measure: "count", of: undefined }
    : { by, unit, measure: wanted, of: of.name };
}

/** As many groups as the server gives, and as are drawn where they have no order of their own. */
export const mostGroups = 1000;
const mostBars = 20;

/** The parameters of the aggregate, beside those of the filters. */
export function aggregateQuery({ by, unit, measure, of }: Asked, filters: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams(filters);
  query.set("group_by", groupKey({ by, unit }));
  if (measure !== "count" && of !== undefined) query.set(measure, of);
  query.set("sort", unit ? "-group" : "-count");
  query.set("limit", String(mostGroups));
  return query;
}

/** Times in their order, of others the largest. */
export function drawnOf(bars: readonly Bar[], { unit }: Asked): Bar[] {
  const size = ({ value }: Bar) => value ?? -Number.MAX_VALUE;
  return unit ? bars.toReversed() : bars.toSorted((a, b) => size(b) - size(a)).slice(0, mostBars);
}

function groupKey({ by, unit }: Pick<Asked, "by" | "unit">): string {
  return unit ? `${by}:${unit}` : by;
}

export interface Bar {
  readonly label: string;
  /** Null where a group has nothing to measure. */
  readonly value: number | null;
  /** As the server writes it: a long sum is a text. */
  readonly shown: string;
  readonly count: number;
}

export function barsOf(json: unknown, asked: Asked): Bar[] {
  const { measure, of } = asked;
  return (Array.isArray(json) ? json : []).flatMap((group) => {
    if (!isMap(group) || !isMap(group["group"])) return [];
    const count = Number(group["count"]);
    const values = group[measure];
    const raw = measure === "count" ? count : isMap(values) && of !== undefined ? values[of] : null;
    const value = raw === null || raw === undefined ? null : Number(raw);
    const label = plainText(group["group"][groupKey(asked)]);
    return [{ label, value: value !== null && Number.isFinite(value) ? value : null, shown: plainText(raw), count }];
  });
}

export interface Extent {
  readonly start: number;
  readonly size: number;
}

/** Where each bar is between 0 and 100; zero is always on the chart. */
export function extents(bars: readonly Bar[]): Extent[] {
  const values = bars.map(({ value }) => value ?? 0);
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
  const whole = most - least || 1;
  return values.map((value) => ({
    start: ((Math.min(0, value) - least) / whole) * 100,
    size: (Math.abs(value) / whole) * 100,
  }));
}

/** The conditions that find the records of a bar. */
export function conditionsOfBar({ by, unit }: Asked, label: string): Condition[] {
  if (label === "") return [{ field: by, op: "empty", value: "" }];
  // Only in a list a value is taken as it is, without wildcards.
  if (!unit || unit === "day")
    return [
      /[*%]/.test(label) ? { field: by, op: "in", value: inText([label]) } : { field: by, op: "eq", value: label },
    ];
  const [year = 0, month = 12] = label.split("-").map(Number);
  const last = new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10);
  return [
    { field: by, op: "gte", value: unit === "year" ? `${label}-01-01` : `${label}-01` },
    { field: by, op: "lte", value: last },
  ];
}
