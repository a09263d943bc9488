/** Checks the params of a plugin's step in a program: constant values must fit the schema already. Pure. */
import { checkerOf, isObject, Type, ValidationError, type TObject, type TSchema } from "platform";
import { isTemplate } from "./template.ts";

export interface ParamMistake {
  /** Within the params: `.to[0]`. */
  readonly place: string;
  readonly message: string;
}

export function paramMistakes(schema: TObject, given: unknown): ParamMistake[] {
  if (given !== undefined && given !== null && !isObject(given)) return []; // reported already
  return objectMistakes(schema, given ?? {}, "", true);
}

function mistakesOf(schema: TSchema, value: unknown, place: string): ParamMistake[] {
  if (!hasTemplate(value)) return constantMistakes(schema, value, place);
  // A template is checked when the step runs; the constants beside it can be checked now.
  if (isObject(value)) return objectMistakes(schema, value, place, schema["additionalProperties"] === false);
  const items: unknown = schema["items"];
  if (!Array.isArray(value) || !isSchema(items)) return [];
  return value.flatMap((one, at) => mistakesOf(items, one, `${place}[${at}]`));
}

function objectMistakes(
  schema: TSchema,
  value: Readonly<Record<string, unknown>>,
  place: string,
  closed: boolean,
): ParamMistake[] {
  const properties: Readonly<Record<string, unknown>> = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
  const names = Object.keys(properties).join(", ");
  const unknown = names === "" ? "is unknown: the step takes no params" : `is unknown; the params are ${names}`;
  const missing = required.filter((key) => !Object.hasOwn(value, key));
  const inside = Object.entries(value).flatMap(([key, one]): ParamMistake[] => {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const here = `${place}.${key.slice(0, 60)}`;
    if (!isSchema(property)) return closed ? [{ place: here, message: unknown }] : [];
    return one === null && !required.includes(key) ? [] : mistakesOf(property, one, here);
  });
  return [...missing.map((key) => ({ place: `${place}.${key}`, message: "is required" })), ...inside];
}

function constantMistakes(schema: TSchema, value: unknown, place: string): ParamMistake[] {
  try {
    checkerOf(Type.Object({ value: schema }))({ value });
    return [];
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return (error.fields["value"] ?? []).map((message) => ({ place, message }));
  }
}

function hasTemplate(value: unknown): boolean {
  if (isTemplate(value)) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(hasTemplate);
}

function isSchema(value: unknown): value is TSchema {
  return isObject(value);
}
