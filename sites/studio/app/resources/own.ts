/** "Only their own records": a field says who made a record, and the rule of a grant compares by the same thing. Pure. */
import { words } from "./names.ts";
import { isMap, ownOf } from "./values.ts";

type Json = Readonly<Record<string, unknown>>;

/** The field that a table gets, where none says who made a record. */
const newField = "made_by";
const added = { type: "integer", format: "user", label: { en: "Made by", pl: "Autor", de: "Erstellt von" } };

/** The fields of a database, of all its tables, and the one that it may get. */
function fieldsOf(schema: unknown): ReadonlyMap<string, Json> {
  const whole = isMap(schema) ? schema : {};
  const tables = isMap(whole["tables"]) ? Object.values(whole["tables"]) : [whole];
  const fields = tables.flatMap((table) =>
    isMap(table) && isMap(table["fields"]) ? Object.entries(table["fields"]) : [],
  );
  return new Map(fields.map(([name, of]) => [name, isMap(of) ? of : { type: of }]));
}

export function fieldNames(schema: unknown): readonly string[] {
  return [...fieldsOf(schema).keys()];
}

export function fieldLabel(schema: unknown, name: string, language: string): string {
  const { label } = fieldsOf(schema).get(name) ?? added;
  const said = isMap(label) ? (ownOf(label, language) ?? Object.values(label)[0]) : label;
  return typeof said === "string" && said !== "" ? said : words(name);
}

/** The fields that can say who made a record, the likeliest first. */
export function makerFields(schema: unknown): readonly string[] {
  const fields = fieldsOf(schema);
  const rank = (name: string) => {
    const { type, default: made, format }: Json = fields.get(name) ?? added;
    if (/^\{user_/.test(String(made))) return 0;
    const isNamed =
      type === "integer" && /owner|person|user|assigned|author|seller|osoba|właściciel|besitzer/i.test(name);
    return format === "user" || isNamed ? 1 : name === newField ? 2 : 3;
  };
  const isPlain = (of: Json) =>
    ["link", "choices", "rollup", "unique"].every((option) => !of[option]) &&
    (!of["format"] || of["format"] === "user");
  const names = [...fields].flatMap(([name, of]) =>
    (of["type"] === "string" || of["type"] === "integer") && isPlain(of) ? [name] : [],
  );
  return [...new Set([...names, ...(fields.has(newField) ? [] : [newField])])].toSorted((a, b) => rank(a) - rank(b));
}

/** The schema by which a new record says in this field who makes it, and the value that a rule compares it with. */
export function ownedBy(schema: unknown, name: string): { readonly schema: Json; readonly value: string } {
  const before = fieldsOf(schema).get(name);
  const { type, default: made }: Json = before ?? added;
  const isNumber = type === "integer" || made === "{user_id}";
  const value = isNumber ? "{user_id}" : "{user_login}";
  const inTable = (table: unknown): Json => {
    const whole = isMap(table) ? table : {};
    const fields = isMap(whole["fields"]) ? whole["fields"] : {};
    const of = ownOf(fields, name) ?? (before ? undefined : added);
    if (of === undefined) return whole;
    return { ...whole, fields: { ...fields, [name]: { ...(isMap(of) ? of : { type: of }), default: value } } };
  };
  const tables = isMap(schema) ? schema["tables"] : undefined;
  if (!isMap(schema) || !isMap(tables)) return { value, schema: inTable(schema) };
  const all = Object.entries(tables).map(([table, of]) => [table, inTable(of)] as const);
  return { value, schema: { ...schema, tables: Object.fromEntries(all) } };
}
