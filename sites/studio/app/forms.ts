/** Forms made from the schemas of bodies: which fields there are, and values between JSON and what people type. */
import { lastWord, words } from "./names.ts";
import { isNullable, typesOf, type Schema } from "./openapi.ts";
import type { Resource } from "./resources.ts";
import { textOf } from "./values.ts";

export type FieldKind =
  | "line"
  | "text"
  | "secret"
  | "number"
  | "flag"
  | "choice"
  | "choices"
  | "list"
  | "time"
  | "date"
  | "lookup"
  | "lookups"
  | "json";

export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly kind: FieldKind;
  readonly required: boolean;
  readonly nullable: boolean;
  /** A number that has no decimals. */
  readonly integer: boolean;
  readonly choices: readonly string[];
  readonly maxLength?: number;
  readonly help: string;
  /** Where the choices of a lookup come from, and which of their fields is the value. */
  readonly target?: { readonly resource: Resource; readonly field: "id" | "code" };
}

/** What an input holds: a text, a flag, or the values chosen. */
export type Input = string | boolean | readonly string[];

const longNames = /^(content|source_code|description|prompt|body|text|template|program|head|html|css|footer|header)$/;
const secretNames = /^(password|current_password|secret|api_token|signing_secret)$/;
/** A text that may be longer is given an area. */
const lineChars = 1000;

/** What the fields of a form may name. */
export interface Known {
  readonly resources: readonly Resource[];
  readonly privileges: readonly string[];
}

/** `required`: those that the resource must have, where the schema of a change requires none. */
export function fieldsOf(
  schema: Schema,
  known: Known,
  required: readonly string[] = schema.required ?? [],
): FormField[] {
  const fields = Object.entries(schema.properties ?? {}).map(([name, property]) =>
    fieldOf(name, property, required.includes(name), known),
  );
  return [...fields.filter((field) => field.required), ...fields.filter((field) => !field.required)];
}

function fieldOf(name: string, schema: Schema, required: boolean, { resources, privileges }: Known): FormField {
  const target = targetOf(name, schema, resources);
  const choices = name === "privileges" ? privileges : enumOf(schema);
  const { maxLength } = schema;
  return {
    name,
    label: words(name),
    kind: name === "privileges" ? "choices" : kindOf(name, schema, target !== undefined),
    required,
    nullable: isNullable(schema),
    integer: typesOf(schema).includes("integer"),
    choices,
    ...(maxLength !== undefined && { maxLength }),
    // What is said of an empty field already.
    help: schema.description === "not blank" ? "" : (schema.description ?? ""),
    ...(target && { target }),
  };
}

function enumOf({ enum: own, items }: Schema): string[] {
  return (own ?? items?.enum ?? []).filter((value) => value !== null).map(String);
}

function kindOf(name: string, schema: Schema, hasTarget: boolean): FieldKind {
  const types = typesOf(schema);
  if (hasTarget) return types.includes("array") ? "lookups" : "lookup";
  if (schema.enum) return "choice";
  if (types.length !== 1) return schema.anyOf || types.length > 1 ? "json" : "line";
  switch (types[0]) {
    case "boolean":
      return "flag";
    case "integer":
    case "number":
      return "number";
    case "array":
      return arrayKind(schema);
    case "string":
      return textKind(name, schema);
    default:
      return "json";
  }
}

function arrayKind({ items = {} }: Schema): FieldKind {
  if (items.enum) return "choices";
  return typesOf(items)[0] === "string" ? "list" : "json";
}

function textKind(name: string, { format, maxLength }: Schema): FieldKind {
  if (format === "date-time") return "time";
  if (format === "date") return "date";
  if (secretNames.test(name)) return "secret";
  return longNames.test(name) || (maxLength ?? 0) > lineChars ? "text" : "line";
}

/** `db_code` names a database by its code, `team_ids` teams by their ids, where such a resource exists. */
function targetOf(name: string, schema: Schema, resources: readonly Resource[]): FormField["target"] {
  const [, singular, field] = /^(\w+)_(id|code|ids)$/.exec(name) ?? [];
  if (singular === undefined || schema.enum) return undefined;
  const resource = resources.find(
    (one) => !one.path.includes("{") && (one.create?.body?.key ?? lastWord(one.path).replace(/s$/, "")) === singular,
  );
  return resource && { resource, field: field === "code" ? "code" : "id" };
}

/** What a new record has if nothing is said: what is active by itself is shown so, and not sent. */
export function startingValues(fields: readonly FormField[]): Record<string, unknown> {
  return Object.fromEntries(
    fields.filter(({ name, kind }) => name === "active" && kind === "flag").map(({ name }) => [name, true]),
  );
}

/** What the inputs show of a record; absent ones of a new record are empty. */
export function inputsOf(
  fields: readonly FormField[],
  record: Readonly<Record<string, unknown>>,
): Record<string, Input> {
  return Object.fromEntries(fields.map((field) => [field.name, inputOf(field, record[field.name])]));
}

function inputOf({ kind }: FormField, value: unknown): Input {
  switch (kind) {
    case "flag":
      return value === true;
    case "choices":
    case "lookups":
      return Array.isArray(value) ? value.map(String) : [];
    case "list":
      return Array.isArray(value) ? value.join("\n") : "";
    case "json":
      return value === undefined || value === null ? "" : JSON.stringify(value, null, 2);
    case "secret":
      return "";
    default:
      return textOf(value);
  }
}

export type Typed = { readonly value: unknown } | { readonly mistake: "number" | "json" };

/** The JSON value of what was typed; undefined where it is left out. */
export function typed(field: FormField, input: Input): Typed {
  if (typeof input === "boolean") return { value: input };
  if (typeof input !== "string") return { value: field.target?.field === "id" ? input.map(identifier) : input };
  if (input === "") return { value: emptyValue(field) };
  switch (field.kind) {
    case "number": {
      const number = Number(input);
      return Number.isFinite(number) && input.trim() !== "" ? { value: number } : { mistake: "number" };
    }
    case "json":
      try {
        return { value: JSON.parse(input) };
      } catch {
        return { mistake: "json" };
      }
    case "list":
      return { value: input.split("\n").filter((line) => line.trim() !== "") };
    case "lookup":
      return { value: field.target?.field === "id" ? identifier(input) : input };
    default:
      return { value: input };
  }
}

/** A secret that is left empty stays as it is. */
function emptyValue({ kind, nullable }: FormField): unknown {
  if (kind === "secret") return undefined;
  if (nullable) return null;
  return kind === "list" ? [] : kind === "line" || kind === "text" ? "" : undefined;
}

/** Ids are numbers or UUIDs. */
function identifier(text: string): string | number {
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}

/** The fields' own messages of a 422, and those of no field, each with its name: `{ "actions.0": ["…"] }` is of `actions`. */
export function messagesByField(
  fields: readonly FormField[],
  errors: Readonly<Record<string, readonly string[]>>,
): { readonly byField: Record<string, string[]>; readonly others: string[] } {
  const names = new Set(fields.map(({ name }) => name));
  const byField: Record<string, string[]> = {};
  const others: string[] = [];
  for (const [path, messages] of Object.entries(errors)) {
    const [name = ""] = path.split(/[.[]/, 1);
    const inner = path === name ? "" : `${path}: `;
    if (names.has(name)) (byField[name] ??= []).push(...messages.map((message) => inner + message));
    else others.push(...messages.map((message) => (path === "base" ? message : `${words(path)} ${message}`)));
  }
  return { byField, others };
}

/** The fields of a form in the order that its page names them; the others are folded away. */
export function arranged(
  fields: readonly FormField[],
  order: readonly string[] | undefined,
  helps: Readonly<Record<string, string>> = {},
): { readonly shown: readonly FormField[]; readonly more: readonly FormField[] } {
  const helped = fields.map((field) => ({ ...field, help: helps[field.name] ?? field.help }));
  if (!order) return { shown: helped, more: [] };
  const shown = order.flatMap((name) => helped.find((field) => field.name === name) ?? []);
  return { shown, more: helped.filter((field) => !shown.includes(field)) };
}
