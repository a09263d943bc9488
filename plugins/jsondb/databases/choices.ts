/** What people call choices: a text that is the label of one, in any language, stands for its value. Pure. */
import type { Choice, Field } from "./kinds.ts";

/** The value with labels, also those in a list, replaced by what they stand for. */
export type ChoiceReader = (value: unknown) => unknown;

export function choiceReader({ choices = [] }: Pick<Field, "choices">): ChoiceReader {
  const values = new Set<unknown>(choices.map(({ value }) => value));
  const labels = labelsOf(choices);
  const one = (item: unknown) =>
    typeof item === "string" && !values.has(item) ? (labels.get(folded(item)) ?? item) : item;
  return (value) => (Array.isArray(value) ? value.map(one) : one(value));
}

/** Without those that several choices have. */
function labelsOf(choices: readonly Choice[]): ReadonlyMap<string, string | number> {
  const found = new Map<string, string | number | undefined>();
  for (const { value, label = {} } of choices)
    for (const text of new Set((typeof label === "string" ? [label] : Object.values(label)).map(folded)))
      found.set(text, found.has(text) && found.get(text) !== value ? undefined : value);
  return new Map([...found].flatMap(([text, value]) => (value === undefined ? [] : [[text, value]])));
}

function folded(text: string): string {
  return text.trim().normalize("NFC").toLowerCase();
}
