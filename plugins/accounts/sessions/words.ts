/** The words of the pages to sign in and out by. */
import { filledIn, type Language } from "platform";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };
import secondDe from "./text/second-step/de.json" with { type: "json" };
import secondEn from "./text/second-step/en.json" with { type: "json" };
import secondPl from "./text/second-step/pl.json" with { type: "json" };

export type PageWords = Readonly<typeof en> & { readonly language: Language };

export const pageWords: Readonly<Record<Language, PageWords>> = {
  en: { ...en, language: "en" },
  pl: { ...pl, language: "pl" },
  de: { ...de, language: "de" },
};

/** The words of the pages of the second step. */
export type SecondWords = Readonly<typeof secondEn>;

export const secondWords: Readonly<Record<Language, SecondWords>> = { en: secondEn, pl: secondPl, de: secondDe };

/** After too many attempts, with the time to wait in words: `1 second`, `5 sekund`, `2 Sekunden`. */
export function waitText({ language, wait }: PageWords, seconds: string): string {
  const unit = { style: "unit", unit: "second", unitDisplay: "long" } as const;
  const counted = new Intl.NumberFormat(language, unit).format(Number(seconds));
  // The sentence needs the accusative, which differs for one second alone.
  return filledIn(wait, { seconds: counted.replace("sekunda", "sekundę") });
}
