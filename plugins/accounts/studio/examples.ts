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
};
