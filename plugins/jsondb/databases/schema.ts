/** Reads a database's `schema`: its tables, their fields and index columns. behaviour 2.4, B.7. Pure. */
import { isObject, unknownNames } from "platform";
import { columnKindOf, composed, isIndexColumn, kindOf, ownFields, planFields, planIndexes } from "./columns.ts";
import type { IndexColumn, IndexPlan } from "./columns.ts";
import { choiceKeys, definitionKeys, isName, nameLength, nameRule, own, parseField, shown } from "./options.ts";
import type { Say } from "./options.ts";
import type { Field } from "./kinds.ts";

/** A table: how its records are validated, indexed and searched. */
export interface Table {
  /** "" is the null table. Without `tables` it is the only one; with `tables` it has no rules. */
  readonly name: string;
  readonly fields: ReadonlyMap<string, Field>;
  readonly indexes: IndexPlan;
  /** `indexes` as the argument of `record_index`. */
  readonly indexFields: readonly (string | null)[];
  readonly required: readonly string[];
  /** The fields of which no two records have the same value. */
  readonly unique: readonly string[];
  /** The fields that have a value by default. */
  readonly defaults: readonly (readonly [name: string, value: unknown])[];
  /** The fields that are worked out when read, and never stored. */
  readonly computed: readonly string[];
  /** The field that people know a record by: the first string if none is named. */
  readonly titleField: string | undefined;
  /** Every change of its records is kept. */
  readonly history: boolean;
  /** How long its deleted records are kept; 0 = not at all. */
  readonly trashDays: number;
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
export const schemaLimits = { tables: 100, fields: 200, nameLength, bytes: 200_000, sorts: 4, unique: 4 } as const;

const noKeeping: Keeping = { history: false, trashDays: 30 };

export const noTable: Table = makeTable("", new Map(), new Map(), []);

/**
 * A schema, or the mistakes in it, each beginning with its place. `isStored`: options that are wrong have no effect, because
 * older versions did not read them.
 */
export function parseSchema(value: unknown, isStored = false): { schema: Schema } | { mistakes: string[] } {
  const mistakes: string[] = [];
  const say: Say = (place, message, isOption = false) => {
    if (mistakes.length < 50 && !(isOption && isStored)) mistakes.push(`${place} ${message}`);
  };
  if (value === null || value === undefined) return { schema: singleTable(noTable) };
  if (!isObject(value)) return { mistakes: ["must be an object"] };
  // Null is as good as leaving a form out.
  const has = (key: string) => (own(value, key) ?? undefined) !== undefined;
  const hasTables = has("tables");
  // What is kept of records may stand beside `tables`, for all of them.
  const mixed = tableKeys.filter((key) => has(key) && ![...keepingKeys, "title_field"].includes(key));
  if (hasTables && has("title_field")) say("title_field:", "belongs into one of the tables", true);
  if (hasTables && mixed.length > 0)
    return { mistakes: [`${mixed[0]}: has both \`tables\` and \`${mixed[0]}\`: use one of the two forms`] };
  const schema = hasTables
    ? parseTables(own(value, "tables"), parseKeeping(value, "", say, noKeeping), say)
    : singleTable(parseTable("", value, "", say, noKeeping));
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
      ...definitions.flatMap(([name, one]) => hintsOf(one, definitionKeys, `${place}.fields.${name}`)),
      ...definitions.flatMap(([name, one]) => {
        const choices = isObject(one) ? own(one, "choices") : undefined;
        const all: unknown[] = Array.isArray(choices) ? choices : [];
        return all
          .flatMap((choice, at) => hintsOf(choice, choiceKeys, `${place}.fields.${name}.choices[${at}]`))
          .slice(0, 5);
      }),
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

const keepingKeys = ["history", "trash_days"];
const tableKeys = ["fields", "indexes", "indexed_fields", "sorts", "title_field", ...keepingKeys];
export const schemaKeys = ["tables", ...tableKeys];

/** One index serves all sorts with the same columns. */
const different = (sorts: readonly DeclaredSort[]) => new Set(sorts.map((sort) => `${sort.filter}>${sort.order}`)).size;

/** `keeping` is what stands beside the tables. */
function parseTables(value: unknown, keeping: Keeping, say: Say): Schema {
  const tables = new Map([["", { ...noTable, ...keeping }]]);
  if (!isObject(value)) say("tables:", "must be an object of table names");
  else {
    const entries = Object.entries(value);
    if (entries.length > schemaLimits.tables) say("tables:", `may have at most ${schemaLimits.tables} tables`);
    for (const [name, table] of entries.slice(0, schemaLimits.tables)) {
      const place = `tables.${name}`;
      if (!isName(name)) say(`${place}:`, nameRule);
      else if (!isObject(table)) say(`${place}:`, "must be an object with `fields`");
      else tables.set(name, parseTable(name, table, `${place}.`, say, keeping));
    }
  }
  return { multiTable: true, tables };
}

function parseTable(name: string, given: Record<string, unknown>, at: string, say: Say, keeping: Keeping): Table {
  const value = composed(given);
  const fields = parseFields(own(value, "fields"), `${at}fields`, say);
  const explicit = parseIndexes(own(value, "indexes"), fields, `${at}indexes`, say);
  const listed = parseIndexedFields(own(value, "indexed_fields"), fields, `${at}indexed_fields`, say);
  const indexes = planIndexes(fields, { explicit, listed });
  const table = makeTable(
    name,
    fields,
    indexes,
    parseSorts(own(value, "sorts"), { fields, indexes }, `${at}sorts`, say),
  );
  if (table.unique.length > schemaLimits.unique)
    say(
      `${at}fields.${table.unique.at(-1)}.unique:`,
      `a table may have at most ${schemaLimits.unique} unique fields`,
      true,
    );
  const title = own(value, "title_field") ?? undefined;
  const isKnown = typeof title === "string" && fields.has(title);
  if (title !== undefined && !isKnown) say(`${at}title_field:`, `${shown(title)} is not one of the fields`, true);
  return { ...table, ...(isKnown && { titleField: title }), ...parseKeeping(value, at, say, keeping) };
}

type Keeping = Pick<Table, "history" | "trashDays">;

function parseKeeping(value: Record<string, unknown>, at: string, say: Say, otherwise: Keeping): Keeping {
  const history = own(value, "history") ?? otherwise.history;
  const trashDays = own(value, "trash_days") ?? otherwise.trashDays;
  const isLength =
    typeof trashDays === "number" && Number.isInteger(trashDays) && trashDays >= 0 && trashDays <= mostTrashDays;
  if (typeof history !== "boolean") say(`${at}history:`, "must be true or false", true);
  if (!isLength) say(`${at}trash_days:`, `must be a number of days from 0 to ${mostTrashDays}`, true);
  return { history: history === true, trashDays: isLength ? trashDays : otherwise.trashDays };
}

const mostTrashDays = 3650;

function makeTable(
  name: string,
  fields: ReadonlyMap<string, Field>,
  indexes: IndexPlan,
  sorts: readonly DeclaredSort[],
): Table {
  const namesOf = (is: (field: Field) => boolean) => [...fields].flatMap(([key, field]) => (is(field) ? [key] : []));
  return {
    name,
    fields,
    indexes,
    indexFields: planFields(indexes),
    required: namesOf((field) => field.required),
    unique: namesOf((field) => field.unique === true),
    defaults: [...fields].flatMap(([key, field]) =>
      field.default === undefined ? [] : [[key, field.default] as const],
    ),
    computed: namesOf((field) => field.rollup !== undefined),
    titleField: namesOf((field) => field.type === "string")[0],
    ...noKeeping,
    sorts,
  };
}

/** The JSON of a schema as if it did not have these fields. */
export function withoutFields(schema: unknown, hidden: ReadonlySet<string>): unknown {
  if (!isObject(schema)) return schema;
  const isShown = (name: unknown) => !hidden.has(String(name));
  const keys = (value: unknown) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => isShown(name))) : value;
  const names = (value: unknown) => (Array.isArray(value) ? value.filter(isShown) : value);
  const sorts = (value: unknown) =>
    Array.isArray(value)
      ? value.filter(
          (pair: unknown) => Array.isArray(pair) && pair.every((name) => isShown(String(name).replace(/^-/, ""))),
        )
      : value;
  const table = (value: unknown) =>
    isObject(value)
      ? {
          ...value,
          ...("fields" in value && { fields: keys(value["fields"]) }),
          ...("indexes" in value && { indexes: keys(value["indexes"]) }),
          ...("indexed_fields" in value && { indexed_fields: names(value["indexed_fields"]) }),
          ...("sorts" in value && { sorts: sorts(value["sorts"]) }),
          ...("title_field" in value && !isShown(value["title_field"]) && { title_field: null }),
        }
      : value;
  const { tables } = schema;
  if (!isObject(tables)) return table(schema);
  return { ...schema, tables: Object.fromEntries(Object.entries(tables).map(([name, one]) => [name, table(one)])) };
}

/** As if it did not have these fields. The columns of the others stay, so that records are found by them. */
export function visibleSchema(schema: Schema, hidden: ReadonlySet<string>): Schema {
  if (hidden.size === 0) return schema;
  const isShown = (name: string) => !hidden.has(name);
  const without = <T>(all: ReadonlyMap<string, T>) => new Map([...all].filter(([name]) => isShown(name)));
  const visible = (table: Table): Table => ({
    ...table,
    fields: without(table.fields),
    indexes: without(table.indexes),
    required: table.required.filter(isShown),
  });
  return { ...schema, tables: new Map([...schema.tables].map(([name, table]) => [name, visible(table)])) };
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
    if (!isName(name)) say(`${at}.${name.slice(0, 100)}:`, nameRule);
    else {
      const field = parseField(definition, `${at}.${name}`, say);
      if (field) fields.set(name, field);
    }
  }
  return fields;
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

/** Whether a value counts as empty: blanks do not fill a required field. */
export function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === "string" && value.trim() === "");
}
