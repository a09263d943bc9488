/** Which field goes into which index column. behaviour 2.4. Pure. */

export const fieldTypes = [
  "string",
  "text",
  "integer",
  "number",
  "boolean",
  "datetime",
  "date",
  "time",
  "list",
] as const;
export type FieldType = (typeof fieldTypes)[number];

/**
 * The record's own fields. Filters, orders, groups and flat answers mean these, whatever a schema or the data has by the
 * same name.
 */
export const ownFields: ReadonlySet<string> = new Set(["id", "created_at", "updated_at"]);

/** In the order in which `record_index` of the migration takes their fields. */
export const indexColumns = [
  "idx_str_1",
  "idx_str_2",
  "idx_str_3",
  "idx_int_1",
  "idx_int_2",
  "idx_time_1",
  "idx_time_2",
] as const;
export type IndexColumn = (typeof indexColumns)[number];

export type ColumnKind = "str" | "int" | "time";

/** Field name to its column. */
export type IndexPlan = ReadonlyMap<string, IndexColumn>;

type Types = ReadonlyMap<string, { readonly type: FieldType }>;

export interface IndexWishes {
  /** Explicit: field to column (the older format). */
  readonly explicit: ReadonlyMap<string, IndexColumn>;
  /** Fields to be given a free column of their kind, in this order; what does not fit is not indexed. */
  readonly listed: readonly string[];
}

export function planIndexes(fields: Types, { explicit, listed }: IndexWishes): IndexPlan {
  const plan = new Map(explicit);
  const taken = new Set(explicit.values());
  for (const name of listed) {
    const kind = columnKindOf(fields.get(name)?.type);
    if (!kind || plan.has(name)) continue;
    const column = indexColumns.find((candidate) => kindOf(candidate) === kind && !taken.has(candidate));
    if (!column) continue;
    plan.set(name, column);
    taken.add(column);
  }
  return plan;
}

/** The kind of column that holds values of this type; none for booleans and lists, which no column can hold. */
export function columnKindOf(type: FieldType | undefined): ColumnKind | undefined {
  switch (type) {
    case "string":
    case "text":
      return "str";
    case "integer":
    case "number":
      return "int";
    case "date":
    case "time":
    case "datetime":
      return "time";
    default:
      return undefined;
  }
}

export function kindOf(column: IndexColumn): ColumnKind {
  if (column.startsWith("idx_str")) return "str";
  return column.startsWith("idx_int") ? "int" : "time";
}

export function isIndexColumn(value: unknown): value is IndexColumn {
  return indexColumns.some((column) => column === value);
}

/** The plan as the argument of `record_index`: the field of each column, or null. */
export function planFields(plan: IndexPlan): (string | null)[] {
  const byColumn = new Map([...plan].map(([name, column]) => [column, name]));
  return indexColumns.map((column) => byColumn.get(column) ?? null);
}

/** A value as it is stored: with composed (NFC) strings and names; the same one where nothing changes. */
export function composed<T>(value: T): T;
export function composed(value: unknown): unknown {
  if (typeof value === "string") return value.normalize("NFC");
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => composed(item));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  if (!isRecord(value)) return value;
  let changed: Map<string, unknown> | undefined;
  for (const name in value) {
    const one = composed(value[name]);
    if (one !== value[name] || name !== name.normalize("NFC")) (changed ??= new Map()).set(name, one);
  }
  if (!changed) return value;
  const made = Object.entries(value).map(
    ([name, one]) => [name.normalize("NFC"), changed.has(name) ? changed.get(name) : one] as const,
  );
  // It makes a name like `__proto__` an own property.
  return Object.fromEntries(made);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
