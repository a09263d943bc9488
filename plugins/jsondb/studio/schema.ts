/** A database's schema as the Studio shows and changes it. The server has the last word on what is right. Pure. */
import { isMap, ownOf, parseJson } from "studio/exact";
import { fieldTypes, isIndexColumn, planIndexes, type FieldType, type IndexColumn } from "../databases/columns.ts";

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

/** The table that is shown; undefined is all of them mixed. */
export function chosenTable({ multiTable, tables }: SchemaDraft, wanted: string | null): TableDraft | undefined {
  if (!multiTable) return tables[0];
  if (wanted === "*") return undefined;
  return tables.find(({ name }) => name === wanted) ?? tables[0];
}

/** The table of a record. */
export function tableNamed({ multiTable, tables }: SchemaDraft, name: string | null): TableDraft | undefined {
  return multiTable ? tables.find((table) => table.name === name) : tables[0];
}

const always = new Set(["id", "created_at"]);

/** Whether an order or a filter by this field is served by an index. */
export function isFast(table: TableDraft | undefined, field: string): boolean {
  return always.has(field) || (table !== undefined && indexPlan(table).has(field));
}

/** What a new record has by itself; of the moment itself the server knows better. */
export function defaultsOf(
  table: TableDraft | undefined,
  today: string,
  person: { readonly id: number; readonly name: string },
): Record<string, unknown> {
  const variables: Readonly<Record<string, string | number>> = {
    "{today}": today,
    "{user_id}": person.id,
    "{user_name}": person.name,
  };
  const given = (table?.fields ?? []).flatMap(({ name, type, more }) => {
    const said = more?.["default"];
    const isVariable = typeof said === "string" && said.includes("{");
    const known = isVariable ? variables[said] : undefined;
    const value = isVariable ? (type === "string" ? known?.toString() : known) : said;
    return value === undefined || value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given);
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

const sampleFormats = {
  email: "ann@example.com",
  url: "https://example.com",
  phone: "+49 30 123456",
  color: "#336699",
  time_zone: "Europe/Berlin",
  percent: 0.25,
  rating: 4,
};

/**
 * The body of a request that stores a record: a value for each of the first fields, and for each required one. A database
 * without fields takes any.
 */
export function exampleRecord(table: TableDraft | undefined) {
  const fields = (table?.fields ?? []).filter(({ required }, at) => required || at < 5);
  const given = fields.flatMap((field) => {
    const value = sampleOf(field);
    return value === undefined ? [] : [[field.name, value] as const];
  });
  const data: Record<string, unknown> = fields.length > 0 ? Object.fromEntries(given) : { name: "Ann" };
  return table && table.name !== "" ? { table_name: table.name, data } : { data };
}

/** Undefined where only a record, a file or a person that is there would do. */
function sampleOf({ name, type, more = {} }: FieldDraft): unknown {
  const { choices, format, min } = more;
  if (more["link"] || more["rollup"] || format === "file" || format === "user") return undefined;
  const [first]: unknown[] = Array.isArray(choices) ? choices : [];
  if (first !== undefined) {
    const value = isMap(first) ? first["value"] : first;
    return type === "list" ? [value] : value;
  }
  const formatted = ownOf(sampleFormats, String(format));
  if (formatted !== undefined) return formatted;
  if (type === "string" && /mail/i.test(name)) return sampleFormats.email;
  const isAbove = (type === "number" || type === "integer") && typeof min === "number" && min > Number(samples[type]);
  return isAbove ? min : samples[type];
}

/**
 * The server's words about a field at a place (`fields.age`, `tables.orders.fields.no`), by the option that they are about
 * (`choices[0].label`, "" for its name), and all others.
 */
export function faultsAt(
  messages: readonly string[],
  place: string,
): { readonly at: Readonly<Record<string, string>>; readonly others: readonly string[] } {
  const at: [string, string][] = [];
  const others: string[] = [];
  for (const message of messages) {
    const inside = message.startsWith(place) ? /^(?:\.([^:]*))?: (.*)$/s.exec(message.slice(place.length)) : null;
    if (inside) at.push([inside[1] ?? "", inside[2] ?? ""]);
    else others.push(message);
  }
  return { at: Object.fromEntries(at), others };
}
