/** What the pages of links and new passwords say. */
import { languageOf, type Language } from "platform";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

export type Words = Readonly<typeof en> & { readonly language: Language };

export const allWords: Readonly<Record<Language, Words>> = {
  en: { ...en, language: "en" },
  pl: { ...pl, language: "pl" },
  de: { ...de, language: "de" },
};

export const wordsOf = ({ request }: { readonly request: Request }): Words => allWords[languageOf(request)];
