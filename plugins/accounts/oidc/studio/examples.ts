import type { Examples } from "studio";

export const examples: Examples = {
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
