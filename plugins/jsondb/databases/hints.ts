/** Hints about names in a saved `schema` and `public_methods` that have no effect. */
import { isObject, misspeltNames, unknownNames } from "platform";
import { unitKinds, type Accounts } from "../../accounts/api.ts";
import type { Viewer } from "../access/reach.ts";
import { linksTo, targetOf, type LinkContext } from "../links/links.ts";
import { linkingField } from "../links/rollups.ts";
import { ownFields } from "./columns.ts";
import type { Database } from "./database.ts";
import type { DbRow } from "./fields.ts";
import type { Rollup } from "./kinds.ts";
import { isOperation, isVariable, noVariable, operationParams, variablesIn, type Operation } from "./public-methods.ts";
import { parseSchema, schemaHints, type Schema } from "./schema.ts";

type Data = Record<string, unknown>;

/** Hints about a database that has just been saved; `given` are the parts that the request had. */
export function databaseHints(
  saved: Pick<DbRow, "schema" | "publicMethods" | "access">,
  given: { readonly schema?: unknown; readonly public_methods?: unknown; readonly access?: unknown },
): string[] {
  const parsed = parseSchema(saved.schema);
  const isPublic = given.schema !== undefined || given.public_methods !== undefined;
  return [
    ...schemaHints(given.schema),
    ...(isPublic && "schema" in parsed ? publicHints(saved.publicMethods, parsed.schema) : []),
    ...(isAbout(given) && "schema" in parsed ? accessHints(saved.access, parsed.schema) : []),
  ];
}

const isAbout = (given: { readonly schema?: unknown; readonly access?: unknown }) =>
  given.schema !== undefined || given.access !== undefined;

/** Hints about grants to somebody, or to a team, that the account does not have. */
export async function nobodyHints(
  people: Accounts,
  { accountId, access }: Pick<DbRow, "accountId" | "access">,
): Promise<string[]> {
  const grants: unknown[] = Array.isArray(access) ? access : [];
  const found = grants.map(async (grant, at) => {
    const [, kind, id] =
      /^(user|team|department|group):(\d{1,15})$/.exec(isObject(grant) ? String(grant["to"]) : "") ?? [];
    const unit = unitKinds.find((one) => one === kind);
    const isThere = unit
      ? await people.unitExists(accountId, unit, Number(id))
      : kind === undefined || (await people.person(accountId, Number(id))) !== undefined;
    return isThere ? [] : [`access[${at}].to: there is no ${kind} ${id}`];
  });
  return (await Promise.all(found)).flat();
}

/** Hints about names in valid grants that are no field of any table. */
function accessHints(access: unknown, schema: Schema): string[] {
  const known = [...[...schema.tables.values()].flatMap(({ fields }) => [...fields.keys()]), ...ownFields];
  const grants: unknown[] = Array.isArray(access) ? access : [];
  return grants.filter(isObject).flatMap((grant, at) => {
    const hints = (option: string, names: readonly string[]) =>
      unknownNames(names, known, (name) => `access[${at}].${option}: the schema has no field "${name}"`);
    return [...hints("where", Object.keys(objectIn(grant, "where"))), ...hints("hide", namesIn(grant, "hide"))];
  });
}

/** Hints about names in valid public methods that lead to nothing in this schema, and options that nothing reads. */
function publicHints(value: unknown, schema: Schema): string[] {
  const given = optionsIn(value);
  const filled = given.flatMap(([, options]) => Object.keys(objectIn(options, "auto_fields")));
  return given.flatMap(([operation, options]) => {
    const fields = fieldsOf(schema, operation, own(options, "table_name"));
    const known = [...fields, ...filled, ...ownFields];
    const used = usedOptions[operation];
    const ends = namesIn(options, "expand");
    const unused = Object.keys(options).filter((name) => own(options, name) !== null && !used.includes(name));
    const hints = (option: string, names: readonly string[]) =>
      unknownNames(names, known, (name) => `${operation}.${option}: the schema has no field "${name}"`);
    const nested = Object.entries(objectIn(options, "auto_fields")).filter(
      ([, one]) => typeof one !== "string" && variablesIn(JSON.stringify(one)).some(isVariable),
    );
    return [
      ...unused.map((name) => `${operation}.${name} is not used: ${operation} reads ${used.join(", ")}`),
      ...unknownNames(
        namesIn(options, "allowed_params"),
        operationParams[operation],
        (name) => `${operation}.allowed_params: \`${operation}\` takes no "${name}"`,
      ),
      ...nested.map(([name]) => `${operation}.auto_fields.${name}: variables are filled into texts only`),
      ...(fields.length === 0
        ? []
        : [
            ...hints(
              "allowed_fields",
              namesIn(options, "allowed_fields").filter((name) => !ends.some((path) => name.startsWith(`${path}.`))),
            ),
            ...hints("required_fields", namesIn(options, "required_fields")),
            ...hints("default_values", Object.keys(objectIn(options, "default_values"))),
            ...misspeltNames(
              Object.keys(objectIn(options, "auto_fields")),
              fields,
              (name) => `${operation}.auto_fields: the schema has no field "${name}"`,
            ),
          ]),
    ];
  });
}

/** `auto_fields` of an operation that writes nothing give its `scope_by` the variable. */
const usedOptions: Record<Operation, readonly string[]> = {
  list: ["expand", "allowed_fields", "allowed_params", "scope_by", "auto_fields", "table_name"],
  get: ["expand", "allowed_fields", "scope_by", "auto_fields", "table_name"],
  create: ["allowed_fields", "required_fields", "default_values", "auto_fields", "scope_by", "table_name"],
  update: ["allowed_fields", "required_fields", "auto_fields", "scope_by", "table_name"],
  delete: ["scope_by", "auto_fields", "table_name"],
  search: ["expand", "allowed_fields", "allowed_params", "scope_by", "auto_fields", "table_name"],
};

/** The fields of the records that an operation may meet; none where the schema has no say. */
function fieldsOf({ multiTable, tables }: Schema, operation: Operation, table: unknown): string[] {
  if (typeof table === "string" && table !== "") return [...(tables.get(table)?.fields.keys() ?? [])];
  if (multiTable && operation === "create") return [];
  return [...tables.values()].flatMap(({ fields }) => [...fields.keys()]);
}

function optionsIn(value: unknown): [Operation, Data][] {
  const entries = isObject(value) ? Object.entries(value) : [];
  return entries.flatMap(([name, options]): [Operation, Data][] =>
    isOperation(name) && isObject(options) ? [[name, options]] : [],
  );
}

function objectIn(options: Data, name: string): Data {
  const value = own(options, name);
  return isObject(value) ? value : {};
}

function namesIn(options: Data, name: string): string[] {
  const value = own(options, name);
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/**
 * Places of variables that are spelt in a way that nothing fills in: `{cookie-key}` or `{ ip }`. Only what is saved is
 * checked; a stored one has always been kept as it stands.
 */
export function misspeltVariables(value: unknown): string[] {
  return optionsIn(value).flatMap(([operation, options]) =>
    Object.entries(objectIn(options, "auto_fields")).flatMap(([name, text]) =>
      typeof text !== "string"
        ? []
        : [...text.matchAll(/\{[ \w-]{1,60}\}/g)]
            .filter(([form]) => /[A-Za-z]/.test(form) && variablesIn(form).length === 0)
            .map(([form]) => `${operation}.auto_fields.${name.slice(0, 60)}: ${form} ${noVariable}`),
    ),
  );
}

function own(value: Data, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

// Links and rollups that lead to nothing: said where they are saved, for tables may be made in any order. behaviour B.7.31.

const mostHints = 20;

/** Databases that do not open for the viewer, and what is hidden in others, are as if they were not there. */
export async function linkHints(ctx: LinkContext, db: Database, viewer: Viewer | undefined): Promise<string[]> {
  const hints: string[] = [];
  const opened = async (key: string) =>
    linksTo(db, { db: key }) ? db : targetOf(ctx, db.accountId, { db: key }, viewer);
  for (const [name, { fields }] of db.schema.tables)
    for (const [field, { link, rollup }] of fields) {
      const key = link?.db ?? rollup?.db;
      // Bounded, because what is not there is looked up each time.
      if (key === undefined || hints.length >= mostHints) continue;
      const target = await opened(key);
      const fault = !target
        ? `there is no database "${key}"`
        : link
          ? tableFault(target, link.table)
          : rollup && rollupFault(db, target, rollup);
      const place = `schema.${name === "" ? "" : `tables.${name}.`}fields.${field}.${link ? "link" : "rollup"}`;
      if (fault !== undefined) hints.push(`${place}: ${fault}`);
    }
  return hints;
}

function tableFault({ code, schema }: Database, table: string | undefined): string | undefined {
  if (table === undefined || (schema.multiTable && schema.tables.has(table))) return undefined;
  return `${code} has no table "${table}"`;
}

function rollupFault(db: Database, source: Database, { link, field }: Rollup): string | undefined {
  const { tableName, name } = linkingField(source, link);
  if (source.schema.multiTable && tableName === "")
    return `${source.code} has tables: name one, as ${source.code}.table.field`;
  const fields = source.schema.tables.get(tableName)?.fields;
  if (!fields) return `${source.code} has no table "${tableName}"`;
  const back = fields.get(name);
  if (!back) return `${source.code} has no field "${link}"`;
  if (!back.link || !linksTo(db, back.link)) return `"${link}" of ${source.code} is no link to ${db.code}`;
  return field === undefined || fields.has(field) ? undefined : `${source.code} has no field "${field}" there`;
}
