import { FormatRegistry, type Static, type TObject } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { ValueErrorType, type ValueError } from "@sinclair/typebox/errors";
import { isDateTime, isDay } from "../times/dates.ts";
import { badRequest, invalid } from "../base/errors.ts";
import { ExactNumber, hasExact, parseScanned, rounded, scanNumbers } from "../base/exact-number.ts";
import { printedLength, readBounds } from "../base/read-bounds.ts";

// Elysia registers formats of these names that accept any date that `Date` can turn into another one.
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
 * Checks an object against its compiled schema and returns it without fields that the schema does not know (behaviour
 * B.3: unknown fields are ignored). Throws a 422 that maps field names to messages.
 */
export function checkFields(checker: Checker, schema: TObject, value: unknown): unknown {
  refuseUnfit(checker, value);
  // TypeBox takes an exact number for an object.
  if (hasExact(value)) refuseUnfit(checker, rounded(value));
  return knownFields(schema, value);
}

function refuseUnfit(checker: Checker, value: unknown): void {
  if (!checker.Check(value)) throw invalid(fieldErrors(checker.Errors(value)));
}

/**
 * Drops null fields of a new object if they are optional and may not be null: clients send null for "not given". Fields
 * that may be null, or are required, are checked as they are.
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

/** The same for values that do not come from a request's body; compiled on first use. */
export function checkerOf<S extends TObject>(schema: S): (value: unknown) => Static<S> {
  let compiled: Checker | undefined;
  // `checkFields` throws if the value does not fit the schema.
  return (value) => checkFields((compiled ??= TypeCompiler.Compile(schema)), schema, value) as Static<S>;
}

function fieldErrors(errors: Iterable<ValueError>): Record<string, string[]> {
  const fields = new Map<string, string[]>();
  const seen = new Set<string>();
  for (const found of errors) {
    if (seen.has(found.path)) continue; // one message for each place: further ones only follow from it
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

/**
 * For a union such as text or null, reports what is wrong with the nearest member: the text's length, a list's element.
 */
function closest(error: ValueError): ValueError {
  if (error.type !== ValueErrorType.Union) return error;
  const first = error.errors.map((branch) => branch.First()).filter((one) => one !== undefined);
  const inside = first.filter((one) => one.path !== error.path);
  const found =
    first.find((one) => one.path === error.path && fits(one)) ?? (inside.length === 1 ? inside[0] : undefined);
  return found ? closest(found) : error;
}

/** Rewords TypeBox's error so that a caller can act on it. */
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
  const isLong = error.value instanceof ExactNumber && /number/.test(expected(schema));
  return `must be ${expected(schema)}${isLong ? " of at most 15 digits" : ""}`;
}

function wrongForm({ description, format }: ValueError["schema"]): string {
  const rule = typeof description === "string" ? description : formatRules.get(String(format));
  return rule === undefined ? "has the wrong form" : `must be ${rule}`;
}

/** Whether the value has the right type and only breaks one of its rules. A constant among several does not count. */
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

/** Reads JSON that is stored whole: like `readJson`, and 422 if PostgreSQL cannot store a part of it. */
export function parseJson(source: string): unknown {
  const value = readJson(source);
  if (mayBeUnstorable(source)) refuseUnstorable(value);
  return value;
}

/** Parses a request body, with all digits of its numbers; 400 if it is not JSON or nests deeper than 128 levels. */
export function readJson(source: string): unknown {
  const found = scanNumbers(source);
  if (found.depth > maxDepth) throw badRequest(`the body nests deeper than ${maxDepth} levels`);
  try {
    return parseScanned(source, found);
  } catch {
    throw badRequest("the body is not valid JSON");
  }
}

/** Whether `refuseUnstorable` might refuse a value of this JSON; if not, it need not be searched. */
export function mayBeUnstorable(source: string): boolean {
  // Such characters can only come from escapes: JSON forbids a raw NUL, and UTF-8 has no half pairs.
  // Only a number this long can be too large or too long to be kept, and would be stored as null.
  return /\\u(?:0000|d[89a-f])|\de[+-]?\d{3}/i.test(source) || hasDigits(source, 200);
}

/**
 * Whether there are `count` digits in a row. Such a run covers every `count`-th place, so only those are looked at:
 * anyone may send a body, and the pattern \d{200} would try two hundred characters from each place in it.
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

/**
 * Throws a 422 that names the place if a string or a key contains what PostgreSQL cannot store (NUL, half a surrogate
 * pair), or if a number was too large or too long to be kept.
 */
export function refuseUnstorable(value: unknown, place: readonly string[] = []): void {
  const refuse = (message: string) => {
    const [field = "base", ...inside] = fieldPlace(place);
    throw invalid({ [field]: [[inside.join("."), message].filter((part) => part !== "").join(" ")] });
  };
  if (typeof value === "string" && (value.includes("\0") || !value.isWellFormed()))
    refuse("has a character that cannot be stored");
  if (typeof value === "number" && !Number.isFinite(value))
    refuse(`is a number too ${Number.isNaN(value) ? "long" : "large"} to be kept`);
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    refuseUnstorable(key, [...place, key.replaceAll("\0", "")]);
    refuseUnstorable(inner, [...place, key]);
  }
}

/** 422 where a field is too long with its numbers written out: PostgreSQL prints `1e300` with 301 digits. */
export function refuseLong(fields: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(fields)) {
    const json = JSON.stringify(value);
    if (printedLength(json) <= Math.max(json.length, readBounds.bodyCharacters)) continue;
    const most = `may have at most ${readBounds.bodyCharacters} characters as JSON`;
    throw invalid({ [name]: [`${most}, with numbers written out (1e300 has 301)`] });
  }
}

/** A value's place, without the keys that wrap a record's fields. */
function fieldPlace(place: readonly string[]): readonly string[] {
  return place.length > 1 && place[0] === "data" ? place.slice(1) : place;
}
