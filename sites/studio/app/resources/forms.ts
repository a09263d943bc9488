/** Forms made from the schemas of bodies: which fields there are, and values between JSON and what people type. */
import { words } from "./names.ts";
import { isNullable, typesOf, type Choices, type FieldWords, type Schema } from "./openapi.ts";
import { singularOf } from "./references.ts";
import type { Resource } from "./resources.ts";
import { numberOf, parseJson } from "../server/exact.ts";
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
  /** One of these will do as well. */
  readonly instead?: readonly string[];
  readonly nullable: boolean;
  /** A number that has no decimals. */
  readonly integer: boolean;
  readonly choices: readonly string[];
  /** Choices in words, where they are not their own. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly maxLength?: number;
  readonly help: string;
  /** Where the choices of a lookup come from, and which of their fields is the value. */
  readonly target?: { readonly resource: Resource; readonly field: "id" | "code" };
  /** Where else the choices come from, as the API declares it. */
  readonly sources?: readonly Choices[];
  /** For which values of other fields it matters. */
  readonly when?: Readonly<Record<string, readonly string[]>>;
  /** What is known of the object that it holds, if that depends on another field: by its value. */
  readonly parts?: { readonly field?: string; readonly schemas: Readonly<Record<string, Schema>> };
  /** The media type of a text. */
  readonly media?: string;
}

/** What an input holds: a text, a flag, or the values chosen. */
export type Input = string | boolean | readonly string[];
export type Inputs = Readonly<Record<string, Input>>;

const longNames = /^(content|source_code|description|prompt|body|text|template|program|head|html|css|footer|header)$/;
const lineNames = /(^|_)(url|path)$/;
const secretNames = /^(password|current_password|secret|api_token|client_secret|signing_secret|secret_token)$/;
const timeNames = /_at$/;
/** A text that may be longer is given an area. */
const lineChars = 1000;

/** What the fields of a form may name. */
export interface FormContext {
  readonly resources: readonly Resource[];
  readonly privileges: readonly string[];
}

/** `whole`: the schema of a new one, where that of a change requires nothing. */
export function fieldsOf(schema: Schema, known: FormContext, whole: Schema = schema): FormField[] {
  const properties = schema.properties ?? {};
  const needed = neededBy(whole);
  const fields = Object.entries(properties).map(([name, property]) => ({
    ...fieldOf(name, property, known),
    ...needed.get(name),
  }));
  // `site_id` asks the same as `site_code`, and `domain_id` as `domain`.
  const isTwin = (name: string) =>
    name.endsWith("_id") && [codeName(name), name.slice(0, -3)].some((one) => one in properties);
  const asked = fields.filter(({ name, target }) => !target || !isTwin(name));
  const narrows = ({ name, target }: FormField) =>
    target !== undefined && asked.some((other) => other.name !== name && canNarrow(other, name));
  const rank = (field: FormField) => {
    if (field.required && !field.instead) return 0;
    if (firstNames.has(field.name)) return 1;
    return narrows(field) || field.instead?.length ? 2 : 3;
  };
  return asked.toSorted((a, b) => rank(a) - rank(b));
}

/** What a new thing must have; of several that will do, the first. */
function neededBy({
  required = [],
  "x-needs": needs = [],
}: Schema): Map<string, Pick<FormField, "required" | "instead">> {
  const groups = needs.map(([first = "", ...instead]) => [first, { required: true, instead }] as const);
  return new Map([...groups, ...required.map((name) => [name, { required: true }] as const)]);
}

const firstNames = new Set(["name", "title", "code"]);
const codeName = (idName: string) => idName.replace(/_id$/, "_code");

/** What holds the others: layouts are chosen among those of the same site. */
const containers = new Set(["site_code"]);

/** Whether the choices of a field can be filtered by another field of the form. */
export function canNarrow({ target }: FormField, name: string): boolean {
  if (!containers.has(name)) return false;
  return target?.resource.list.query.some((one) => one.name === name) ?? false;
}

/** The fields that matter for what the others say. */
export function mattering(fields: readonly FormField[], inputs: Inputs): FormField[] {
  return fields.filter(({ name, when, sources }) => {
    if (when && !Object.entries(when).every(([other, values]) => values.includes(textOf(inputs[other])))) return false;
    // What has no choices for this form is of no use in it, unless it has a value.
    const isConditional = sources !== undefined && sources.every((source) => source.when);
    return !isConditional || textOf(inputs[name]) !== "" || sources.some((source) => holds(source, inputs));
  });
}

export function holds({ when }: Choices, inputs: Inputs): boolean {
  return Object.entries(when ?? {}).every(([name, value]) => inputs[name] === value);
}

function fieldOf(name: string, schema: Schema, { resources, privileges }: FormContext): FormField {
  const sources = schema["x-choices"];
  const target = sources ? undefined : targetOf(name, schema, resources);
  const choices = name === "privileges" ? privileges : enumOf(schema);
  const { maxLength, contentMediaType: media, "x-when": when } = schema;
  const parts = partsOf(schema);
  return {
    name,
    label: words(name),
    kind: name === "privileges" ? "choices" : kindOf(name, schema, target !== undefined || sources !== undefined),
    required: false,
    nullable: isNullable(schema),
    integer: typesOf(schema).includes("integer"),
    choices,
    ...(maxLength !== undefined && { maxLength }),
    // What is said of an empty field already.
    help: schema.description === "not blank" ? "" : (schema.description ?? ""),
    ...(target && { target }),
    ...(sources && { sources }),
    ...(when && { when }),
    ...(parts && { parts }),
    ...(media !== undefined && { media }),
  };
}

/** The field as its resource declares it, in this language. */
export function inWords(
  field: FormField,
  declared: FieldWords | undefined,
  language: keyof FieldWords["label"],
): FormField {
  if (!declared) return field;
  const { label, help, choices, widget } = declared;
  const labels = Object.entries(choices ?? {}).map(([value, said]) => [value, said[language]] as const);
  return {
    ...field,
    label: label[language],
    ...(help && { help: help[language] }),
    ...(widget && { kind: widget }),
    ...(labels.length > 0 && { labels: Object.fromEntries(labels) }),
  };
}

/** An empty text stands for none, which every choice offers. */
function enumOf({ enum: own, items, const: one }: Schema): string[] {
  return (own ?? items?.enum ?? (typeof one === "string" ? [one] : []))
    .filter((value) => value !== null && value !== "")
    .map(String);
}

function partsOf(schema: Schema): FormField["parts"] {
  if (schema["x-by"]) return schema["x-by"];
  if (!typesOf(schema).includes("object") || Object.keys(schema.properties ?? {}).length === 0) return undefined;
  return { schemas: { "": schema } };
}

function kindOf(name: string, schema: Schema, hasTarget: boolean): FieldKind {
  // A code or nothing is two kinds of text.
  const types = [...new Set([...typesOf(schema), ...(schema.anyOf ?? []).flatMap(typesOf)])];
  if (hasTarget) return types.includes("array") ? "lookups" : "lookup";
  if (schema.enum || schema.const !== undefined) return "choice";
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

function textKind(name: string, { format, maxLength, contentMediaType, "x-format": own }: Schema): FieldKind {
  if (format === "date-time" || own === "date-time" || timeNames.test(name)) return "time";
  if (format === "date") return "date";
  if (secretNames.test(name)) return "secret";
  if (contentMediaType !== undefined) return "text";
  if (lineNames.test(name)) return "line";
  return longNames.test(name) || (maxLength ?? 0) > lineChars ? "text" : "line";
}

/**
 * `db_code` names a database by its code, `team_ids` teams by their ids, `based_on_page_code` a page, where such a
 * resource exists.
 */
function targetOf(name: string, schema: Schema, resources: readonly Resource[]): FormField["target"] {
  const [, singular, field] = /^(\w+)_(id|code|ids)$/.exec(name) ?? [];
  if (singular === undefined || schema.enum) return undefined;
  const named = (word: string) => resources.find((one) => !one.path.includes("{") && singularOf(one) === word);
  const resource = named(singular) ?? named(singular.split("_").at(-1) ?? "");
  return resource && { resource, field: field === "code" ? "code" : "id" };
}

/** What a new record has if nothing is said, and is not sent: it is active, and of the first kind. */
export function startingValues(fields: readonly FormField[]): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap(({ name, kind, sources }): [string, unknown][] => {
      if (name === "active" && kind === "flag") return [[name, true]];
      const first = sources?.[0]?.values?.[0];
      return first === undefined ? [] : [[name, first]];
    }),
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
      return Number.isFinite(number) && input.trim() !== "" ? { value: numberOf(input.trim()) } : { mistake: "number" };
    }
    case "json":
      try {
        return { value: parseJson(input) };
      } catch {
        return { mistake: "json" };
      }
    case "list":
      return { value: input.split("\n").filter((line) => line.trim() !== "") };
    case "choice":
      return { value: field.integer ? Number(input) : input };
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
    const [first = ""] = path.split(/[.[]/, 1);
    const name = names.has(first) ? first : (fieldWithPart(fields, first) ?? first);
    const inner = path === first ? "" : `${path}: `;
    if (names.has(name)) (byField[name] ??= []).push(...messages.map((message) => inner + message));
    else others.push(...messages.map((message) => (path === "base" ? message : `${words(path)} ${message}`)));
  }
  return { byField, others };
}

/** A part may have errors under its own name: `program` of `fields.program`. */
function fieldWithPart(fields: readonly FormField[], part: string): string | undefined {
  const has = ({ parts }: FormField) =>
    Object.values(parts?.schemas ?? {}).some((one) => part in (one.properties ?? {}));
  return fields.find(has)?.name;
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
