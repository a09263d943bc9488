import type { Examples } from "studio";

export const examples: Examples = {
  "/core/mail_templates": {
    says: {
      en: "the test mail in your own words.",
      pl: "próbna wiadomość własnymi słowami.",
      de: "die Testnachricht in eigenen Worten.",
    },
    fields: { code: "test" },
    words: {
      en: { language: "en", subject: "Greetings from {{ account.name }}", text: "This mail has arrived." },
      pl: { language: "pl", subject: "Pozdrowienia z {{ account.name }}", text: "Ta wiadomość dotarła." },
      de: { language: "de", subject: "Grüße von {{ account.name }}", text: "Diese Nachricht ist angekommen." },
    },
  },
};
