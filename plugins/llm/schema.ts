/**
 * Checks a model's answer against a JSON Schema: the common part of the standard, without references and patterns. Pure.
 *
 *     schemaMistake({ type: "object", required: ["city"] }); // undefined: the schema can be used
 *     answerMistake({ type: "object", required: ["city"] }, {}); // "city is required"
 */
import { ExactNumber, isNumber, isObject } from "platform";

export type Schema = Readonly<Record<string, unknown>>;

const types = ["object", "array", "string", "number", "integer", "boolean", "null"];
const maxDepth = 32;
const maxParts = 500;
/** They say something about a value, but constrain nothing. */
const notes = ["title", "description", "default", "examples", "$schema", "$id", "$comment", "format", "deprecated"];
const numbers = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
const counts = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];

/**
 * What is wrong with a schema, with its place; undefined if answers can be checked by it. `further` keywords are taken
 * as they are.
 */
export function schemaMistake(schema: unknown, further: readonly string[] = []): string | undefined {
  let parts = 0;
  const look = (given: unknown, at: string, depth: number): string | undefined => {
    parts += 1;
    if (depth > maxDepth) return `${at} is nested deeper than ${maxDepth} levels`;
    if (parts > maxParts) return `has more than ${maxParts} parts`;
    if (typeof given === "boolean") return undefined;
    if (!isObject(given)) return `${at} must be a schema`;
    for (const [key, value] of Object.entries(given)) {
      const wrong = further.includes(key) ? undefined : keywordMistake(key, value);
      if (wrong !== undefined) return `${at}.${key} ${wrong}`;
    }
    for (const [place, part] of partsOf(given)) {
      const wrong = look(part, `${at}.${place}`, depth + 1);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  };
  return look(schema, "schema", 0);
}

function keywordMistake(key: string, value: unknown): string | undefined {
  if (notes.includes(key) || key === "const") return undefined;
  if (key === "type") {
    const given: unknown[] = Array.isArray(value) ? value : [value];
    return given.length > 0 && given.every((one) => typeof one === "string" && types.includes(one))
      ? undefined
      : `must be of ${types.join(", ")}`;
  }
  if (key === "enum") return Array.isArray(value) && value.length <= maxParts ? undefined : "must be a list of values";
  if (key === "required")
    return Array.isArray(value) && value.every((one) => typeof one === "string")
      ? undefined
      : "must be a list of names";
  if (numbers.includes(key)) return typeof value === "number" ? undefined : "must be a number";
  if (counts.includes(key))
    return typeof value === "number" && Number.isInteger(value) && value >= 0 ? undefined : "must be a whole number";
  if (key === "properties") return isObject(value) ? undefined : "must be an object of schemas";
  if (key === "anyOf" || key === "oneOf" || key === "allOf")
    return Array.isArray(value) && value.length > 0 ? undefined : "must be a list of schemas";
  if (key === "items" || key === "additionalProperties") return undefined;
  return "is not supported here";
}

function partsOf(schema: Schema): [place: string, part: unknown][] {
  const list = (key: string) => {
    const value = schema[key];
    return Array.isArray(value) ? value.map((part: unknown, at): [string, unknown] => [`${key}.${at}`, part]) : [];
  };
  const properties = isObject(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  return [
    ...properties.map(([name, part]): [string, unknown] => [`properties.${name}`, part]),
    ...["items", "additionalProperties"].flatMap((key): [string, unknown][] =>
      schema[key] === undefined ? [] : [[key, schema[key]]],
    ),
    ...list("anyOf"),
    ...list("oneOf"),
    ...list("allOf"),
  ];
}

/** The first mistake of a value, with its place; undefined if it fits. `schema` has no mistakes. */
export function answerMistake(schema: unknown, value: unknown, at = ""): string | undefined {
  if (schema === false) return `${named(at)} must not be there`;
  if (!isObject(schema)) return undefined;
  return (
    typeMistake(schema, value, at) ??
    rangeMistake(schema, value, at) ??
    choiceMistake(schema, value, at) ??
    (Array.isArray(value) ? itemsMistake(schema, value, at) : undefined) ??
    (isObject(value) ? propertiesMistake(schema, value, at) : undefined)
  );
}

function named(at: string): string {
  return at === "" ? "the answer" : at;
}

function typeMistake(schema: Schema, value: unknown, at: string): string | undefined {
  const { type } = schema;
  if (type === undefined) return undefined;
  const allowed: unknown[] = Array.isArray(type) ? type : [type];
  const actual = typeOf(value);
  const fits = allowed.includes(actual) || (actual === "integer" && allowed.includes("number"));
  return fits ? undefined : `${named(at)} must be of type ${allowed.join(" or ")}, not ${actual}`;
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (isNumber(value)) return Number.isInteger(value) || /^-?\d+$/.test(String(value)) ? "integer" : "number";
  return typeof value;
}

function choiceMistake(schema: Schema, value: unknown, at: string): string | undefined {
  const same = (other: unknown) => isSame(other, value);
  const { enum: values, const: only, anyOf, oneOf, allOf } = schema;
  if (Array.isArray(values) && !values.some(same)) return `${named(at)} must be one of ${JSON.stringify(values)}`;
  if ("const" in schema && !same(only)) return `${named(at)} must be ${JSON.stringify(only)}`;
  const fitting = (list: unknown) =>
    Array.isArray(list) ? list.filter((one) => answerMistake(one, value, at) === undefined).length : 1;
  if (fitting(anyOf) === 0) return `${named(at)} fits none of anyOf`;
  if (fitting(oneOf) !== 1) return `${named(at)} must fit exactly one of oneOf`;
  if (!Array.isArray(allOf)) return undefined;
  return firstOf(allOf, (one) => answerMistake(one, value, at));
}

/** Whether two JSON values are equal; the order of an object's names does not matter. */
function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) || Array.isArray(other))
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((value, at) => isSame(value, other[at]))
    );
  if (one instanceof ExactNumber) return one.equals(other);
  if (!isObject(one) || !isObject(other)) return one === other;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  );
}

function rangeMistake(schema: Schema, value: unknown, at: string): string | undefined {
  const is = (key: string, fits: (limit: number) => boolean) => {
    const limit = schema[key];
    return typeof limit !== "number" || fits(limit) ? undefined : `${named(at)} breaks ${key} ${limit}`;
  };
  if (isNumber(value)) {
    const to = (limit: number) => (typeof value === "number" ? value - limit : value.compare(limit));
    return (
      is("minimum", (limit) => to(limit) >= 0) ??
      is("maximum", (limit) => to(limit) <= 0) ??
      is("exclusiveMinimum", (limit) => to(limit) > 0) ??
      is("exclusiveMaximum", (limit) => to(limit) < 0)
    );
  }
  const size = sizeOf(value);
  if (!size) return undefined;
  const [of, count] = size;
  return is(`min${of}`, (limit) => count >= limit) ?? is(`max${of}`, (limit) => count <= limit);
}

function sizeOf(value: unknown): [of: string, count: number] | undefined {
  if (typeof value === "string") return ["Length", value.length];
  if (Array.isArray(value)) return ["Items", value.length];
  return isObject(value) ? ["Properties", Object.keys(value).length] : undefined;
}

function itemsMistake({ items }: Schema, value: readonly unknown[], at: string): string | undefined {
  if (items === undefined) return undefined;
  return firstOf([...value.entries()], ([index, one]) => answerMistake(items, one, `${at}[${index}]`));
}

function propertiesMistake(schema: Schema, value: Schema, at: string): string | undefined {
  const { required, properties, additionalProperties: others } = schema;
  const pathOf = (name: string) => (at === "" ? name : `${at}.${name}`);
  if (Array.isArray(required)) {
    const missing: unknown = required.find((name) => typeof name === "string" && !Object.hasOwn(value, name));
    if (typeof missing === "string") return `${pathOf(missing)} is required`;
  }
  const known = isObject(properties) ? properties : {};
  return firstOf(Object.entries(value), ([name, one]) =>
    answerMistake(Object.hasOwn(known, name) ? known[name] : others, one, pathOf(name)),
  );
}

function firstOf<T>(list: readonly T[], mistakeOf: (one: T) => string | undefined): string | undefined {
  for (const one of list) {
    const mistake = mistakeOf(one);
    if (mistake !== undefined) return mistake;
  }
  return undefined;
}
