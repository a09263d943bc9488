import type { Examples } from "studio";

export const examples: Examples = {
  "/account/api_tokens": {
    says: {
      en: "a token for a nightly import that may do nothing but databases.",
      pl: "token dla nocnego importu, który ma dostęp wyłącznie do baz danych.",
      de: "ein Token für einen nächtlichen Import, der nur mit Datenbanken umgehen darf.",
    },
    fields: { privileges: ["dbs"] },
    words: { en: { name: "Nightly import" }, pl: { name: "Nocny import" }, de: { name: "Nächtlicher Import" } },
  },
};
