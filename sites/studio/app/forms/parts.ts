/** The known parts of a JSON object, each with an input of its own: the `program` in the `fields` of a flow. */
import { parseJson } from "../server/exact.ts";
import { inputsOf, typed, type FormField, type Input, type Inputs } from "../resources/forms.ts";
import type { Schema } from "../resources/openapi.ts";
import { isMap, textOf } from "../resources/values.ts";
import { same } from "./merge.ts";

type Values = Readonly<Record<string, unknown>>;

/** The schema of an object whose parts depend on another field of the form; none if nothing is known of it. */
export function partsFor({ parts }: FormField, inputs: Inputs): Schema {
  const chosen = parts?.field === undefined ? "" : textOf(inputs[parts.field]);
  const schemas = parts?.schemas ?? {};
  return schemas[chosen] ?? (chosen === "" ? Object.values(schemas)[0] : undefined) ?? {};
}

/** The object in a text; undefined if it is none. An empty text is an empty object. */
export function objectIn(text: string): Values | undefined {
  if (text.trim() === "") return {};
  try {
    const value = parseJson(text);
    return isMap(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What the inputs of the parts show, and under "" the JSON of everything else. */
export function split(fields: readonly FormField[], whole: Values): Record<string, Input> {
  const named = new Set(fields.map(({ name }) => name));
  const rest = Object.entries(whole).filter(([name]) => !named.has(name));
  return {
    ...inputsOf(fields, whole),
    "": rest.length > 0 ? JSON.stringify(Object.fromEntries(rest), null, 2) : "",
  };
}

/**
 * The text of the whole object, in the order of `before`. A part that is no JSON yet stands in it as it was typed, so that
 * the whole is none either and is not sent.
 */
export function joined(fields: readonly FormField[], before: Values, inputs: Inputs): string {
  const rest = objectIn(textOf(inputs[""]));
  if (!rest) return textOf(inputs[""]);
  const texts = new Map<string, string>();
  const named = new Map(fields.map((field) => [field.name, field]));
  for (const name of new Set([...Object.keys(before), ...named.keys(), ...Object.keys(rest)])) {
    const field = named.get(name);
    const json = field ? jsonOf(field, inputs[name] ?? "", before[name]) : JSON.stringify(rest[name], null, 2);
    if (json !== undefined) texts.set(name, json);
  }
  const text = `{${[...texts].map(([name, json]) => `${JSON.stringify(name)}: ${json}`).join(",\n")}}`;
  const whole = objectIn(text);
  return whole ? JSON.stringify(whole, null, 2) : text;
}

/** Undefined where nothing is said: an empty part is left out. */
function jsonOf(field: FormField, input: Input, before: unknown): string | undefined {
  const result = typed(field, input);
  if ("mistake" in result) return textOf(input);
  const { value } = result;
  const isEmpty = value === undefined || value === null || value === "" || (value === false && before === undefined);
  return isEmpty ? undefined : JSON.stringify(value, null, 2);
}

// What a form sends. Pure.

interface FormPayload {
  readonly values: Readonly<Record<string, unknown>>;
  /** What cannot be read, by field. */
  readonly mistakes: Readonly<Record<string, "number" | "json">>;
}

/** All of a new record that says something, and what its schema requires; of a stored one what differs. */
export function sentOf(
  fields: readonly FormField[],
  inputs: Inputs,
  { record, isNew }: { readonly record: Readonly<Record<string, unknown>>; readonly isNew: boolean },
): FormPayload {
  const before = inputsOf(fields, record);
  const mistakes: Record<string, "number" | "json"> = {};
  const values: Record<string, unknown> = {};
  for (const field of fields) {
    const input = inputs[field.name] ?? "";
    // What only the writer requires is left out, so that it can name all that is missing at once.
    const isAsked = isNew && field.required && !field.instead;
    if (same(input, before[field.name]) && !isAsked) continue;
    const result = typed(field, input);
    if ("mistake" in result) mistakes[field.name] = result.mistake;
    else if (result.value !== undefined) values[field.name] = result.value;
  }
  return { values, mistakes };
}
