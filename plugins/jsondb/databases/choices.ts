/**
 * What people call choices: a text that is the label of one, in any language, stands for its value. And what becomes of the
 * columns of a file: choices in colours, and other kinds of fields. The Studio reads it too. Pure.
 */
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

/** What the values of a column are beyond their type. */
export const kinds = ["money", "percent", "email", "url", "phone", "rating", "choice", "user"] as const;
export type ColumnKind = (typeof kinds)[number];

const typesOf: Readonly<Record<ColumnKind, readonly string[]>> = {
  money: ["number"],
  percent: ["number"],
  email: ["string", "text"],
  url: ["string", "text"],
  phone: ["string", "text"],
  rating: ["integer"],
  choice: ["string", "list"],
  user: ["integer", "list"],
};

export function isKindOf(kind: string | undefined, type: string): kind is ColumnKind {
  const known = kinds.find((one) => one === kind);
  return known !== undefined && typesOf[known].includes(type);
}

/** Of a choice. */
export const mostValues = 200;

interface Told {
  readonly type?: string | undefined;
  readonly kind?: string | undefined;
  readonly currency?: string | undefined;
}

interface Options {
  readonly format?: Exclude<ColumnKind, "choice">;
  readonly currency?: string;
  readonly choices?: readonly object[];
}

/** `told`: the format of the column. Where it says the type, an amount is money only if its kind says so. */
export function optionsOf(type: string, { type: said, kind, currency }: Told, values: readonly string[]): Options {
  const isMoney = kind === "money" || (said === undefined && kind !== "percent");
  if (type === "number" && isMoney && currency !== undefined) return { format: "money", currency };
  if (!isKindOf(kind, type) || kind === "money") return {};
  return kind === "choice" ? { choices: withColors(values) } : { format: kind };
}
