/** The settings of the built-in plugins in other languages than English, in which the plugins declare them. */
import type { Language } from "studio";

export interface SettingWords {
  readonly label: string;
  readonly doc: string;
}

const all: Readonly<Record<string, Readonly<Record<"pl" | "de", SettingWords>>>> = {
  password_min_length: {
    pl: { label: "Najmniejsza długość hasła", doc: "Najmniej znaków nowego hasła" },
    de: { label: "Mindestlänge von Passwörtern", doc: "Wie viele Zeichen ein neues Passwort mindestens hat" },
  },
  breached_passwords_url: {
    pl: {
      label: "Lista skradzionych haseł",
      doc: "Adres listy, na której sprawdza się nowe hasła po pierwszych 5 znakach ich SHA-1, np. https://api.pwnedpasswords.com/range/; puste = żadna",
    },
    de: {
      label: "Liste gestohlener Passwörter",
      doc: "Adresse einer Liste, in der neue Passwörter nach den ersten 5 Zeichen ihres SHA-1 gesucht werden, z. B. https://api.pwnedpasswords.com/range/; leer = keine",
    },
  },
  second_factor: {
    pl: {
      label: "Drugi składnik",
      doc: "Kto musi mieć drugi składnik i ustawia go przy następnym logowaniu: optional (nikt), admins (administratorzy) lub everybody (wszyscy)",
    },
    de: {
      label: "Zweiter Faktor",
      doc: "Wer einen zweiten Faktor haben muss und ihn bei der nächsten Anmeldung einrichtet: optional (niemand), admins (Administratoren) oder everybody (alle)",
    },
  },
  session_hours: {
    pl: { label: "Godziny sesji", doc: "Po ilu godzinach kończy się sesja" },
    de: { label: "Stunden einer Sitzung", doc: "Nach wie vielen Stunden eine Sitzung endet" },
  },
  session_idle_minutes: {
    pl: {
      label: "Minuty bezczynności sesji",
      doc: "Po ilu minutach bez żądania kończy się sesja, co najmniej 5; 0 = dopiero po jej godzinach",
    },
    de: {
      label: "Minuten ohne Anfrage",
      doc: "Nach wie vielen Minuten ohne Anfrage eine Sitzung endet, mindestens 5; 0 = erst nach ihren Stunden",
    },
  },
  sign_in_alerts: {
    pl: {
      label: "Wiadomości o logowaniu",
      doc: "Czy osoba dostaje wiadomość, gdy loguje się z nowej przeglądarki, jeśli poczta jest skonfigurowana",
    },
    de: {
      label: "E-Mails über Anmeldungen",
      doc: "Ob jemand eine E-Mail bekommt, der sich mit einem neuen Browser anmeldet, wenn E-Mail eingerichtet ist",
    },
  },
  activity_days: {
    pl: { label: "Dni dziennika aktywności", doc: "Ile dni wstecz sięga dziennik aktywności" },
    de: { label: "Tage des Protokolls", doc: "Wie viele Tage das Aktivitätsprotokoll zurückreicht" },
  },
  app_origins: {
    pl: {
      label: "Obce adresy w aplikacjach",
      doc: "Adresy (https), z których aplikacje mogą pokazywać obrazy, czcionki, style i multimedia, po przecinku, np. https://cdn.example.com",
    },
    de: {
      label: "Fremde Adressen in Apps",
      doc: "Adressen (https), von denen Apps Bilder, Schriften, Stile und Medien zeigen dürfen, durch Kommas getrennt, z. B. https://cdn.example.com",
    },
  },
  activity_databases: {
    pl: {
      label: "Bazy danych w dzienniku",
      doc: "Kody baz danych, których zmiany rekordów są zapisywane, po przecinku; `*` = wszystkie",
    },
    de: {
      label: "Datenbanken im Protokoll",
      doc: "Codes der Datenbanken, deren geänderte Datensätze protokolliert werden, durch Kommas getrennt; `*` = alle",
    },
  },
  brand_logo: {
    pl: { label: "Logo konta", doc: "Identyfikator obrazu spośród plików konta" },
    de: { label: "Logo des Kontos", doc: "Die Kennung eines Bildes aus den Dateien des Kontos" },
  },
  brand_hue: {
    pl: { label: "Odcień koloru konta", doc: "Od 0 do 360" },
    de: { label: "Farbton des Kontos", doc: "Von 0 bis 360" },
  },
  brand_chroma: {
    pl: { label: "Nasycenie koloru konta", doc: "Od 0 do 0.14" },
    de: { label: "Sättigung der Farbe des Kontos", doc: "Von 0 bis 0.14" },
  },
};

/** As the plugin declares them where there are no others. */
export function settingWords(name: string, declared: SettingWords, language: Language): SettingWords {
  return language === "en" ? declared : (all[name]?.[language] ?? declared);
}

const choices: Readonly<Record<Language, Readonly<Record<string, string>>>> = {
  en: { true: "yes", false: "no" },
  pl: { true: "tak", false: "nie", optional: "nikt", admins: "administratorzy", everybody: "wszyscy" },
  de: { true: "ja", false: "nein", optional: "niemand", admins: "Administratoren", everybody: "alle" },
};

/** A value of a setting that has only some; of a plugin from elsewhere as it is. */
export const choiceWords = (value: string, language: Language): string => choices[language][value] ?? value;

export interface Setting {
  readonly name: string;
  readonly plugin: string;
  readonly doc: string;
  readonly value: string;
  readonly standard: string;
  readonly choices: readonly string[];
}

/** What differs from what the server has; null returns to the default, which an empty field stands for. */
export function changedSettings(
  settings: readonly Setting[],
  typed: Readonly<Record<string, string>>,
): Record<string, string | null> {
  const changed = settings.flatMap(({ name, value, standard }): [string, string | null][] => {
    const wanted = typed[name] ?? "";
    if ((wanted === "" ? standard : wanted) === value) return [];
    return [[name, wanted === "" ? null : wanted]];
  });
  return Object.fromEntries(changed);
}
