/** Reads a database's `schema`: its tables, their fields and index columns. behaviour 2.4, B.7. Pure. */
import { isObject, unknownNames } from "platform";
import {
  columnKindOf,
  composed,
  fieldTypes,
  isIndexColumn,
  kindOf,
  ownFields,
  planFields,
  planIndexes,
  type Field,
  type FieldType,
  type IndexColumn,
  type IndexPlan,
} from "./columns.ts";

/** A table: how its records are validated, indexed and searched. */
export interface Table {
  /** "" is the null table. Without `tables` it is the only one; with `tables` it has no rules. */
  readonly name: string;
  readonly fields: ReadonlyMap<string, Field>;
  readonly indexes: IndexPlan;
  /** `indexes` as the argument of `record_index`. */
  readonly indexFields: readonly (string | null)[];
  readonly required: readonly string[];
  /** Searches that are to have an index of their own. */
  readonly sorts: readonly DeclaredSort[];
}

/** A filter by equality and an order, each by an index column. */
export interface DeclaredSort {
  readonly filter: IndexColumn;
  readonly order: IndexColumn;
}

export interface Schema {
  readonly multiTable: boolean;
  /** By name; the null table is always there. */
  readonly tables: ReadonlyMap<string, Table>;
}

/** Limits that keep a schema cheap to cache and to check. */
export const schemaLimits = { tables: 100, fields: 200, nameLength: 100, bytes: 200_000, sorts: 4 } as const;

export const noTable: Table = makeTable("", new Map(), new Map(), []);

/** A schema, or the mistakes in it, each beginning with its place. */
export function parseSchema(value: unknown): { schema: Schema } | { mistakes: string[] } {
  const mistakes: string[] = [];
  const say = (place: string, message: string) => {
    if (mistakes.length < 50) mistakes.push(`${place} ${message}`);
  };
  if (value === null || value === undefined) return { schema: singleTable(noTable) };
  if (!isObject(value)) return { mistakes: ["must be an object"] };
  // Null is as good as leaving a form out.
  const has = (key: string) => (own(value, key) ?? undefined) !== undefined;
  const hasTables = has("tables");
  const mixed = tableKeys.filter(has);
  if (hasTables && mixed.length > 0)
    return { mistakes: [`${mixed[0]}: has both \`tables\` and \`${mixed[0]}\`: use one of the two forms`] };
  const schema = hasTables ? parseTables(own(value, "tables"), say) : singleTable(parseTable("", value, "", say));
  const sorts = [...schema.tables.values()].flatMap((table) => table.sorts);
  if (different(sorts) > schemaLimits.sorts)
    say("sorts:", `a database may have at most ${schemaLimits.sorts}, in all of its tables together`);
  return mistakes.length > 0 ? { mistakes } : { schema };
}

/** Hints about names in a valid schema that nothing reads, such as a misspelt `indexed_fields`, or that mean something else. */
export function schemaHints(value: unknown): string[] {
  if (!isObject(value)) return [];
  const tables = own(value, "tables");
  const hintsOf = (one: unknown, known: readonly string[], place: string) =>
    isObject(one) ? unknownNames(givenNames(one), known, (name) => `unknown field "${name}" in ${place}`) : [];
  const inTable = (table: unknown, place: string) => {
    const fields = isObject(table) ? own(table, "fields") : undefined;
    const definitions = isObject(fields) ? Object.entries(fields) : [];
    return [
      ...definitions.flatMap(([name, one]) => hintsOf(one, ["type", "required"], `${place}.fields.${name}`)),
      ...ownNameHints(definitions.map(([name]) => name)),
    ];
  };
  if (!isObject(tables)) return inTable(value, "schema");
  const hints = Object.entries(tables).flatMap(([name, table]) => {
    const place = `schema.tables.${name}`;
    return [...hintsOf(table, tableKeys, place), ...inTable(table, place)];
  });
  return [...new Set(hints)];
}

/** Hints about fields that are named like the record's own. */
export function ownNameHints(names: readonly string[]): string[] {
  return names
    .filter((name) => ownFields.has(name))
    .map(
      (name) =>
        `the field "${name}" is stored in data, but filters, sorts, searches and flat answers mean the record's own ${name}`,
    );
}

const givenNames = (one: Readonly<Record<string, unknown>>) => Object.keys(one).filter((key) => own(one, key) !== null);

const tableKeys = ["fields", "indexes", "indexed_fields", "sorts"];
export const schemaKeys = ["tables", ...tableKeys];

/** One index serves all sorts with the same columns. */
const different = (sorts: readonly DeclaredSort[]) => new Set(sorts.map((sort) => `${sort.filter}>${sort.order}`)).size;

type Say = (place: string, message: string) => void;

function parseTables(value: unknown, say: Say): Schema {
  const tables = new Map([["", noTable]]);
  if (!isObject(value)) say("tables:", "must be an object of table names");
  else {
    const entries = Object.entries(value);
    if (entries.length > schemaLimits.tables) say("tables:", `may have at most ${schemaLimits.tables} tables`);
    for (const [name, table] of entries.slice(0, schemaLimits.tables)) {
      const place = `tables.${name}`;
      if (!goodName(name)) say(`${place}:`, nameRule);
      else if (!isObject(table)) say(`${place}:`, "must be an object with `fields`");
      else tables.set(name, parseTable(name, table, `${place}.`, say));
    }
  }
  return { multiTable: true, tables };
}

function parseTable(name: string, given: Record<string, unknown>, at: string, say: Say): Table {
  const value = composed(given);
  const fields = parseFields(own(value, "fields"), `${at}fields`, say);
  const explicit = parseIndexes(own(value, "indexes"), fields, `${at}indexes`, say);
  const listed = parseIndexedFields(own(value, "indexed_fields"), fields, `${at}indexed_fields`, say);
  const indexes = planIndexes(fields, { explicit, listed });
  return makeTable(name, fields, indexes, parseSorts(own(value, "sorts"), { fields, indexes }, `${at}sorts`, say));
}

function makeTable(
  name: string,
  fields: ReadonlyMap<string, Field>,
  indexes: IndexPlan,
  sorts: readonly DeclaredSort[],
): Table {
  const required = [...fields].filter(([, field]) => field.required).map(([key]) => key);
  return { name, fields, indexes, indexFields: planFields(indexes), required, sorts };
}

function singleTable(table: Table): Schema {
  return { multiTable: false, tables: new Map([["", table]]) };
}

function parseFields(value: unknown, at: string, say: Say): Map<string, Field> {
  const fields = new Map<string, Field>();
  if (value === undefined || value === null) return fields;
  if (!isObject(value)) {
    say(`${at}:`, "must be an object of field names");
    return fields;
  }
  const entries = Object.entries(value);
  if (entries.length > schemaLimits.fields) say(`${at}:`, `may have at most ${schemaLimits.fields} fields`);
  for (const [name, definition] of entries.slice(0, schemaLimits.fields)) {
    if (!goodName(name)) say(`${at}.${name.slice(0, 100)}:`, nameRule);
    else {
      const field = parseField(definition, `${at}.${name}`, say);
      if (field) fields.set(name, field);
    }
  }
  return fields;
}

/** `"string"` or `{ "type": "string", "required": true }`. */
function parseField(definition: unknown, at: string, say: Say): Field | undefined {
  const full = isObject(definition) ? definition : { type: definition };
  const type = own(full, "type");
  const required = own(full, "required") ?? false;
  if (typeof required !== "boolean") say(`${at}.required:`, "must be true or false");
  if (!isFieldType(type)) {
    const where = isObject(definition) ? `${at}.type:` : `${at}:`;
    say(where, `must be one of ${fieldTypes.join(", ")}, not ${shown(type)}`);
    return undefined;
  }
  return { type, required: required === true };
}

function parseIndexes(value: unknown, fields: ReadonlyMap<string, Field>, at: string, say: Say) {
  const columns = new Map<string, IndexColumn>();
  if (value === undefined || value === null) return columns;
  if (!isObject(value)) {
    say(`${at}:`, "must be an object of field names and index columns");
    return columns;
  }
  const owners = new Map<IndexColumn, string>();
  for (const [name, column] of Object.entries(value).slice(0, schemaLimits.fields)) {
    const place = `${at}.${name.slice(0, 100)}:`;
    const type = fields.get(name)?.type;
    const owner = isIndexColumn(column) ? owners.get(column) : undefined;
    if (!type) say(place, "is not one of the fields");
    else if (!isIndexColumn(column)) say(place, `must be an index column such as idx_str_1, not ${shown(column)}`);
    else if (kindOf(column) !== columnKindOf(type)) say(place, `${column} cannot hold a field of type ${type}`);
    else if (owner !== undefined) say(place, `${column} is taken by ${owner}`);
    else {
      columns.set(name, column);
      owners.set(column, name);
    }
  }
  return columns;
}

function parseIndexedFields(value: unknown, fields: ReadonlyMap<string, Field>, at: string, say: Say): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    say(`${at}:`, "must be an array of field names");
    return [];
  }
  return value.slice(0, schemaLimits.fields).flatMap((name: unknown, position) => {
    if (typeof name === "string" && fields.has(name)) return [name];
    say(`${at}[${position}]:`, `${shown(name)} is not one of the fields`);
    return [];
  });
}

/** `[["category", "-score"]]`: searches that filter by the first field and order by the second. */
function parseSorts(
  value: unknown,
  { fields, indexes }: Pick<Table, "fields" | "indexes">,
  at: string,
  say: Say,
): DeclaredSort[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    say(`${at}:`, 'must be an array of pairs such as ["category", "-score"]');
    return [];
  }
  if (value.length > maxListedSorts) say(`${at}:`, `may have at most ${maxListedSorts} pairs`);
  const columnOf = (name: unknown, place: string) => {
    const column = typeof name === "string" ? indexes.get(name) : undefined;
    if (typeof name !== "string" || !fields.has(name)) say(place, `${shown(name)} is not one of the fields`);
    else if (!column) say(place, `${shown(name)} has no index column${columnRule}`);
    return column;
  };
  return value.slice(0, maxListedSorts).flatMap((pair: unknown, position) => {
    const place = `${at}[${position}]`;
    if (!Array.isArray(pair) || pair.length !== 2) {
      say(`${place}:`, 'must be a pair: a field to filter by and one to sort by, such as ["category", "-score"]');
      return [];
    }
    const [by, sort]: unknown[] = pair;
    const filter = columnOf(by, `${place}[0]:`);
    const order = columnOf(typeof sort === "string" ? sort.replace(/^-/, "") : sort, `${place}[1]:`);
    if (filter && filter === order) say(`${place}[1]:`, "must be another field than the one of the filter");
    return filter && order && filter !== order ? [{ filter, order }] : [];
  });
}

const columnRule = ": `indexed_fields` gives one to 3 strings, 2 numbers and 2 dates or times";

/** Both directions of an order have one index, so a list may be longer than there are indexes. */
const maxListedSorts = 20;

const nameRule = `a name must have 1 to ${schemaLimits.nameLength} characters, none of them a control character`;

function goodName(name: string): boolean {
  return name.length > 0 && name.length <= schemaLimits.nameLength && !/\p{Cc}/u.test(name);
}

function isFieldType(value: unknown): value is FieldType {
  return fieldTypes.some((type) => type === value);
}

/** An own property: a field may be called `constructor`. */
function own(value: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 60);
}

/** Whether a value counts as empty: blanks do not fill a required field. */
export function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === "string" && value.trim() === "");
}
