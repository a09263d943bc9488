/** A database's schema as the Studio shows and changes it. The server has the last word on what is right. Pure. */
import { isMap, parseJson } from "studio/exact";
import {
  fieldTypes,
  indexColumns,
  isIndexColumn,
  kindOf,
  planIndexes,
  type ColumnKind,
  type FieldType,
  type IndexColumn,
} from "../databases/columns.ts";

export { fieldTypes, type FieldType } from "../databases/columns.ts";

export interface FieldDraft {
  readonly name: string;
  readonly type: FieldType;
  readonly required: boolean;
  /** What else its definition says: nothing here reads it, and nothing may lose it. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** The field of a filter, and that of an order, from the greatest where a minus stands before it. */
export type SortDraft = readonly [filter: string, order: string];

export interface TableDraft {
  /** "" is the only table of a database without tables. */
  readonly name: string;
  readonly fields: readonly FieldDraft[];
  /** In the order in which columns are given to them. */
  readonly indexed: readonly string[];
  /** The older form: a field and the column that it keeps. */
  readonly columns: Readonly<Record<string, string>>;
  /** Filters and orders that are to have an index of their own. */
  readonly sorts: readonly SortDraft[];
  readonly more?: Readonly<Record<string, unknown>>;
}

export interface SchemaDraft {
  readonly multiTable: boolean;
  readonly tables: readonly TableDraft[];
  /** What stands beside several tables. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** A schema that stands in an address, as JSON. */
export function givenSchema(json: string | null): unknown {
  try {
    return json === null ? undefined : parseJson(json);
  } catch {
    return undefined;
  }
}

/** Reads what the server keeps; it was checked there. */
export function draftOf(schema: unknown): SchemaDraft {
  const whole = isMap(schema) ? schema : {};
  const tables = whole["tables"];
  if (!isMap(tables)) return { multiTable: false, tables: [tableOf("", whole)] };
  const all = Object.entries(tables).map(([name, table]) => tableOf(name, table));
  return { multiTable: true, tables: all, ...moreOf(whole, ["tables"]) };
}

function tableOf(name: string, value: unknown): TableDraft {
  const table = isMap(value) ? value : {};
  const given = isMap(table["fields"]) ? table["fields"] : {};
  const fields = Object.entries(given).map(([field, definition]) => fieldOf(field, definition));
  const listed = Array.isArray(table["indexed_fields"]) ? table["indexed_fields"].map(String) : [];
  const explicit = isMap(table["indexes"]) ? table["indexes"] : {};
  const columns = Object.fromEntries(Object.entries(explicit).map(([field, column]) => [field, String(column)]));
  const indexed = [...new Set([...Object.keys(columns), ...listed])];
  const sorts = Array.isArray(table["sorts"]) ? table["sorts"].flatMap(sortOf) : [];
  return { name, fields, indexed, columns, sorts, ...moreOf(table, ["fields", "indexes", "indexed_fields", "sorts"]) };
}

function sortOf(value: unknown): SortDraft[] {
  const [filter, order]: unknown[] = Array.isArray(value) ? value : [];
  return typeof filter === "string" && typeof order === "string" ? [[filter, order]] : [];
}

/** The field of an order. */
export function orderField([, order]: SortDraft): string {
  return order.replace(/^-/, "");
}

function fieldOf(name: string, definition: unknown): FieldDraft {
  const full = isMap(definition) ? definition : { type: definition };
  const type = fieldTypes.find((one) => one === full["type"]) ?? "string";
  return { name, type, required: full["required"] === true, ...moreOf(full, ["type", "required"]) };
}

function moreOf(value: Readonly<Record<string, unknown>>, known: readonly string[]): Pick<FieldDraft, "more"> {
  const more = Object.entries(value).filter(([name]) => !known.includes(name));
  return more.length === 0 ? {} : { more: Object.fromEntries(more) };
}

/** The JSON that is sent. */
export function schemaOf({ multiTable, tables, more }: SchemaDraft): Record<string, unknown> {
  if (!multiTable) return tables[0] ? jsonOf(tables[0]) : {};
  return { tables: Object.fromEntries(tables.map((table) => [table.name, jsonOf(table)])), ...more };
}

function jsonOf({ fields, indexed, columns, sorts, more }: TableDraft): Record<string, unknown> {
  const listed = indexed.filter((name) => !Object.hasOwn(columns, name));
  const kept = Object.fromEntries(Object.entries(columns).filter(([name]) => indexed.includes(name)));
  return {
    fields: Object.fromEntries(fields.map((field) => [field.name, definitionOf(field)])),
    ...(Object.keys(kept).length > 0 && { indexes: kept }),
    indexed_fields: listed,
    ...(sorts.length > 0 && { sorts }),
    ...more,
  };
}

function definitionOf({ type, required, more }: FieldDraft): unknown {
  return required || more ? { type, ...(required && { required }), ...more } : type;
}

/** Which field has which index column, by the server's own rule. */
export function indexPlan({ fields, indexed, columns }: TableDraft): ReadonlyMap<string, IndexColumn> {
  const byName = new Map(fields.map(({ name, type, required }) => [name, { type, required }]));
  const explicit = new Map<string, IndexColumn>();
  for (const [name, column] of Object.entries(columns))
    if (isIndexColumn(column) && indexed.includes(name)) explicit.set(name, column);
  return planIndexes(byName, { explicit, listed: indexed.filter((name) => byName.has(name)) });
}

export interface Slot {
  readonly column: IndexColumn;
  readonly kind: ColumnKind;
  readonly field: string | undefined;
}

/** The seven columns and what is in them. */
export function indexSlots(table: TableDraft): Slot[] {
  const byColumn = new Map([...indexPlan(table)].map(([name, column]) => [column, name]));
  return indexColumns.map((column) => ({ column, kind: kindOf(column), field: byColumn.get(column) }));
}

/** Whether records must be indexed again: another field is in a column, or its type is another one. */
export function movesIndexes(before: SchemaDraft, after: SchemaDraft): boolean {
  const plans = ({ tables }: SchemaDraft) =>
    JSON.stringify(
      tables
        .map((table) => [
          table.name,
          [...indexPlan(table)]
            .map(([name, column]) => [name, column, table.fields.find((field) => field.name === name)?.type])
            .toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
        ])
        .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
    );
  return plans(before) !== plans(after);
}

/** The table that is shown; undefined is all of them mixed. */
export function chosenTable({ multiTable, tables }: SchemaDraft, wanted: string | null): TableDraft | undefined {
  if (!multiTable) return tables[0];
  if (wanted === "*") return undefined;
  return tables.find(({ name }) => name === wanted) ?? tables[0];
}

const always = new Set(["id", "created_at"]);

/** Whether an order or a filter by this field is served by an index. */
export function isFast(table: TableDraft | undefined, field: string): boolean {
  return always.has(field) || (table !== undefined && indexPlan(table).has(field));
}

const samples: Readonly<Record<FieldType, unknown>> = {
  string: "Ann",
  text: "A longer text",
  integer: 34,
  number: 12.5,
  boolean: true,
  datetime: "2026-01-31T10:00:00Z",
  date: "2026-01-31",
  time: "10:00",
  list: ["one", "two"],
};

/**
 * The body of a request that stores a record: a value for each of the first fields, and for each required one. A database
 * without fields takes any.
 */
export function exampleRecord(table: TableDraft | undefined) {
  const fields = (table?.fields ?? []).filter(({ required }, at) => required || at < 5);
  const given = fields.map(({ name, type }) => [
    name,
    type === "string" && /mail/i.test(name) ? "ann@example.com" : samples[type],
  ]);
  const data: Record<string, unknown> = fields.length > 0 ? Object.fromEntries(given) : { name: "Ann" };
  return table && table.name !== "" ? { table_name: table.name, data } : { data };
}

/** The places of a 422's texts (`fields.age: must be …`, `tables.orders.indexes.no: …`): by table and field, and the rest. */
export function faultsOf(
  messages: readonly string[],
  { multiTable, tables }: SchemaDraft,
): { readonly byField: ReadonlyMap<string, string>; readonly others: readonly string[] } {
  const byField = new Map<string, string>();
  const others: string[] = [];
  for (const message of messages) {
    const found = placesOf(multiTable, tables).find(({ start }) => message.startsWith(start));
    if (found) byField.set(found.key, message.slice(message.indexOf(": ", found.start.length - 1) + 2));
    else others.push(message);
  }
  return { byField, others };
}

export function fieldKey(table: string, field: string): string {
  return JSON.stringify([table, field]);
}

function placesOf(multiTable: boolean, tables: readonly TableDraft[]): { start: string; key: string }[] {
  return tables.flatMap(({ name, fields }) => {
    const at = multiTable ? `tables.${name}.` : "";
    return fields.flatMap((field) =>
      ["fields", "indexes"].flatMap((part) =>
        [":", ".type:", ".required:"].map((end) => ({
          start: `${at}${part}.${field.name}${end}`,
          key: fieldKey(name, field.name),
        })),
      ),
    );
  });
}
