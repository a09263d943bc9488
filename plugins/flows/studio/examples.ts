import type { Examples } from "studio";

const program = (greeting: string) => ({
  program: [
    { type: "mutation", set: { greeting } },
    { type: "return", value: { greeting: "{{ greeting }}" } },
  ],
});

export const examples: Examples = {
  "/connect/flows": {
    says: {
      en: "a greeting by the name that the flow is given: run it with a name, and read its process.",
      pl: "powitanie imieniem, które dostaje przepływ: uruchom go z imieniem i obejrzyj jego proces.",
      de: "ein Gruß mit dem Namen, den der Ablauf bekommt: mit einem Namen starten und den Vorgang ansehen.",
    },
    fields: { code: "greeting", kind: "core/custom_flow" },
    words: {
      en: { name: "Greeting", fields: program("Hello {{ name }}") },
      pl: { name: "Powitanie", fields: program("Witaj, {{ name }}") },
      de: { name: "Gruß", fields: program("Hallo {{ name }}") },
    },
  },
};
