/** Reads a database's `public_methods` and applies them to a visitor's write. behaviour 2.4, B.7. Pure. */
import { isObject } from "platform";
import { expandLimits } from "../api.ts";
import { isBlank, type Table } from "./schema.ts";

type Data = Record<string, unknown>;

export const operations = ["list", "get", "create", "update", "delete", "search"] as const;
export type Operation = (typeof operations)[number];

export const operationParams: Record<Operation, readonly string[]> = {
  list: ["limit", "offset", "after", "expand"],
  get: ["id", "expand"],
  create: ["data"],
  update: ["id", "data"],
  delete: ["id"],
  search: ["q", "sort", "table_name", "limit", "offset", "expand"],
};

export const variables = ["ip", "cookie_key", "user_id", "user_name"] as const;
export type Variable = (typeof variables)[number];

/** The values of the variables in one request; "" is empty. */
export type VariableValues = Readonly<Record<Variable, string>>;

/** The records that an operation is restricted to. */
export interface Scope {
  readonly field: string;
  /** The `auto_fields` entry: text with one variable or more. */
  readonly value: string;
}

export interface Method {
  readonly allowedFields: ReadonlySet<string> | undefined;
  readonly requiredFields: readonly string[];
  readonly defaultValues: Data;
  readonly autoFields: Data;
  readonly allowedParams: ReadonlySet<string> | undefined;
  readonly scope: Scope | undefined;
  /** The only table that it reads or writes; undefined = as behaviour 2.4 has it. */
  readonly table: string | undefined;
  /** The links that a visitor may follow: `customer.owner`. */
  readonly expand: readonly string[];
  /** It must recognise the browser, so its answers set the cookie. */
  readonly usesCookie: boolean;
}

export interface PublicMethods {
  readonly methods: ReadonlyMap<Operation, Method>;
  /**
   * Fields that say whose a record is, with their `auto_fields` entry: a visitor can never write them. Otherwise an
   * `update` could move a record into another visitor's list, or out of the visitor's own.
   */
  readonly owners: ReadonlyMap<string, unknown>;
}

export const noMethods: PublicMethods = { methods: new Map(), owners: new Map() };

export const publicLimits = { names: 200, bytes: 100_000 } as const;

export function isOperation(value: string): value is Operation {
  return operations.some((operation) => operation === value);
}

/** The methods, or the mistakes in them, each beginning with its place. */
export function parsePublicMethods(value: unknown): { publicMethods: PublicMethods } | { mistakes: string[] } {
  if (value === null || value === undefined) return { publicMethods: noMethods };
  if (!isObject(value)) return { mistakes: ["must be an object of operations"] };
  const mistakes: string[] = [];
  const say = (place: string, message: string) => {
    if (mistakes.length < 50) mistakes.push(`${place}: ${message}`);
  };
  const given = new Map<Operation, Options>();
  for (const [name, options] of Object.entries(value).slice(0, 50)) {
    if (!isOperation(name)) say(name.slice(0, 60), `is not an operation: use ${operations.join(", ")}`);
    else if (options === true) given.set(name, noOptions);
    else if (isObject(options)) given.set(name, parseOptions(options, name, say));
    else if (options !== false && options !== null) say(name, "must be true or an object of options");
  }
  const createFields = given.get("create")?.autoFields ?? {};
  const methods = new Map<Operation, Method>();
  const owners = new Map<string, unknown>();
  for (const [operation, { scopeBy, ...options }] of given) {
    const scope = scopeBy === undefined ? undefined : scopeOf(scopeBy, options.autoFields, createFields);
    if (scopeBy !== undefined && !scope)
      say(`${operation}.scope_by`, `\`${scopeBy}\` needs a variable in auto_fields of ${operation} or of create`);
    if (scope)
      owners.set(scope.field, Object.hasOwn(createFields, scope.field) ? createFields[scope.field] : scope.value);
    methods.set(operation, { ...options, scope, usesCookie: false });
  }
  if (mistakes.length > 0) return { mistakes };
  return { publicMethods: withCookies(methods, owners) };
}

/** Tables that methods fix and the schema does not have, each with its place. */
export function unknownTables({ methods }: PublicMethods, tables: ReadonlyMap<string, unknown>): string[] {
  return [...methods].flatMap(([operation, { table }]) =>
    table === undefined || tables.has(table) ? [] : [`${operation}.table_name: "${table}" is no table of the schema`],
  );
}

/** Paths of `expand` whose first link the schema does not have, each with its place. */
export function unknownLinks({ methods }: PublicMethods, tables: ReadonlyMap<string, Pick<Table, "fields">>): string[] {
  return [...methods].flatMap(([operation, { expand, table }]) => {
    const within = table === undefined ? [...tables.values()] : [tables.get(table)];
    return expand.flatMap((path, at) => {
      const [first = ""] = path.split(".");
      if (within.some((one) => one?.fields.get(first)?.link)) return [];
      return [`${operation}.expand[${at}]: "${first}" is no link of the schema`];
    });
  });
}

/**
 * The variables of a request put into an `auto_fields` entry. One that is exactly `{user_id}` is a number, unless the
 * field is a text; without sign-in it is empty, in a field for numbers null.
 */
export function fillIn(value: unknown, values: VariableValues, type?: string): unknown {
  if (typeof value !== "string") return value;
  const filled = value.replaceAll(variableForm, (whole, name: string) => (isVariable(name) ? values[name] : whole));
  const isNumber = type === "integer" || type === "number";
  if (filled === value || (!isNumber && (type !== undefined || value !== "{user_id}"))) return filled;
  if (/^\d{1,15}$/.test(filled)) return Number(filled);
  return filled === "" && isNumber ? null : filled;
}

/** The value that a scope requires, as text; undefined if one of its variables is empty: then nothing is shown. */
export function scopeValue({ value }: Scope, values: VariableValues): string | undefined {
  const empty = variablesIn(value).some((name) => isVariable(name) && values[name] === "");
  // As it is stored.
  return empty ? undefined : String(fillIn(value, values)).normalize("NFC");
}

/** behaviour B.7: allowed_fields, default_values (create only), auto_fields, then required_fields. */
export function applyWrite(
  operation: "create" | "update",
  { methods, owners }: PublicMethods,
  table: Table,
  given: Data,
  values: VariableValues,
): { data: Data } | { missing: string[] } {
  const method = methods.get(operation);
  if (!method) return { data: {} };
  const { allowedFields, defaultValues, autoFields, requiredFields } = method;
  const taken = Object.entries(given).filter(([name]) => !owners.has(name) && (allowedFields?.has(name) ?? true));
  const fill = (fields: Iterable<[string, unknown]>) =>
    [...fields].map(([name, value]) => [name, fillIn(value, values, table.fields.get(name)?.type)] as const);
  const defaults = operation === "create" ? Object.entries(defaultValues) : [];
  const data: Data = Object.fromEntries([
    ...defaults.filter(([name]) => !owners.has(name)),
    ...taken,
    ...(operation === "create" ? fill(owners) : []),
    ...fill(Object.entries(autoFields)),
  ]);
  // A field sent as null is present, so its default is not used; `required_fields` is what refuses null and blanks.
  const missing = requiredFields.filter((name) => isBlank(Object.hasOwn(data, name) ? data[name] : undefined));
  return missing.length > 0 ? { missing } : { data };
}

/**
 * The fields that an operation's answers show: its `allowed_fields`, or all if it has none. A field that is not
 * shown can be neither sorted nor searched by. The answers of `create` and `update` show what `get` shows, or the
 * first of `list` and `search` that is open.
 */
export function visibleFields({ methods }: PublicMethods, operation: Operation): ReadonlySet<string> | undefined {
  if (operation === "list" || operation === "get" || operation === "search")
    return methods.get(operation)?.allowedFields;
  const reader = methods.get("get") ?? methods.get("list") ?? methods.get("search");
  return reader?.allowedFields;
}

interface Options extends Omit<Method, "scope" | "usesCookie"> {
  readonly scopeBy: string | undefined;
}

const noOptions: Options = {
  allowedFields: undefined,
  requiredFields: [],
  defaultValues: {},
  autoFields: {},
  allowedParams: undefined,
  scopeBy: undefined,
  table: undefined,
  expand: [],
};

const optionNames = [
  "allowed_fields",
  "required_fields",
  "default_values",
  "auto_fields",
  "allowed_params",
  "scope_by",
  "table_name",
  "expand",
] as const;

type Say = (place: string, message: string) => void;

function parseOptions(options: Record<string, unknown>, at: string, say: Say): Options {
  for (const name of Object.keys(options).slice(0, 50)) {
    if (!optionNames.some((known) => known === name))
      say(`${at}.${name.slice(0, 60)}`, `is not an option: use ${optionNames.join(", ")}`);
  }
  const names = (option: string) => parseNames(own(options, option), `${at}.${option}`, say);
  const values = (option: string) => parseValues(own(options, option), `${at}.${option}`, say);
  const allowedFields = names("allowed_fields");
  const allowedParams = names("allowed_params");
  const expand = names("expand") ?? [];
  for (const mistake of mistakesInExpand(expand, at, allowedFields)) say(`${at}.expand${mistake[0]}`, mistake[1]);
  const autoFields = values("auto_fields");
  checkVariables(autoFields, `${at}.auto_fields`, say);
  const scopeBy = own(options, "scope_by") ?? undefined;
  if (scopeBy !== undefined && (typeof scopeBy !== "string" || scopeBy === ""))
    say(`${at}.scope_by`, "must be a field name");
  const table = own(options, "table_name") ?? undefined;
  if (table !== undefined && (typeof table !== "string" || table === ""))
    say(`${at}.table_name`, "must be a table's name");
  return {
    table: typeof table === "string" && table !== "" ? table : undefined,
    allowedFields: allowedFields && new Set(allowedFields),
    requiredFields: names("required_fields") ?? [],
    defaultValues: values("default_values"),
    autoFields,
    allowedParams: allowedParams && new Set(allowedParams),
    expand,
    scopeBy: typeof scopeBy === "string" && scopeBy !== "" ? scopeBy : undefined,
  };
}

/** What a visitor sees of the ends of links, `allowed_fields` must name too, if it is given. */
function mistakesInExpand(
  paths: readonly string[],
  operation: string,
  allowed: readonly string[] | undefined,
): (readonly [place: string, message: string])[] {
  if (paths.length === 0) return [];
  if (!["list", "get", "search"].includes(operation)) return [["", "is for list, get and search"]];
  if (paths.length > expandLimits.paths) return [["", `may have at most ${expandLimits.paths} paths`]];
  return paths.flatMap((path, at) => {
    const names = path.split(".");
    const [first = ""] = names;
    const shown = JSON.stringify(path.slice(0, 60));
    const say = (message: string) => [[`[${at}]`, message] as const];
    if (names.includes("")) return say(`${shown} is no path such as customer.owner`);
    if (names.length > expandLimits.depth) return say(`${shown} is more than ${expandLimits.depth} deep`);
    if (!allowed) return [];
    if (!allowed.includes(first)) return say(`needs ${JSON.stringify(first.slice(0, 60))} in allowed_fields`);
    const isShown = allowed.some((name) => name.startsWith(`${path}.`));
    return isShown ? [] : say(`needs in allowed_fields what is shown of it, such as "${path.slice(0, 60)}.name"`);
  });
}

function parseNames(value: unknown, at: string, say: Say): string[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || !value.every((name) => typeof name === "string")) {
    say(at, "must be an array of names");
    return undefined;
  }
  if (value.length > publicLimits.names) say(at, `may have at most ${publicLimits.names} names`);
  return value;
}

function parseValues(value: unknown, at: string, say: Say): Data {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) {
    say(at, "must be an object of field names and values");
    return {};
  }
  if (Object.keys(value).length > publicLimits.names) say(at, `may have at most ${publicLimits.names} fields`);
  return value;
}

function checkVariables(fields: Data, at: string, say: Say): void {
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value !== "string") continue;
    for (const variable of variablesIn(value)) {
      if (!isVariable(variable)) say(`${at}.${name.slice(0, 60)}`, `{${variable}} ${noVariable}`);
    }
  }
}

/** A scope needs a variable: a value that is the same for every visitor would not restrict anything (behaviour B.7). */
function scopeOf(field: string, ofItself: Data, ofCreate: Data): Scope | undefined {
  for (const value of [own(ofItself, field), own(ofCreate, field)])
    if (typeof value === "string" && variablesIn(value).length > 0) return { field, value };
  return undefined;
}

function withCookies(methods: ReadonlyMap<Operation, Method>, owners: ReadonlyMap<string, unknown>): PublicMethods {
  const uses = (value: unknown) => typeof value === "string" && value.includes("{cookie_key}");
  const marked = [...methods].map(([operation, method]) => {
    const written = operation === "create" ? [...owners.values()] : [];
    const values = [...Object.values(method.autoFields), method.scope?.value, ...written];
    return [operation, { ...method, usesCookie: values.some(uses) }] as const;
  });
  return { methods: new Map(marked), owners };
}

export const noVariable = `is not a variable: use ${variables.map((name) => `{${name}}`).join(", ")}`;

const variableForm = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

export function variablesIn(text: string): string[] {
  return [...text.matchAll(variableForm)].map((match) => match[1] ?? "");
}

export function isVariable(name: string): name is Variable {
  return variables.some((variable) => variable === name);
}

function own(value: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
