import { text, type Language } from "../state/text.svelte.ts";
import { de, en, pl, type Messages } from "./text.ts";

const all: Readonly<Record<Language, Messages>> = { en, pl, de };

/** What the dialog says, in the language of the person. */
export function messages(): Messages {
  return all[text.language];
}
