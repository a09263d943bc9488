/**
 * Reports names in a request that nobody reads, each with the nearest known one, in the header `Warning`. The answer
 * itself does not change.
 */
import type { TObject, TSchema } from "@sinclair/typebox";
import { invalid } from "../../base/errors.ts";
import { nearest } from "../../base/text.ts";
import { isObject } from "../../base/values.ts";

const mostNames = 5;

/** Hints about names that are not among the known ones. `told` makes the beginning of a hint from a name. */
export function unknownNames(
  given: Iterable<string>,
  known: readonly string[],
  told: (name: string) => string,
): string[] {
  const all = new Set(known);
  const unknown = [...new Set([...given].filter((name) => !all.has(name)))];
  const texts = unknown.slice(0, mostNames).map((name) => `${told(shown(name))}: ${remedy(name, known)}`);
  return unknown.length > mostNames ? [...texts, `and ${unknown.length - mostNames} more unknown names`] : texts;
}

/** The same where people keep names of their own: about those alone that are nearly a known one. */
export function misspeltNames(
  given: readonly string[],
  known: readonly string[],
  told: (name: string) => string,
): string[] {
  const near = given.filter((name) => nearest(name, known).length > 0);
  return unknownNames(near, known, told);
}

/**
 * Hints about query parameters that a route does not declare by name, as `filter[<field>]`, or with `*`. One that takes
 * a list may be given as `name[]`.
 */
export function queryHints(declared: Readonly<Record<string, unknown>> = {}, query: URLSearchParams): string[] {
  const isKnown = (name: string) =>
    Object.hasOwn(declared, name) || (name.endsWith("[]") && takesList(declared[name.slice(0, -2)]));
  const names = [...query.keys()].filter((name) => !isKnown(name));
  const corrected = pageHints(declared, query);
  if (names.length === 0 || Object.hasOwn(declared, "*")) return corrected;
  const known = Object.keys(declared);
  const beginnings = known.filter((name) => name.includes("<")).map((name) => name.slice(0, name.indexOf("<")));
  const unknown = names.filter((name) => !beginnings.some((beginning) => name.startsWith(beginning)));
  return [...corrected, ...unknownNames(unknown, known, (name) => `unknown query parameter "${name}"`)];
}

/** 422 for a parameter that is none of the only values that its declaration lists. An empty one counts as missing. */
export function refuseUnlisted(declared: Readonly<Record<string, unknown>> = {}, query: URLSearchParams): void {
  for (const [name, given] of query) {
    const listed = given !== "" && Object.hasOwn(declared, name) ? listedIn(declared[name]) : undefined;
    if (listed && !listed.includes(given)) throw invalid({ [name]: [`must be one of ${listed.join(", ")}`] });
  }
}

/** What a text may be, as `field.oneOf` or `enum` say it; with `x-open` others are no mistake: nothing is found by them. */
function listedIn(schema: unknown): readonly unknown[] | undefined {
  if (!isSchema(schema) || schema["x-open"]) return undefined;
  const { enum: values, anyOf } = schema;
  const listed: unknown = Array.isArray(anyOf) ? anyOf.map((one) => one?.const) : values;
  return Array.isArray(listed) && listed.every((one) => typeof one === "string") ? listed : undefined;
}

/** Hints about a `limit` and an `offset` in whose place `pageOf` reads another one. */
export function pageHints(declared: Readonly<Record<string, unknown>>, query: URLSearchParams): string[] {
  return ["limit", "offset"].flatMap((name) => {
    const given = query.get(name)?.trim() ?? "";
    const form = Object.hasOwn(declared, name) ? declared[name] : undefined;
    if (given === "" || !isObject(form) || form["type"] !== "integer") return [];
    const { minimum: least = 0, maximum: most = 2 ** 40, default: standard } = form;
    if (!/^[+-]?\d+$/.test(given)) return [`${name}: ${shown(given)} is no whole number, ${String(standard)} is taken`];
    const taken = Math.min(Math.max(Number(given), Number(least)), Number(most));
    return taken === Number(given) ? [] : [`${name}: ${shown(given)} is out of range, ${taken} is taken`];
  });
}

/**
 * Hints about a body's fields, and about the keys of objects inside of them, if the schema lists those keys. `whole` is
 * the body, including what is beside the key.
 */
export function bodyHints(body: BodyFacts, whole: object, fields: object): string[] {
  const hints = topHints(body, whole, fields);
  const walk: Walk = { hints, left: mostNested };
  for (const [name, schema] of Object.entries(body.schema.properties))
    if (Object.hasOwn(fields, name)) nestedHints(walk, schema, Reflect.get(fields, name), name);
  return hints;
}

interface BodyFacts {
  readonly key?: string;
  readonly beside?: readonly string[];
  readonly schema: TObject;
}

interface Walk {
  readonly hints: string[];
  /** How many more values are looked at. */
  left: number;
}

const mostNested = 10_000;

function nestedHints(walk: Walk, schema: TSchema, value: unknown, place: string): void {
  if (typeof value !== "object" || value === null || walk.left-- <= 0 || walk.hints.length > mostNames) return;
  if (Array.isArray(value)) {
    const [items] = branches(schema, "array").map(({ items: one }) => one);
    if (isSchema(items)) value.forEach((one, at) => nestedHints(walk, items, one, `${place}[${at}]`));
    return;
  }
  const { known, others, isClosed } = objectForm(schema);
  if (isClosed)
    walk.hints.push(
      ...unknownNames(Object.keys(value), Object.keys(known), (name) => `unknown field "${name}" in "${place}"`),
    );
  if (!isClosed && others === undefined && Object.keys(known).length === 0) return;
  for (const [name, inner] of Object.entries(value)) {
    const form = Object.hasOwn(known, name) ? known[name] : others;
    if (form) nestedHints(walk, form, inner, `${place}.${name}`);
  }
}

interface ObjectForm {
  readonly known: Readonly<Record<string, TSchema>>;
  /** The schema of the values with other names; undefined if unknown. */
  readonly others: TSchema | undefined;
  /** Whether there are no other names. */
  readonly isClosed: boolean;
}

const objectForms = new WeakMap<TSchema, ObjectForm>();

/** What the forms of an object say together, worked out once: bodies are checked on each request. */
function objectForm(schema: TSchema): ObjectForm {
  const kept = objectForms.get(schema);
  if (kept) return kept;
  const forms = branches(schema, "object");
  const others: unknown[] = forms.map(({ additionalProperties, patternProperties }) =>
    isObject(patternProperties) ? Object.values(patternProperties)[0] : additionalProperties,
  );
  const saysMore = (one: unknown): one is TSchema => isSchema(one) && Object.keys(one).length > 0;
  const form = {
    known: Object.assign({}, ...forms.map(({ properties }) => properties ?? {})),
    others: others.find(saysMore),
    isClosed: forms.length > 0 && others.every((one) => one === undefined || one === false),
  };
  objectForms.set(schema, form);
  return form;
}

/** The forms of this type that a value may have. */
function branches(schema: TSchema, type: "object" | "array"): TSchema[] {
  const choices: unknown = schema["anyOf"];
  return (Array.isArray(choices) ? choices.filter(isSchema) : [schema]).filter((one) => one["type"] === type);
}

function isSchema(value: unknown): value is TSchema {
  return isObject(value);
}

function topHints({ key, schema, beside: taken = [] }: BodyFacts, whole: object, fields: object): string[] {
  const { properties } = schema;
  const names = Object.keys(fields).filter((name) => !Object.hasOwn(properties, name));
  // Nearly every request: nothing to compare.
  if (names.length === 0 && (key === undefined || Object.keys(whole).length === 1)) return [];
  const hints = unknownNames(names, Object.keys(properties), (name) => `unknown field "${name}"`);
  if (key === undefined) return hints;
  const beside = Object.keys(whole).filter((name) => name !== key && !taken.includes(name));
  const [misplaced, others] = [true, false].map((is) =>
    beside.filter((name) => Object.hasOwn(properties, name) === is),
  );
  return [
    ...(misplaced ?? []).map((name) => `"${name}" is not read beside "${key}": put it inside`),
    ...unknownNames(others ?? [], [key], (name) => `unknown field "${name}" beside "${key}"`),
    ...hints,
  ];
}

function takesList(schema: unknown): boolean {
  return isObject(schema) && Array.isArray(schema["anyOf"]) && schema["anyOf"].some((one) => one?.type === "array");
}

function shown(name: string): string {
  return name.length > 60 ? `${name.slice(0, 60)}...` : name;
}

function remedy(name: string, known: readonly string[]): string {
  const near = nearest(name, known).map((one) => `"${one}"`);
  if (near.length > 0) return `did you mean ${near.join(" or ")}?`;
  return known.length === 0 ? "none is known here" : `known are ${known.join(", ")}`;
}
