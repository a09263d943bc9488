/** What the pages of providers say. */
import type { Language } from "platform";
import type { Reason } from "./refusal.ts";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

export type Words = Readonly<typeof en> & {
  readonly language: Language;
  readonly reasons: Readonly<Record<Reason, string>>;
};

export const allWords: Readonly<Record<Language, Words>> = {
  en: { ...en, language: "en" },
  pl: { ...pl, language: "pl" },
  de: { ...de, language: "de" },
};
