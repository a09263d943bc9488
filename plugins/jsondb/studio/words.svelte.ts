/** The messages of these pages in the Studio's language. */
import { text } from "studio";
import { de } from "./text/de.ts";
import { en, type Texts, type Word } from "./text/en.ts";
import { pl } from "./text/pl.ts";

const all: Readonly<Record<"en" | "pl" | "de", Texts>> = { en, pl, de };

export function say(word: Word): string {
  return all[text.language][word];
}
