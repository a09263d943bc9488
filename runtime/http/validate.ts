import { FormatRegistry, type Static, type TObject } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { ValueErrorType, type ValueError } from "@sinclair/typebox/errors";
import { isDateTime, isDay } from "../dates.ts";
import { badRequest, invalid } from "../errors.ts";

// Elysia brings formats of these names that take any date of which `Date` can make some other one.
FormatRegistry.Set("date", isDay);
FormatRegistry.Set("date-time", isDateTime);

const formatRules = new Map([
  ["date", "a date like 2026-01-31"],
  ["date-time", "a date and time with offset like 2026-01-31T10:00:00Z"],
]);

interface Checker {
  Check(value: unknown): boolean;
  Errors(value: unknown): Iterable<ValueError>;
}

/**
 * Checks an object against its compiled schema and returns it without the fields the schema does not know (behaviour B.3:
 * unknown fields are ignored). Throws 422, field name to messages.
 */
export function checkFields(checker: Checker, schema: TObject, value: unknown): unknown {
  if (!checker.Check(value)) throw invalid(fieldErrors(checker.Errors(value)));
  return knownFields(schema, value);
}

/**
 * A new object's fields without those that are null where null means nothing: clients send it for "not given". A field
 * that may be null, or must be there, is checked as it stands.
 */
export function givenFields(schema: TObject, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const isGiven = ([key, given]: [string, unknown]) => {
    const field = Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
    return given !== null || !field || schema.required?.includes(key) === true || takesNull(field);
  };
  return Object.values(value).includes(null) ? Object.fromEntries(Object.entries(value).filter(isGiven)) : value;
}

function takesNull(schema: { readonly [key: string]: unknown }): boolean {
  if (Array.isArray(schema["anyOf"])) return schema["anyOf"].some(takesNull);
  return schema["type"] === "null" || (schema["type"] === undefined && !("const" in schema));
}

export function knownFields(schema: TObject, value: unknown): Record<string, unknown> {
  const known = Object.entries(Object(value)).filter(([key]) => Object.hasOwn(schema.properties, key));
  return Object.fromEntries(known);
}

/** The same for what comes from elsewhere than a request's body; compiled on first use. */
export function checkerOf<S extends TObject>(schema: S): (value: unknown) => Static<S> {
  let compiled: Checker | undefined;
  // `checkFields` throws where the value does not fit the schema.
  return (value) => checkFields((compiled ??= TypeCompiler.Compile(schema)), schema, value) as Static<S>;
}

function fieldErrors(errors: Iterable<ValueError>): Record<string, string[]> {
  const fields = new Map<string, string[]>();
  const seen = new Set<string>();
  for (const found of errors) {
    if (seen.has(found.path)) continue; // one message a place: the further ones only follow from it
    seen.add(found.path);
    const error = closest(found);
    const [field = "base", ...place] = error.path.slice(1).split("/").map(unescapePointer);
    const where = place.length > 0 ? `${place.join(".")} ` : "";
    const messages = fields.get(field || "base") ?? [];
    fields.set(field || "base", [...messages, `${where}${describe(error)}`]);
    if (seen.size >= 50) break;
  }
  return Object.fromEntries(fields);
}

function unescapePointer(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Of text or nothing, say, a text that is too long is told as that, and of a list or nothing the element that is wrong. */
function closest(error: ValueError): ValueError {
  if (error.type !== ValueErrorType.Union) return error;
  const first = error.errors.map((branch) => branch.First()).filter((one) => one !== undefined);
  const inside = first.filter((one) => one.path !== error.path);
  const found =
    first.find((one) => one.path === error.path && fits(one)) ?? (inside.length === 1 ? inside[0] : undefined);
  return found ? closest(found) : error;
}

/** TypeBox's error in words that a caller can act on. */
function describe(error: ValueError): string {
  const { schema, type } = error;
  if (type === ValueErrorType.ObjectRequiredProperty) return "is required";
  if (type === ValueErrorType.StringMinLength)
    return schema.minLength === 1 ? "can't be blank" : `must have at least ${schema.minLength} characters`;
  if (type === ValueErrorType.StringMaxLength) return `may have at most ${schema.maxLength} characters`;
  if (type === ValueErrorType.ArrayMaxItems) return `may have at most ${schema.maxItems} elements`;
  if (type === ValueErrorType.StringPattern || type === ValueErrorType.StringFormat) return wrongForm(schema);
  if (typeof schema.minimum === "number" && typeof error.value === "number" && error.value < schema.minimum)
    return `must be at least ${schema.minimum}`;
  if (typeof schema.maximum === "number" && typeof error.value === "number" && error.value > schema.maximum)
    return `must be at most ${schema.maximum}`;
  return `must be ${expected(schema)}`;
}

function wrongForm({ description, format }: ValueError["schema"]): string {
  const rule = typeof description === "string" ? description : formatRules.get(String(format));
  return rule === undefined ? "has the wrong form" : `must be ${rule}`;
}

/** Whether the value is of the type, and only breaks a rule of it: one of several constants is none. */
function fits({ schema, value }: ValueError): boolean {
  if ("const" in schema) return false;
  if (schema["type"] === "array") return Array.isArray(value);
  return typeof value === (schema["type"] === "integer" ? "number" : schema["type"]) && value !== null;
}

function expected(schema: { readonly [key: string]: unknown }): string {
  if (Array.isArray(schema["anyOf"])) {
    const choices = schema["anyOf"].filter((choice) => choice.type !== "null").map(expected);
    const literals = schema["anyOf"].every((choice) => "const" in choice || choice.type === "null");
    return literals && choices.length > 1 ? `one of ${choices.join(", ")}` : choices.join(" or ");
  }
  if ("const" in schema) return schema["const"] === "" ? "empty" : String(schema["const"]);
  if (schema["type"] === "string") return "a string";
  if (schema["type"] === "integer") return "a whole number";
  if (schema["type"] === "number") return "a number";
  if (schema["type"] === "boolean") return "true or false";
  if (schema["type"] === "array") return "an array";
  if (schema["type"] === "object") return "an object";
  return "of another type";
}

const maxDepth = 128;

/** What all of is kept: as `readJson`, and 422 where PostgreSQL cannot store a part of it. */
export function parseJson(source: string): unknown {
  const value = readJson(source);
  if (mayBeUnstorable(source)) refuseUnstorable(value);
  return value;
}

/** Parses a request body. 400 if it is not JSON or nests deeper than 128 levels. */
export function readJson(source: string): unknown {
  if (tooDeep(source)) throw badRequest(`the body nests deeper than ${maxDepth} levels`);
  try {
    return JSON.parse(source);
  } catch {
    throw badRequest("the body is not valid JSON");
  }
}

/** Whether a value of this JSON may be one that `refuseUnstorable` refuses; saves looking through the others. */
export function mayBeUnstorable(source: string): boolean {
  // Such characters can only come from an escape: JSON forbids a raw NUL, and UTF-8 has no half pairs.
  // And only so long a number can be beyond what one holds (1.8e308), and would be kept as null.
  return /\\u(?:0000|d[89a-f])|\de\+?\d{3}/i.test(source) || hasDigits(source, 200);
}

/**
 * Whether so many digits stand in a row. A run of them covers one place in every `count`, so only those are looked at:
 * anybody may send a body, and the pattern \d{200} would try two hundred characters from each place of it.
 */
function hasDigits(source: string, count: number): boolean {
  for (let place = count - 1; place < source.length; place += count) {
    let from = place;
    while (from > place - count && isDigit(source, from)) from--;
    if (from === place) continue;
    let to = place + 1;
    while (to - from <= count && isDigit(source, to)) to++;
    if (to - from > count) return true;
  }
  return false;
}

function isDigit(source: string, at: number): boolean {
  const code = source.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
}

function tooDeep(source: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < source.length; at++) {
    const code = source.charCodeAt(at);
    if (inString) {
      if (code === 0x5c) at++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > maxDepth) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}

/**
 * 422 where a string or a key holds what PostgreSQL cannot store (NUL, half a surrogate pair), or where JSON.parse made a
 * number infinite, named by its place.
 */
export function refuseUnstorable(value: unknown, place: readonly string[] = []): void {
  const refuse = (message: string) => {
    const [field = "base", ...inside] = fieldPlace(place);
    throw invalid({ [field]: [[inside.join("."), message].filter((part) => part !== "").join(" ")] });
  };
  if (typeof value === "string" && (value.includes("\0") || !value.isWellFormed()))
    refuse("has a character that cannot be stored");
  if (typeof value === "number" && !Number.isFinite(value)) refuse("is a number too large to be kept");
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    refuseUnstorable(key, [...place, key.replaceAll("\0", "")]);
    refuseUnstorable(inner, [...place, key]);
  }
}

/** Where a value stands, without what wraps the fields of a record. */
function fieldPlace(place: readonly string[]): readonly string[] {
  return place.length > 1 && place[0] === "data" ? place.slice(1) : place;
}
