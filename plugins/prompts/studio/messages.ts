import { text, type Language } from "studio";
import { de, en, pl, type Messages } from "./text.ts";

const all: Readonly<Record<Language, Messages>> = { en, pl, de };

/** What the pages say, in the language of the person. */
export function messages(): Messages {
  return all[text.language];
}
