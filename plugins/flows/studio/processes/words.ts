import { catalogue, ownOf } from "studio";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

export const { say, texts } = catalogue(en, pl, de);

/** What a word of the API means: a state, a kind of starter. What is not known stays as it is. */
export function named(word: string): string {
  return ownOf(texts(), word) ?? word;
}
