/** TypeBox's schemas as /openapi.json writes them: named ones as references, choices as lists. */
import type { TSchema } from "@sinclair/typebox";

type Json = Record<string, unknown>;

export type Schemas = ReturnType<typeof createSchemas>;

/** `always` are components whether or not a route shows them. */
export function createSchemas(always: readonly TSchema[]) {
  const named = new Map<string, { readonly schema: TSchema; written: Json }>();

  const of = (schema: TSchema): Json => {
    const { $id } = schema;
    if ($id === undefined) return written(schema);
    const known = named.get($id);
    if (known && known.schema !== schema) throw new Error(`two schemas have the name ${$id}`);
    if (!known) {
      const entry = { schema, written: {} };
      named.set($id, entry); // before its parts: they may lead back to it
      const { $id: _, ...bare } = written(schema);
      entry.written = bare;
    }
    return { $ref: `#/components/schemas/${$id}` };
  };

  const written = (schema: TSchema): Json => {
    const all: Json = {};
    for (const [key, value] of Object.entries(schema)) all[key] = part(key, value);
    return choice(asMap(all));
  };

  const part = (key: string, value: unknown): unknown => {
    if (key === "properties" || key === "patternProperties") return mapped(value, (inner) => of(inner as TSchema));
    if (key === "anyOf" || key === "allOf") return (value as TSchema[]).map(of);
    if ((key === "items" || key === "additionalProperties") && isObject(value)) return of(value as TSchema);
    return value;
  };

  for (const schema of always) of(schema);
  return {
    of,
    /** All that were shown so far, by name. */
    components: (): Json =>
      Object.fromEntries(
        [...named].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, entry]) => [name, entry.written]),
      ),
  };
}

/** A map of whatever keys. */
function asMap(schema: Json): Json {
  const { patternProperties, ...rest } = schema;
  if (!isObject(patternProperties)) return schema;
  return { ...rest, additionalProperties: Object.values(patternProperties)[0] };
}

/** Constants to choose from are an `enum`, and a type or null is one of two types. */
function choice(schema: Json): Json {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const isNull = (one: Json) => one["type"] === "null";
  const flat = anyOf.flatMap((one: Json): Json[] => (Array.isArray(one["anyOf"]) ? one["anyOf"] : [one]));
  const nullable = flat.some(isNull);
  const others = flat.filter((one) => !isNull(one));
  const values = others.flatMap((one): unknown[] => (Array.isArray(one["enum"]) ? one["enum"] : [one["const"]]));
  const constants = values.every((value) => typeof value === "string");
  if (constants && nullable) return { ...rest, type: ["string", "null"], enum: [...values, null] };
  if (constants) return { ...rest, type: "string", enum: values };
  const [one, ...more] = others;
  if (nullable && one && more.length === 0 && typeof one["type"] === "string")
    return { ...rest, ...one, type: [one["type"], "null"] };
  return { ...rest, anyOf: [...others, ...(nullable ? [{ type: "null" }] : [])] };
}

function mapped(value: unknown, change: (inner: unknown) => unknown): Json {
  return Object.fromEntries(Object.entries(Object(value)).map(([key, inner]) => [key, change(inner)]));
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
