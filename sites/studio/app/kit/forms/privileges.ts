/** Privileges by what they are for, and what each allows in the language of the Studio. */
import type { Language } from "../../state/text.svelte.ts";

export interface Privilege {
  readonly name: string;
  readonly plugin: string;
  /** In English, as its plugin declares it. */
  readonly doc: string;
  readonly roles: readonly string[];
}

export interface PrivilegeGroup {
  readonly title: string;
  readonly privileges: readonly Privilege[];
}

const groups = [
  { names: ["prompts", "apps", "dbs"], title: { en: "Build", pl: "Tworzenie", de: "Bauen" } },
  { names: ["flows", "crons", "webhooks"], title: { en: "Automate", pl: "Automatyzacja", de: "Automatisieren" } },
  { names: ["cms", "media"], title: { en: "Publish", pl: "Publikowanie", de: "Veröffentlichen" } },
  {
    names: ["api_tokens", "users", "settings", "mails", "activity", "certificates", "backups", "sign_in_providers"],
    title: { en: "Manage", pl: "Zarządzanie", de: "Verwalten" },
  },
] as const;
const otherTitle = { en: "Plugins", pl: "Wtyczki", de: "Plugins" };

/** Those of plugins that the Studio does not know come last. */
export function grouped(privileges: readonly Privilege[], language: Language): PrivilegeGroup[] {
  const known = groups.map(({ names, title }) => ({
    title: title[language],
    privileges: names.flatMap((name) => privileges.find((one) => one.name === name) ?? []),
  }));
  const named = new Set<string>(groups.flatMap(({ names }) => names));
  const others = { title: otherTitle[language], privileges: privileges.filter(({ name }) => !named.has(name)) };
  return [...known, others].filter((group) => group.privileges.length > 0);
}

const words: Readonly<Record<string, Readonly<Record<"pl" | "de", string>>>> = {
  prompts: { pl: "tworzenie i zmienianie promptów dla AI", de: "Prompts für KI anlegen und ändern" },
  apps: { pl: "tworzenie i zmienianie aplikacji", de: "Web-Apps anlegen und ändern" },
  dbs: { pl: "bazy danych i ich rekordy", de: "Datenbanken und ihre Datensätze" },
  flows: { pl: "konektory, przepływy i ich procesy", de: "Konnektoren, Abläufe und ihre Prozesse" },
  crons: { pl: "uruchamianie przepływów według harmonogramu", de: "Abläufe nach Zeitplan starten" },
  webhooks: { pl: "webhooki i wgląd w to, co wysłały", de: "Webhooks und was sie gesendet haben" },
  cms: { pl: "strony WWW: podstrony, układy, artykuły i domeny", de: "Websites: Seiten, Layouts, Artikel und Domains" },
  api_tokens: {
    pl: "tworzenie własnych tokenów API i zarządzanie nimi",
    de: "eigene API-Tokens anlegen und verwalten",
  },
  users: { pl: "osoby, zespoły, działy i grupy", de: "Personen, Teams, Abteilungen und Gruppen" },
  settings: { pl: "ustawienia konta", de: "Einstellungen des Kontos" },
  media: { pl: "dodawanie, zmienianie i usuwanie plików", de: "Mediendateien hochladen, ändern und löschen" },
  activity: { pl: "wgląd w to, kto co zrobił", de: "sehen, wer was getan hat" },
  certificates: {
    pl: "certyfikaty hostów: wgląd i zamawianie",
    de: "Zertifikate der Hosts ansehen und bestellen",
  },
  backups: { pl: "wgląd w kopie zapasowe", de: "die Sicherungen ansehen" },
  sign_in_providers: {
    pl: "wgląd w dostawców logowania; zmieniają ich tylko administratorzy",
    de: "Anbieter für die Anmeldung ansehen; nur die Administration ändert sie",
  },
  mails: {
    pl: "dziennik wiadomości, ich treści i serwer poczty",
    de: "Protokoll der E-Mails, ihre Texte und der Mailserver",
  },
};

export function docOf({ name, doc }: Privilege, language: Language): string {
  return language === "en" ? doc : (words[name]?.[language] ?? doc);
}
