/** Writes TypeBox's schemas for /openapi.json: named ones as references, unions of constants as lists. */
import { Kind, type TSchema } from "@sinclair/typebox";
import { isObject } from "../../base/values.ts";

type Json = Record<string, unknown>;

export type Schemas = ReturnType<typeof createSchemas>;

interface Component {
  readonly schema: TSchema;
  written: Json;
}

/** `always` are components even if no route shows them. */
export function createSchemas(always: readonly TSchema[]) {
  const components = new Map<string, Component>();

  const of = (schema: TSchema): Json => {
    if (schema.$id === undefined) return written(schema);
    const name = nameOf(components, schema, schema.$id);
    if (!components.has(name)) {
      const component: Component = { schema, written: {} };
      components.set(name, component); // before its parts, which may refer back to it
      const { $id: _, ...bare } = written(schema);
      component.written = bare;
    }
    return { $ref: `#/components/schemas/${name}` };
  };

  const written = (schema: TSchema): Json => choice(asMap(mapped(schema, part)));

  const part = (value: unknown, key: string): unknown => {
    if (key.startsWith("x-")) return told(value);
    const isMap = key === "properties" || key === "patternProperties";
    if (isMap && isObject(value)) return mapped(value, inner);
    if (key === "anyOf" && Array.isArray(value)) return value.map(inner);
    return key === "items" || key === "additionalProperties" ? inner(value) : value;
  };
  /** What forms are told may depend on plugins that are set up later: it is asked for only now. */
  const told = (value: unknown): unknown => {
    const given = typeof value === "function" ? value() : value;
    if (Array.isArray(given)) return given.map(told);
    if (!isObject(given)) return given;
    return isTypeBox(given) ? of(given) : mapped(given, told);
  };
  const inner = (value: unknown): unknown => (isSchema(value) ? of(value) : value);

  for (const schema of always) of(schema);
  return {
    of,
    /** All components so far, by name. */
    components: (): Json => {
      const sorted = [...components].toSorted(([a], [b]) => (a < b ? -1 : 1));
      return Object.fromEntries(sorted.map(([name, component]) => [name, component.written]));
    },
  };
}

/** If two plugins have chosen the same name, the second one gets a number. */
function nameOf(components: ReadonlyMap<string, Component>, schema: TSchema, wanted: string): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted}${n}`;
    const known = components.get(name)?.schema;
    if (!known || known === schema || JSON.stringify(known) === JSON.stringify(schema)) return name;
  }
}

/** A map with arbitrary keys. */
function asMap(schema: Json): Json {
  const { patternProperties, ...rest } = schema;
  if (!isObject(patternProperties)) return schema;
  return { ...rest, additionalProperties: Object.values(patternProperties)[0] };
}

/** A union of constants becomes an `enum`, and a type or null a list of two types. */
function choice(schema: Json): Json {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const flat = anyOf.flatMap((one: Json): Json[] => (Array.isArray(one["anyOf"]) ? one["anyOf"] : [one]));
  const others = flat.filter((one) => one["type"] !== "null");
  const nullable = others.length < flat.length;
  const values = others.flatMap((one): unknown[] => (Array.isArray(one["enum"]) ? one["enum"] : [one["const"]]));
  if (values.length > 0 && values.every((value) => typeof value === "string"))
    return { ...rest, type: nullable ? ["string", "null"] : "string", enum: nullable ? [...values, null] : values };
  const [one, ...more] = others;
  if (nullable && one && more.length === 0 && typeof one["type"] === "string")
    return { ...rest, ...one, type: [one["type"], "null"] };
  return { ...rest, anyOf: [...others, ...(nullable ? [{ type: "null" }] : [])] };
}

function mapped(of: object, change: (value: unknown, key: string) => unknown): Json {
  return Object.fromEntries(Object.entries(of).map(([key, value]) => [key, change(value, key)]));
}

function isTypeBox(value: object): value is TSchema {
  return Kind in value;
}

/** At the place of a schema, any object is one. */
function isSchema(value: unknown): value is TSchema {
  return isObject(value);
}
