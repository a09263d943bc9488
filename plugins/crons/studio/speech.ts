/** A schedule in words: `0 7 * * *` is "At 07:00 AM". What cannot be read has none. */
import cronstrue from "cronstrue";

type Language = "en" | "pl" | "de";

const loaded = new Set<Language>(["en"]);

/** Loads the words of the language first; without them it speaks English. */
export async function speechIn(language: Language): Promise<(schedule: string) => string | undefined> {
  if (language === "pl") await import("cronstrue/locales/pl.js");
  if (language === "de") await import("cronstrue/locales/de.js");
  loaded.add(language);
  return (schedule) => wordsOf(schedule, loaded.has(language) ? language : "en");
}

function wordsOf(schedule: string, locale: Language): string | undefined {
  const fields = schedule.trim().split(" ").filter(Boolean);
  if (fields.length !== 5 || schedule.length > 200) return undefined;
  try {
    const words = cronstrue.toString(fields.join(" "), { locale, use24HourTimeFormat: locale !== "en" });
    return /undefined|NaN/.test(words) ? undefined : words;
  } catch {
    return undefined; // the server says what is wrong
  }
}
