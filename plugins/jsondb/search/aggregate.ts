/** Reads the parameters of an aggregate. Pure. */
import { invalid, pageOf } from "platform";
import { columnKindOf, ownFields, type FieldType } from "../databases/columns.ts";
import type { Database } from "../databases/database.ts";
import { mustBeStored, namesIn, queryLimits, readSearch, type Query } from "./query.ts";
import type { Table } from "../databases/schema.ts";

export const units = ["day", "month", "year"] as const;
export type Unit = (typeof units)[number];

export interface Group {
  /** The name in the request, and the key in the answer. */
  readonly name: string;
  readonly field: string;
  /** The unit that a time is truncated to. */
  readonly unit: Unit | undefined;
  readonly type: FieldType | undefined;
  /** A column of the record itself. */
  readonly isOwn: boolean;
}

export const measureKinds = ["sum", "avg", "min", "max"] as const;
export type MeasureKind = (typeof measureKinds)[number];

export interface Measure {
  readonly kind: MeasureKind;
  readonly field: string;
  readonly type: FieldType | undefined;
  readonly isOwn: boolean;
}

export interface Aggregate {
  /** Which records: its table, filters and phrase. */
  readonly query: Query;
  readonly groups: readonly Group[];
  readonly measures: readonly Measure[];
  readonly order: "count" | "-count" | "group" | "-group";
  readonly limit: number;
  /** Of more records than these only the number is worked out. */
  readonly most: number | undefined;
}

const maxGroups = 3;
const maxMeasures = 20;

/** 422 if a field cannot be grouped or measured so; 400 as in a search. */
export function readAggregate(db: Database, params: URLSearchParams): Aggregate {
  const found = new URLSearchParams(params);
  // In a search these have another meaning.
  for (const name of ["sort", "limit", "offset", "after", "fields", "fields[]", "count"]) found.delete(name);
  const query = readSearch(db, found);
  const groups = namesOf(params, "group_by").map((name) => groupOf(query.table, name));
  if (groups.length > maxGroups) throw invalid({ group_by: [`may name at most ${maxGroups} fields`] });
  const measures = measureKinds.flatMap((kind) =>
    namesOf(params, kind).map((name) => measureOf(query.table, kind, name)),
  );
  if (measures.length > maxMeasures) throw invalid({ base: [`at most ${maxMeasures} values can be asked for`] });
  mustBeStored(
    query.table,
    [...groups, ...measures].map(({ field }) => field),
  );
  const { limit } = pageOf(params, 100, 1000);
  const most = params.get("most");
  if (most !== null && !/^\d{1,9}$/.test(most)) throw invalid({ most: ["must be a whole number"] });
  return {
    query,
    groups,
    measures,
    order: orderOf(params.get("sort")),
    limit,
    most: most === null ? undefined : Number(most),
  };
}

function namesOf(params: URLSearchParams, key: string): string[] {
  return [...new Set(namesIn(params, key, queryLimits.name + 10))];
}

/** `field`, or `field:month` of a time. */
function groupOf(table: Table, name: string): Group {
  const whole = fieldOf(table, name);
  const colon = name.lastIndexOf(":");
  if (colon < 0 || whole.type !== undefined) {
    if (whole.isOwn && name !== "id")
      throw invalid({ group_by: [`\`${name}\` needs a unit: ${name}:day, :month or :year`] });
    return { name, ...whole, unit: undefined };
  }
  const field = fieldOf(table, name.slice(0, colon));
  const unit = units.find((one) => one === name.slice(colon + 1));
  const isTime = field.type === "date" || field.type === "datetime";
  if (!isTime && (field.type === undefined || !unit)) return { name, ...whole, unit: undefined };
  if (!isTime) throw invalid({ group_by: [`\`${field.field}\` is a ${field.type}, which has no ${unit}`] });
  if (!unit) throw invalid({ group_by: [`\`${name}\`: use :day, :month or :year`] });
  return { name, ...field, unit };
}

function measureOf(table: Table, kind: MeasureKind, name: string): Measure {
  const field = fieldOf(table, name);
  const fault = measureFault(kind, name, field.type);
  if (fault !== undefined) throw invalid({ [kind]: [fault] });
  return { kind, ...field };
}

/** Why a field of this type cannot be measured so. */
export function measureFault(kind: MeasureKind, name: string, type: FieldType | undefined): string | undefined {
  const columnKind = columnKindOf(type);
  const isOrdered = kind === "min" || kind === "max";
  if (type === undefined || columnKind === "int" || (isOrdered && columnKind !== undefined)) return undefined;
  return `\`${name}\` is a ${type}: this needs ${isOrdered ? "numbers, texts or times" : "numbers"}`;
}

/** A field outside of the schema has no type. */
function fieldOf(table: Table, field: string): { field: string; type: FieldType | undefined; isOwn: boolean } {
  const isOwn = ownFields.has(field);
  const ownType = field === "id" ? "string" : "datetime";
  return { field, type: isOwn ? ownType : table.fields.get(field)?.type, isOwn };
}

function orderOf(given: string | null): Aggregate["order"] {
  if (!given) return "-count";
  if (given === "count" || given === "-count" || given === "group" || given === "-group") return given;
  throw invalid({ sort: ["must be count, -count, group or -group"] });
}
