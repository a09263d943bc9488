/** What the pages to sign in and out by say. */
import type { Language } from "platform";

export interface PageWords {
  readonly language: Language;
  readonly signIn: string;
  readonly signOut: string;
  readonly login: string;
  readonly password: string;
  readonly bothFields: string;
  readonly wrong: string;
  /** The reason is for whoever runs the server, and in English. */
  readonly refused: (reason: string) => string;
  readonly wait: (seconds: string) => string;
  readonly signedOut: string;
  readonly signedOutHere: string;
  readonly signedInAs: (person: string) => string;
}

const en: PageWords = {
  language: "en",
  signIn: "Sign in",
  signOut: "Sign out",
  login: "Login or e-mail",
  password: "Password",
  bothFields: "Fill in both fields.",
  wrong: "Wrong login or password.",
  refused: (reason) => `Refused: ${reason}`,
  wait: (seconds) => `Too many failed attempts. Try again in ${counted("en", seconds)}.`,
  signedOut: "Signed out",
  signedOutHere: "You are signed out here.",
  signedInAs: (person) => `You are signed in as ${person}.`,
};

const pl: PageWords = {
  language: "pl",
  signIn: "Zaloguj się",
  signOut: "Wyloguj się",
  login: "Login lub adres e-mail",
  password: "Hasło",
  bothFields: "Wypełnij oba pola.",
  wrong: "Nieprawidłowy login lub hasło.",
  refused: (reason) => `Odmowa: to logowanie nie pochodzi ze stron tego serwera (${reason}).`,
  wait: (seconds) =>
    `Zbyt wiele nieudanych prób. Spróbuj ponownie za ${counted("pl", seconds).replace("sekunda", "sekundę")}.`,
  signedOut: "Wylogowano",
  signedOutHere: "Wylogowano Cię tutaj.",
  signedInAs: (person) => `Jesteś w systemie jako ${person}.`,
};

const de: PageWords = {
  language: "de",
  signIn: "Anmelden",
  signOut: "Abmelden",
  login: "Benutzername oder E-Mail-Adresse",
  password: "Passwort",
  bothFields: "Bitte beide Felder ausfüllen.",
  wrong: "Benutzername oder Passwort ist falsch.",
  refused: (reason) => `Abgelehnt: Diese Anmeldung kommt nicht von den Seiten dieses Servers (${reason}).`,
  wait: (seconds) => `Zu viele fehlgeschlagene Versuche. Bitte in ${counted("de", seconds)} erneut versuchen.`,
  signedOut: "Abgemeldet",
  signedOutHere: "Hier sind Sie abgemeldet.",
  signedInAs: (person) => `Sie sind als ${person} angemeldet.`,
};

export const pageWords: Readonly<Record<Language, PageWords>> = { en, pl, de };

/** `1 second`, `za 5 sekund`, `in 2 Sekunden` */
function counted(language: Language, seconds: string): string {
  const unit = { style: "unit", unit: "second", unitDisplay: "long" } as const;
  return new Intl.NumberFormat(language, unit).format(Number(seconds));
}
