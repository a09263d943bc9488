/** The settings of an account in words, and how each is chosen. What plugins from elsewhere declare is said as they say it. */
import type { Language } from "studio";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

const catalogues = { en, pl, de } as const;

export interface Setting {
  readonly name: string;
  readonly plugin: string;
  readonly doc: string;
  readonly value: string;
  readonly standard: string;
  readonly choices: readonly string[];
}

/** Those of one part of the page, in its order. */
export const parts = {
  signIn: ["second_factor", "password_min_length", "session_hours", "session_idle_minutes", "sign_in_alerts"].concat(
    "breached_passwords_url",
  ),
  log: ["activity_days", "activity_databases"],
  apps: ["app_origins"],
} as const;

/** They have a part of the page of their own. */
export const brand = ["brand_name", "brand_logo", "brand_hue", "brand_chroma"];

export function settingWords(
  { name, doc }: Pick<Setting, "name" | "doc">,
  label: string,
  language: Language,
): readonly [string, string] {
  const settings: Readonly<Record<string, readonly string[]>> = catalogues[language].settings;
  const [said = label, help = doc] = settings[name] ?? [];
  return [said, name in settings && help === doc ? "" : help];
}

/** A value of a setting that has only some; of a plugin from elsewhere as it is. */
export function choiceWords(value: string, language: Language): string {
  const choices: Readonly<Record<string, string>> = catalogues[language].choices;
  return choices[value] ?? value;
}

/** What is sent: null returns to the default, which an empty field stands for. */
export function sentOf({ standard }: Pick<Setting, "standard">, typed: string): string | null {
  return typed === "" || typed === standard ? null : typed;
}

/** The codes of tables that a setting names; `*` is all of them. */
export function codesIn(value: string): readonly string[] {
  return value
    .split(",")
    .map((code) => code.trim())
    .filter(Boolean);
}
