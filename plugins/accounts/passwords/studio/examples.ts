import type { Examples } from "studio";

export const examples: Examples = {
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
};
