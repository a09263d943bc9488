/** The messages of these pages in the Studio's language. */
import { text } from "studio";
import { de, en, pl, type Texts } from "./text.ts";

const all: Readonly<Record<"en" | "pl" | "de", Texts>> = { en, pl, de };

export function texts(): Texts {
  return all[text.language];
}
