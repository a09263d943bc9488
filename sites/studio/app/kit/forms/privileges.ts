/** Privileges by what they are for, and what each allows in the language of the Studio. */
import { words as wordsOf } from "../../resources/names.ts";
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

/** What each is called, and in other languages than that of its declaration what it allows. */
const words: Readonly<Record<string, Readonly<Record<Language, readonly [name: string, allows?: string]>>>> = {
  prompts: {
    en: ["Prompts"],
    pl: ["Prompty", "tworzenie i zmienianie promptów dla AI"],
    de: ["Prompts", "Prompts für KI anlegen und ändern"],
  },
  apps: {
    en: ["Apps"],
    pl: ["Aplikacje", "tworzenie i zmienianie aplikacji"],
    de: ["Apps", "Apps anlegen und ändern"],
  },
  dbs: {
    en: ["Tables", "tables and their records"],
    pl: ["Tabele", "tabele i ich rekordy"],
    de: ["Tabellen", "Tabellen und ihre Einträge"],
  },
  flows: {
    en: ["Flows and connections", "connections, flows and their runs"],
    pl: ["Przepływy i połączenia", "połączenia, przepływy i ich uruchomienia"],
    de: ["Abläufe und Verbindungen", "Verbindungen, Abläufe und ihre Durchläufe"],
  },
  crons: {
    en: ["Schedules"],
    pl: ["Harmonogramy", "uruchamianie przepływów według harmonogramu"],
    de: ["Zeitpläne", "Abläufe nach Zeitplan starten"],
  },
  webhooks: {
    en: ["Webhooks"],
    pl: ["Webhooki", "webhooki i wgląd w to, co wysłały"],
    de: ["Webhooks", "Webhooks und was sie gesendet haben"],
  },
  cms: {
    en: ["Sites", "sites: pages, layouts, articles and addresses"],
    pl: ["Witryny", "witryny: strony, układy, artykuły i adresy"],
    de: ["Websites", "Websites: Seiten, Rahmen, Artikel und Adressen"],
  },
  api_tokens: {
    en: ["Access tokens", "make and manage one's own access tokens"],
    pl: ["Tokeny dostępu", "tworzenie własnych tokenów dostępu i zarządzanie nimi"],
    de: ["Zugriffstoken", "eigene Zugriffstoken anlegen und verwalten"],
  },
  users: {
    en: ["People and access"],
    pl: ["Osoby i dostęp", "osoby, zespoły, działy i grupy"],
    de: ["Personen und Zugriff", "Personen, Teams, Abteilungen und Gruppen"],
  },
  settings: {
    en: ["Settings"],
    pl: ["Ustawienia", "ustawienia konta"],
    de: ["Einstellungen", "Einstellungen des Kontos"],
  },
  media: {
    en: ["Files", "add, change and delete files"],
    pl: ["Pliki", "dodawanie, zmienianie i usuwanie plików"],
    de: ["Dateien", "Dateien hochladen, ändern und löschen"],
  },
  activity: {
    en: ["Activity", "see who did what"],
    pl: ["Aktywność", "wgląd w to, kto co zrobił"],
    de: ["Aktivität", "sehen, wer was getan hat"],
  },
  certificates: {
    en: ["Certificates"],
    pl: ["Certyfikaty", "certyfikaty adresów: wgląd i zamawianie"],
    de: ["Zertifikate", "Zertifikate der Adressen ansehen und bestellen"],
  },
  backups: {
    en: ["Backups", "see the backups"],
    pl: ["Kopie zapasowe", "wgląd w kopie zapasowe"],
    de: ["Sicherungen", "die Sicherungen ansehen"],
  },
  sign_in_providers: {
    en: ["Sign-in providers", "see the providers by which people sign in; administrators alone change them"],
    pl: ["Dostawcy logowania", "wgląd w dostawców logowania; zmieniają ich tylko administratorzy"],
    de: ["Anmeldeanbieter", "Anbieter für die Anmeldung ansehen; nur die Administration ändert sie"],
  },
  mails: {
    en: ["Mail", "the mail server, the texts of mails and what was sent"],
    pl: ["Poczta", "serwer poczty, treści wiadomości i dziennik wysłanych"],
    de: ["E-Mail", "der Mailserver, die Texte der E-Mails und was gesendet wurde"],
  },
};

type Named = Pick<Privilege, "name" | "doc">;

export function docOf({ name, doc }: Named, language: Language): string {
  return words[name]?.[language][1] ?? doc;
}

/** One that the Studio does not know is called by its name. */
export function nameOfRight({ name }: Pick<Named, "name">, language: Language): string {
  return words[name]?.[language][0] ?? wordsOf(name);
}
