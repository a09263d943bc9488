/** What an empty list begins with: an example that fills the form, and the same as a request. Pure. */
import { ownOf } from "./values.ts";

type Values = Readonly<Record<string, unknown>>;
type Titles = Readonly<Record<"en" | "pl" | "de", string>>;

/** One for each list, by its path in the API, in `plugins/<name>/studio/examples.json`. */
export interface Example {
  /** What it makes, in a few words. */
  readonly says: Titles;
  /** The fields of the new thing that are the same in every language. */
  readonly fields?: Values;
  /** And those that people read. */
  readonly words?: Readonly<Record<"en" | "pl" | "de", Values>>;
  /** What the address of the form says instead of `fields`, where the form asks for something else. */
  readonly form?: Values;
  /** It belongs to one of another list: what each of its fields takes from the first one there. */
  readonly needs?: { readonly path: string; readonly fields: Readonly<Record<string, string>> };
}

export type Examples = Readonly<Record<string, Example>>;

/** The new thing, in a language. `first` is the first one of the list that the example needs. */
export function exampleValues(
  { fields = {}, words, needs }: Example,
  language: keyof Titles,
  first: Values = {},
): Values {
  const taken = Object.entries(needs?.fields ?? {}).map(([field, value]) => [field, ownOf(first, value)]);
  return { ...fields, ...words?.[language], ...Object.fromEntries(taken) };
}

/** The address of the form below `list`, with an example in it. */
export function exampleAddress(list: string, values: Values): string {
  const query = Object.entries(values).map(([name, value]): [string, string] => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return `${list}/new?${new URLSearchParams(query)}`;
}
