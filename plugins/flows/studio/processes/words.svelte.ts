/** The messages of these pages in the Studio's language. */
import { filledIn, text } from "studio";
import { de, en, pl, type Texts, type Word } from "./text.ts";

const all: Readonly<Record<"en" | "pl" | "de", Texts>> = { en, pl, de };

export function say(word: Word, values: Readonly<Record<string, string>> = {}): string {
  return filledIn(all[text.language][word], values);
}

/** What a word of the API means: a state, a kind of starter. What is not known stays as it is. */
export function named(word: string): string {
  return Object.hasOwn(en, word) ? all[text.language][word as Word] : word;
}
