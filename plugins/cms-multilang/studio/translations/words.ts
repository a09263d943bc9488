import { catalogue, text } from "studio";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

export const { texts } = catalogue(en, pl, de);

/** `fr` -> `French`, in the Studio's language. */
export function languageName(locale: string): string {
  const name = new Intl.DisplayNames([text.language], { type: "language" }).of(locale) ?? locale;
  return name.charAt(0).toLocaleUpperCase(text.language) + name.slice(1);
}
