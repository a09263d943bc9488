import type { Examples } from "studio";

export const examples: Examples = {
  "/account/crons": {
    says: {
      en: "your first flow, every morning at seven.",
      pl: "Twój pierwszy przepływ, codziennie o siódmej rano.",
      de: "Ihr erster Ablauf, jeden Morgen um sieben.",
    },
    fields: { kind: "flow", schedule: "0 7 * * *" },
    words: { en: { name: "Every morning" }, pl: { name: "Codziennie rano" }, de: { name: "Jeden Morgen" } },
    needs: { path: "/connect/flows", fields: { target_code: "code" } },
  },
};
