/** The messages of the pages of flows in the Studio's language. */
import { filledIn, text, textOf } from "studio";
import { de } from "../text/flow-de.ts";
import { en, type Texts, type Word } from "../text/flow.ts";
import { pl } from "../text/flow-pl.ts";
import { kindOf } from "./kinds.ts";
import { isStep } from "./tree.ts";

const all: Readonly<Record<"en" | "pl" | "de", Texts>> = { en, pl, de };

export function say(word: Word, values: Readonly<Record<string, string>> = {}): string {
  return filledIn(all[text.language][word], values);
}

/** The kind of a step in words; a plugin's own by its type. */
export function sayKind(step: unknown): string {
  const kind = kindOf(step);
  if (kind && kind !== "own") return say(`${kind}Kind`);
  return (isStep(step) && textOf(step["type"])) || say("noStep");
}
