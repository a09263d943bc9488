/** The settings of an account in words, and how each is chosen. What plugins from elsewhere declare is said as they say it. */
import type { Language } from "studio";

export interface Setting {
  readonly name: string;
  readonly plugin: string;
  readonly doc: string;
  readonly value: string;
  readonly standard: string;
  readonly choices: readonly string[];
}

type Words = Readonly<Record<Language, readonly [label: string, help?: string]>>;

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

const all: Readonly<Record<string, Words>> = {
  password_min_length: {
    en: ["Least characters of a password", "Counts for new passwords."],
    pl: ["Najmniej znaków hasła", "Liczy się przy nowych hasłach."],
    de: ["Mindestlänge von Passwörtern", "Gilt für neue Passwörter."],
  },
  breached_passwords_url: {
    en: [
      "List of stolen passwords",
      "New passwords are looked up there by the first 5 signs of their SHA-1, e.g. https://api.pwnedpasswords.com/range/. Empty: they are not looked up.",
    ],
    pl: [
      "Lista skradzionych haseł",
      "Nowe hasła są tam szukane po pierwszych 5 znakach ich SHA-1, np. https://api.pwnedpasswords.com/range/. Puste pole: nie są szukane.",
    ],
    de: [
      "Liste gestohlener Passwörter",
      "Neue Passwörter werden dort nach den ersten 5 Zeichen ihres SHA-1 gesucht, z. B. https://api.pwnedpasswords.com/range/. Leer: keine Suche.",
    ],
  },
  second_factor: {
    en: ["Second factor", "Whoever has to have one sets it up at the next sign-in."],
    pl: ["Drugi składnik", "Kto musi go mieć, ustawia go przy następnym logowaniu."],
    de: ["Zweiter Faktor", "Wer einen haben muss, richtet ihn bei der nächsten Anmeldung ein."],
  },
  session_hours: {
    en: ["Hours until one signs in again", "Counts for sessions that begin from now on."],
    pl: ["Godziny do ponownego logowania", "Liczy się dla sesji, które zaczną się od teraz."],
    de: ["Stunden bis zur nächsten Anmeldung", "Gilt für Sitzungen, die von jetzt an beginnen."],
  },
  session_idle_minutes: {
    en: ["Minutes without work after which a session ends", "5 or more. 0: only after its hours."],
    pl: ["Minuty bezczynności, po których kończy się sesja", "Co najmniej 5. 0: dopiero po jej godzinach."],
    de: ["Minuten ohne Arbeit, nach denen eine Sitzung endet", "Mindestens 5. 0: erst nach ihren Stunden."],
  },
  sign_in_alerts: {
    en: ["Mail people who sign in from a new browser", "Where mail is set up."],
    pl: ["Wysyłaj wiadomość po logowaniu z nowej przeglądarki", "Jeśli poczta jest skonfigurowana."],
    de: ["E-Mail nach einer Anmeldung mit einem neuen Browser", "Wenn E-Mail eingerichtet ist."],
  },
  activity_days: {
    en: ["Days that activity is kept"],
    pl: ["Ile dni przechowywać aktywność"],
    de: ["Wie viele Tage die Aktivität aufbewahrt wird"],
  },
  activity_databases: {
    en: [
      "Tables whose records are noted too",
      "Changes of records are noted for these alone: it costs time with each change.",
    ],
    pl: [
      "Tabele, których rekordy też są notowane",
      "Zmiany rekordów są notowane tylko dla nich: każda zmiana trwa przez to dłużej.",
    ],
    de: [
      "Tabellen, deren Einträge auch notiert werden",
      "Änderungen von Einträgen werden nur für diese notiert: jede Änderung dauert dadurch länger.",
    ],
  },
  app_origins: {
    en: [
      "Other addresses that apps may show pictures and fonts from",
      "https addresses, separated by commas, e.g. https://cdn.example.com",
    ],
    pl: [
      "Inne adresy, z których aplikacje mogą pokazywać obrazy i czcionki",
      "Adresy https po przecinku, np. https://cdn.example.com",
    ],
    de: [
      "Andere Adressen, von denen Apps Bilder und Schriften zeigen dürfen",
      "https-Adressen, durch Kommas getrennt, z. B. https://cdn.example.com",
    ],
  },
};

export function settingWords(
  { name, doc }: Pick<Setting, "name" | "doc">,
  label: string,
  language: Language,
): readonly [string, string] {
  const [said = label, help = doc] = all[name]?.[language] ?? [];
  return [said, name in all && help === doc ? "" : help];
}

const choices: Readonly<Record<Language, Readonly<Record<string, string>>>> = {
  en: { true: "yes", false: "no", optional: "nobody has to", admins: "administrators", everybody: "everybody" },
  pl: { true: "tak", false: "nie", optional: "nikt nie musi", admins: "administratorzy", everybody: "wszyscy" },
  de: { true: "ja", false: "nein", optional: "niemand muss", admins: "Administratoren", everybody: "alle" },
};

/** A value of a setting that has only some; of a plugin from elsewhere as it is. */
export const choiceWords = (value: string, language: Language): string => choices[language][value] ?? value;

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
