/** What people call choices: a text that is the label of one, in any language, stands for its value. Pure. */
import type { Choice, Field } from "./kinds.ts";

export const choiceColors = ["red", "orange", "amber", "green", "teal", "sky", "indigo", "plum", "pink"] as const;
/** Neighbours differ, and those that people read as good or bad come last. */
const inTurn = ["sky", "plum", "teal", "orange", "indigo", "pink", "amber", "green", "red"] as const;

/** The colour of a new choice, by its place. */
export function colorAt(place: number): string {
  return inTurn[place % inTurn.length] ?? "sky";
}

/** One a value, each in another colour than the one before. */
export function withColors(values: readonly string[], from = 0): { value: string; color: string }[] {
  const all = [...new Set(values.map((value) => value.trim()).filter((value) => value !== ""))];
  return all.map((value, at) => ({ value, color: colorAt(from + at) }));
}

/** The value with labels, also those in a list, replaced by what they stand for. */
export type ChoiceReader = (value: unknown) => unknown;

export function choiceReader({ choices = [] }: Pick<Field, "choices">): ChoiceReader {
  const values = new Set<unknown>(choices.map(({ value }) => value));
  const labels = labelsOf(choices);
  const one = (item: unknown) =>
    typeof item === "string" && !values.has(item) ? (labels.get(folded(item)) ?? item) : item;
  return (value) => (Array.isArray(value) ? value.map(one) : one(value));
}

/** Without those that several choices have. A value stands for itself however it is capitalised. */
function labelsOf(choices: readonly Choice[]): ReadonlyMap<string, string | number> {
  const found = new Map<string, string | number | undefined>();
  for (const { value, label = {} } of choices)
    for (const text of new Set((typeof label === "string" ? [label] : Object.values(label)).map(folded)))
      found.set(text, found.has(text) && found.get(text) !== value ? undefined : value);
  const own = Map.groupBy(choices, ({ value }) => folded(String(value)));
  for (const [text, [first, second]] of own)
    if (!found.has(text) && typeof first?.value === "string") found.set(text, second ? undefined : first.value);
  return new Map([...found].flatMap(([text, value]) => (value === undefined ? [] : [[text, value]])));
}

/** Without capitals and blanks around it. */
export function folded(text: string): string {
  return text.trim().normalize("NFC").toLowerCase();
}
