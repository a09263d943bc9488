/** The messages of these pages in the Studio's language. */
import { text } from "studio";
import { de, en, pl, type Texts } from "./text.ts";

const all: Readonly<Record<"en" | "pl" | "de", Texts>> = { en, pl, de };

export function texts(): Texts {
  return all[text.language];
}

/** `fr` -> `French`, in the Studio's language. */
export function languageName(locale: string): string {
  const name = new Intl.DisplayNames([text.language], { type: "language" }).of(locale) ?? locale;
  return name.charAt(0).toLocaleUpperCase(text.language) + name.slice(1);
}
