import type { Examples } from "studio";

export const examples: Examples = {
  "/account/webhooks": {
    says: {
      en: "a message to your server for each new record.",
      pl: "wiadomość do Twojego serwera o każdym nowym rekordzie.",
      de: "eine Nachricht an Ihren Server bei jedem neuen Datensatz.",
    },
    fields: {
      source_type: "Core::Record",
      kind: "create",
      target_kind: "url",
      url: "https://example.com/hooks/records",
    },
  },
};
