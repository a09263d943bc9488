import type { Examples } from "studio";

export const examples: Examples = {
  "/account/teams": {
    says: {
      en: "a team for support, which can have prompts of its own.",
      pl: "zespół wsparcia, który może mieć własne prompty.",
      de: "ein Team für den Support, das eigene Prompts haben kann.",
    },
    words: { en: { name: "Support" }, pl: { name: "Wsparcie" }, de: { name: "Support" } },
  },
  "/account/departments": {
    says: {
      en: "a department for sales.",
      pl: "dział sprzedaży.",
      de: "eine Abteilung für den Vertrieb.",
    },
    words: { en: { name: "Sales" }, pl: { name: "Sprzedaż" }, de: { name: "Vertrieb" } },
  },
  "/account/groups": {
    says: {
      en: "a group for everyone who is on call.",
      pl: "grupa osób, które pełnią dyżur.",
      de: "eine Gruppe für alle, die Bereitschaft haben.",
    },
    words: { en: { name: "On call" }, pl: { name: "Dyżur" }, de: { name: "Bereitschaft" } },
  },
  "/account/invitations": {
    says: {
      en: "an invitation of a colleague.",
      pl: "zaproszenie koleżanki z pracy.",
      de: "eine Einladung für eine Kollegin.",
    },
    fields: { role: "user" },
    words: {
      en: { email: "anna@example.com", name: "Anna Smith", language: "en" },
      pl: { email: "anna@example.pl", name: "Anna Nowak", language: "pl" },
      de: { email: "anna@example.de", name: "Anna Schmidt", language: "de" },
    },
  },
  "/account/sign_in_providers": {
    says: {
      en: "sign-in with Google for the people of your own domain.",
      pl: "logowanie przez Google dla osób z własnej domeny.",
      de: "Anmeldung mit Google für die Personen der eigenen Domain.",
    },
    fields: {
      name: "Google",
      issuer: "https://accounts.google.com",
      client_id: "1234567890-example.apps.googleusercontent.com",
      create_people: true,
      email_domains: ["example.com"],
    },
    words: { en: {}, pl: {}, de: {} },
  },
};
