/** What the pages of refusals say. The API's own messages are English; the few that people meet here are told as well. */
import type { Language } from "../language.ts";
import type { ProxyMistake } from "./proxy-mistake.ts";

export interface ErrorWords {
  readonly titles: Readonly<Record<number, string>>;
  /** Of any other status below 500, and above. */
  readonly refused: string;
  readonly failed: string;
  readonly nothingHere: string;
  readonly signIn: string;
  readonly start: string;
  readonly messages: Readonly<Record<string, string>>;
  /** About a proxy in front of the server that leaves out what it should pass on. */
  readonly proxy: Readonly<Record<ProxyMistake | "title" | "more", string>>;
}

const en: ErrorWords = {
  titles: {
    401: "Sign in first",
    403: "Not allowed",
    404: "Not found",
    405: "Not possible here",
    422: "Something is missing or wrong",
    429: "Too many requests",
    503: "Not available right now",
  },
  refused: "This did not work",
  failed: "Something went wrong here",
  nothingHere: "There is nothing at this address.",
  signIn: "Sign in",
  start: "Go to the start page",
  messages: {
    "this needs a working web_token that was not used before":
      "This link works no more: it was used, has ended or is incomplete. Ask for a new one.",
  },
  proxy: {
    title: "If a proxy stands in front of this server",
    host: "it does not pass on the header Host, so the server does not know which address you asked for. For nginx:",
    proto: "it does not say that you came by https: the header X-Forwarded-Proto is missing. For nginx:",
    untrusted: "its headers X-Forwarded-Host and X-Forwarded-Proto do not count, because its network is not named in",
    more: "Whoever runs this server sees more with <code>corestead doctor</code>.",
  },
};

const pl: ErrorWords = {
  titles: {
    401: "Najpierw zaloguj się",
    403: "Brak dostępu",
    404: "Nie znaleziono",
    405: "Tutaj to niemożliwe",
    422: "Czegoś brakuje albo coś się nie zgadza",
    429: "Zbyt wiele żądań",
    503: "Chwilowo niedostępne",
  },
  refused: "To się nie udało",
  failed: "Coś poszło nie tak po naszej stronie",
  nothingHere: "Pod tym adresem nic nie ma.",
  signIn: "Zaloguj się",
  start: "Przejdź do strony głównej",
  messages: {
    "this needs a working web_token that was not used before":
      "Ten odnośnik już nie działa: został użyty, stracił ważność albo jest niepełny. Poproś o nowy.",
    "somebody else is signed in: sign out first": "Zalogowany jest ktoś inny: najpierw trzeba się wylogować.",
    "sign in, or send `Authorization: Bearer <token>`": "Ta strona jest tylko dla zalogowanych.",
  },
  proxy: {
    title: "Jeśli przed tym serwerem stoi serwer pośredniczący (proxy)",
    host: "nie przekazuje on nagłówka Host, więc serwer nie wie, o jaki adres chodziło. W nginx:",
    proto: "nie przekazuje on, że połączenie było przez https: brakuje nagłówka X-Forwarded-Proto. W nginx:",
    untrusted: "jego nagłówki X-Forwarded-Host i X-Forwarded-Proto nie są brane pod uwagę, bo jego sieci nie wymienia",
    more: "Administrator serwera dowie się więcej z polecenia <code>corestead doctor</code>.",
  },
};

const de: ErrorWords = {
  titles: {
    401: "Bitte zuerst anmelden",
    403: "Nicht erlaubt",
    404: "Nicht gefunden",
    405: "Hier nicht möglich",
    422: "Etwas fehlt oder stimmt nicht",
    429: "Zu viele Anfragen",
    503: "Zurzeit nicht verfügbar",
  },
  refused: "Das hat nicht geklappt",
  failed: "Hier ist etwas schiefgegangen",
  nothingHere: "Unter dieser Adresse gibt es nichts.",
  signIn: "Anmelden",
  start: "Zur Startseite",
  messages: {
    "this needs a working web_token that was not used before":
      "Dieser Link funktioniert nicht mehr: Er wurde schon benutzt, ist abgelaufen oder unvollständig. Bitte einen neuen anfordern.",
    "somebody else is signed in: sign out first": "Jemand anderes ist angemeldet: Bitte zuerst abmelden.",
    "sign in, or send `Authorization: Bearer <token>`": "Diese Seite ist nur für angemeldete Personen.",
  },
  proxy: {
    title: "Falls ein Proxy vor diesem Server steht",
    host: "Er gibt den Header Host nicht weiter, und der Server weiß nicht, welche Adresse gemeint war. Für nginx:",
    proto: "Er sagt nicht, dass die Verbindung über https kam: Der Header X-Forwarded-Proto fehlt. Für nginx:",
    untrusted: "Seine Header X-Forwarded-Host und X-Forwarded-Proto zählen nicht, denn sein Netz fehlt in",
    more: "Wer diesen Server betreibt, erfährt mehr mit <code>corestead doctor</code>.",
  },
};

export const errorWords: Readonly<Record<Language, ErrorWords>> = { en, pl, de };
