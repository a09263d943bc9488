/** Fields that a change of a schema renames, so that their values move along. behaviour B.7.32. Pure. */
import { isObject } from "platform";
import { faultOf } from "./kinds.ts";
import { eachDefinition, within } from "./relinks.ts";
import type { Schema, Table } from "./schema.ts";

export interface Rename {
  readonly table: string;
  readonly from: string;
  readonly to: string;
}

/** A rename that is under way: records of an older plan still have the old name. */
export interface PendingRename extends Rename {
  readonly plan: number;
}

/** What a request gives: old names, in a database with tables as `table.old`, to new ones. */
export type GivenRenames = Readonly<Record<string, unknown>>;

/** 422 for what is no field before, or none after, or would be written over another one. */
export function renamesOf(
  given: GivenRenames,
  before: Schema,
  after: Schema,
  wrong: (message: string) => void,
): readonly Rename[] {
  const found: Rename[] = [];
  for (const [key, to] of Object.entries(given)) {
    const place = key.slice(0, 200);
    const old = placeOf(key, before);
    if (!old) wrong(`${place}: is not a field of the schema as it was`);
    else if (typeof to !== "string") wrong(`${place}: must be the field's new name`);
    else {
      const rename = { ...old, to: newName(to, old.table, after) };
      const mistake = mistakeOf(rename, before, after, found);
      if (mistake === undefined) found.push(rename);
      else wrong(`${place}: ${mistake}`);
    }
  }
  return found;
}

function mistakeOf({ table, from, to }: Rename, before: Schema, after: Schema, others: readonly Rename[]) {
  const [was, is] = [before.tables.get(table)?.fields, after.tables.get(table)?.fields];
  const field = is?.get(to);
  if (!field) return `${to.slice(0, 100)} is not a field of the schema given`;
  if (is?.has(from)) return "is still a field of the schema given";
  if (was?.has(to)) return `${to} was a field already, whose values would be lost`;
  if (field.type !== was?.get(from)?.type) return `${to} must have the same type`;
  return others.some((other) => other.table === table && other.to === to)
    ? `${to} gets another field's values`
    : undefined;
}

/** Names of tables and of fields may have points. */
function placeOf(key: string, { multiTable, tables }: Schema): { table: string; from: string } | undefined {
  const all = multiTable ? [...tables.keys()].filter((name) => name !== "") : [""];
  for (const table of all) {
    const start = multiTable ? `${table}.` : "";
    const from = key.slice(start.length);
    if (key.startsWith(start) && tables.get(table)?.fields.has(from)) return { table, from };
  }
  return undefined;
}

function newName(to: string, table: string, { tables }: Schema): string {
  const fields = tables.get(table)?.fields;
  const inside = to.startsWith(`${table}.`) ? to.slice(table.length + 1) : to;
  return fields?.has(to) ? to : fields?.has(inside) ? inside : to;
}

/** A field that was renamed, or removed (`to` is null): entries of an older schema, or records of an older plan, have it. */
export interface Former {
  readonly table: string;
  readonly from: string;
  readonly to: string | null;
  readonly schema: number;
  readonly plan: number | null;
  /** What the schema said of a field that was removed, so that it can be had back. */
  readonly definition?: unknown;
  /** Its place among the fields. */
  readonly at?: number | undefined;
}

const mostFormer = 2_000;
const mostDefinitions = 50;
const mostDefinitionChars = 20_000;

interface Schemas {
  readonly before: Schema;
  readonly after: Schema;
  readonly renames: readonly Rename[];
  /** `before` as it is stored. */
  readonly stored: unknown;
}

/** `known`, and what a change of the schema renames and removes. */
export function formerFields(
  known: readonly Former[],
  { before, after, renames, stored }: Schemas,
  { schema, plan }: { readonly schema: number; readonly plan: number },
): readonly Former[] {
  const moved = renames.map((rename): Former => ({ ...rename, schema, plan }));
  const removed = [...after.tables].flatMap(([table, { fields }]) =>
    [...(before.tables.get(table)?.fields.keys() ?? [])].flatMap((from, at): Former[] =>
      fields.has(from) || renames.some((one) => one.table === table && one.from === from)
        ? []
        : [{ table, from, to: null, schema, plan: null, definition: saidOf(stored, table, from), at }],
    ),
  );
  if (moved.length + removed.length === 0) return known;
  const all = [...known, ...moved, ...removed].slice(-mostFormer);
  return all.map((one, at) => (at < all.length - mostDefinitions ? { ...one, definition: undefined } : one));
}

function saidOf(schema: unknown, table: string, field: string): unknown {
  const inside = (value: unknown, key: string) =>
    isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  const of = table === "" ? schema : inside(inside(schema, "tables"), table);
  const definition = inside(inside(of, "fields"), field);
  return JSON.stringify(definition ?? null).length > mostDefinitionChars ? undefined : definition;
}

/** Values that records have under a name that is no field's. */
export interface Unknown {
  readonly name: string;
  readonly records: number;
  /** Of JSON. */
  readonly types: readonly string[];
  readonly least: string;
  readonly greatest: string;
  readonly longest: number;
}

/** Fields of a table that were deleted, as a schema may have them again: as they were, else by the values in `found`. */
export function deletedFields(
  former: readonly Former[],
  { name: table, fields }: Pick<Table, "name" | "fields">,
  found: readonly Unknown[],
) {
  const its = new Map(former.filter((one) => one.table === table).map((one) => [one.from, one]));
  const said = (name: string) => (its.get(name)?.to === null ? its.get(name)?.definition : undefined);
  const placed = (name: string) => ({ position: its.get(name)?.at ?? null });
  const empty = [...its.keys()].filter((name) => !fields.has(name) && !found.some((one) => one.name === name));
  return [
    ...found.map(({ name, records, ...values }) => {
      const definition = said(name);
      return {
        name,
        records,
        definition: definition ?? guessed(values),
        guessed: definition === undefined,
        ...placed(name),
      };
    }),
    ...empty.flatMap((name) => {
      const definition = said(name);
      return definition === undefined ? [] : [{ name, records: 0, definition, guessed: false, ...placed(name) }];
    }),
  ];
}

const guesses = [
  { type: "date" },
  { type: "datetime" },
  { type: "time" },
  { type: "string", format: "email" },
  { type: "string", format: "url" },
] as const;
const typeOfJson: Readonly<Record<string, string>> = { number: "number", boolean: "boolean", array: "list" };
const longString = 200;

function guessed({ types, least, greatest, longest }: Omit<Unknown, "name" | "records">): Record<string, unknown> {
  const [only = "", ...others] = types;
  if (others.length > 0 || only !== "string") return { type: (others.length === 0 && typeOfJson[only]) || "text" };
  const fits = (one: (typeof guesses)[number]) =>
    [least, greatest].every((text) => faultOf({ required: false, ...one }, text) === undefined);
  return guesses.find(fits) ?? { type: longest > longString ? "text" : "string" };
}

/** As they are stored. */
export function formerOf(stored: unknown): readonly Former[] {
  return Array.isArray(stored) ? stored.flatMap(oneFormer) : [];
}

function oneFormer(value: unknown): Former[] {
  if (!isObject(value)) return [];
  const { table, from, to, schema, plan, definition, at } = value;
  if (typeof table !== "string" || typeof from !== "string" || typeof schema !== "number") return [];
  const when = { schema, plan: typeof plan === "number" ? plan : null };
  const said = { definition, at: typeof at === "number" ? at : undefined };
  return [{ table, from, to: typeof to === "string" ? to : null, ...when, ...said }];
}

export function pendingRenames(stored: unknown): readonly PendingRename[] {
  return Array.isArray(stored) ? stored.flatMap(pendingOf) : [];
}

function pendingOf(value: unknown): PendingRename[] {
  if (!isObject(value)) return [];
  const { table, from, to, plan } = value;
  const isWhole =
    typeof table === "string" && typeof from === "string" && typeof to === "string" && typeof plan === "number";
  return isWhole ? [{ table, from, to, plan }] : [];
}

/** What these fields are called in records that a rename has not reached yet. */
export function formerNames(renames: readonly Rename[], names: Iterable<string>): string[] {
  const found = new Set<string>();
  const wanted = new Set(names);
  for (const { from, to } of renames.toReversed()) if (wanted.has(to) || found.has(to)) found.add(from);
  return [...found];
}

// What names fields beside the schema: it goes on meaning the same ones.

export type Names = (name: string) => readonly string[];

/** What a name becomes: both, where another table still has a field of the old one. Of `customer.name` the link. */
export function newNames(renames: readonly Rename[], { tables }: Schema, table?: string): Names {
  const own = renames.filter((one) => table === undefined || one.table === table);
  const isStill = (name: string) => table === undefined && [...tables.values()].some(({ fields }) => fields.has(name));
  const of = (name: string): readonly string[] => {
    const found = own.filter(({ from }) => from === name).map(({ to }) => to);
    return found.length === 0 || isStill(name) ? [name, ...found] : found;
  };
  return (name) => {
    const at = name.indexOf(".");
    if (at < 0 || own.some(({ from }) => from === name)) return of(name);
    return of(name.slice(0, at)).map((first) => first + name.slice(at));
  };
}

const namesIn = (values: readonly unknown[], names: Names) =>
  values.flatMap((one) => (typeof one === "string" ? [...names(one)] : []));

const keysOf = (value: unknown, names: Names) =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).flatMap(([name, one]) => names(name).map((now) => [now, one] as const)))
    : value;

/** `namesOf` gives the names of a table's fields; undefined is any table. */
export function renamedMethods(
  methods: Readonly<Record<string, unknown>>,
  { multiTable }: Pick<Schema, "multiTable">,
  namesOf: (table: string | undefined) => Names,
): Readonly<Record<string, unknown>> {
  const method = (options: unknown) => {
    if (!isObject(options)) return options;
    const table = multiTable ? options["table_name"] : "";
    const names = namesOf(typeof table === "string" ? table : undefined);
    const entries = Object.entries(options).map(([option, value]): [string, unknown] => {
      if (["allowed_fields", "required_fields", "expand"].includes(option))
        return [option, Array.isArray(value) ? namesIn(value, names) : value];
      if (["default_values", "auto_fields"].includes(option)) return [option, keysOf(value, names)];
      return [option, option === "scope_by" && typeof value === "string" ? (names(value)[0] ?? value) : value];
    });
    return Object.fromEntries(entries);
  };
  return Object.fromEntries(Object.entries(methods).map(([operation, options]) => [operation, method(options)]));
}

export interface NamingView {
  readonly filters: unknown;
  readonly sort: readonly string[];
  readonly columns: readonly string[];
  readonly groupBy: string | null;
  readonly dateField: string | null;
  readonly coverField: string | null;
  readonly measureField: string | null;
}

export function renamedView(view: NamingView, names: Names): NamingView {
  const one = (name: string) => names(name)[0] ?? name;
  const maybe = (name: string | null) => name && one(name);
  return {
    filters: renamedFilters(view.filters, names),
    sort: view.sort.map((name) => (name.startsWith("-") ? `-${one(name.slice(1))}` : one(name))),
    columns: view.columns.map(one),
    groupBy: maybe(view.groupBy),
    dateField: maybe(view.dateField),
    coverField: maybe(view.coverField),
    measureField: maybe(view.measureField),
  };
}

/** Inside of the groups of `any`, too. */
function renamedFilters(filters: unknown, names: Names): unknown {
  const { any, ...fields } = isObject(filters) ? filters : {};
  if (!Array.isArray(any)) return keysOf(filters, names);
  return { ...Object(keysOf(fields, names)), any: any.map((one) => keysOf(one, names)) };
}

/** The schema of another database whose rollups are of these fields; the same one where none is. */
export function renamedRollups(
  schema: unknown,
  target: { readonly keys: readonly string[]; readonly multiTable: boolean },
  renames: readonly Rename[],
): unknown {
  return eachDefinition(schema, (field) => within(field, "rollup", (rollup) => renamedRollup(rollup, target, renames)));
}

function renamedRollup(
  value: unknown,
  { keys, multiTable }: Parameters<typeof renamedRollups>[1],
  renames: readonly Rename[],
): unknown {
  if (!isObject(value) || typeof value["of"] !== "string") return value;
  const { of, field } = value;
  const [db = ""] = of.split(".", 1);
  if (!keys.includes(db)) return value;
  const link = of.slice(db.length + 1);
  const place = ({ table, from }: Rename) => (multiTable ? `${table}.${from}` : from);
  const linking = renames.find((one) => place(one) === link);
  const isIn = ({ table }: Rename) => !multiTable || link.startsWith(`${table}.`);
  const measured = renames.find((one) => isIn(one) && one.from === field);
  if (!linking && !measured) return value;
  return {
    ...value,
    ...(linking && { of: `${db}.${place({ ...linking, from: linking.to })}` }),
    ...(measured && { field: measured.to }),
  };
}

/** The same things under their fields' new names. */
export function renamed<T extends { readonly table: string; readonly field: string }>(
  all: readonly T[],
  renames: readonly Rename[],
): readonly T[] {
  return all.map((one) => {
    const rename = renames.find(({ table, from }) => table === one.table && from === one.field);
    return rename ? { ...one, field: rename.to } : one;
  });
}
