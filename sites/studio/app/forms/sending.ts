/** What a form sends. Pure. */
import { inputsOf, typed, type FormField, type Inputs } from "../resources/forms.ts";
import { same } from "./merge.ts";

interface Sent {
  readonly values: Readonly<Record<string, unknown>>;
  /** What cannot be read, by field. */
  readonly mistakes: Readonly<Record<string, "number" | "json">>;
}

/** All of a new record that says something, and what its schema requires; of a stored one what differs. */
export function sentOf(
  fields: readonly FormField[],
  inputs: Inputs,
  { record, isNew }: { readonly record: Readonly<Record<string, unknown>>; readonly isNew: boolean },
): Sent {
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
