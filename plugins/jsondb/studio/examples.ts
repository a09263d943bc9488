import type { Examples } from "studio";

/** The fields of a record are named alike in every language: programs know them by these names. */
const schema = {
  fields: { email: { type: "string", required: true }, name: "string", age: "integer" },
  indexed_fields: ["email", "age"],
};

export const examples: Examples = {
  "/core/dbs": {
    says: {
      en: "customers with an e-mail address, a name and an age, found quickly by address and by age.",
      pl: "klienci z adresem e-mail, imieniem i wiekiem, szybko wyszukiwani po adresie i po wieku.",
      de: "Kunden mit E-Mail-Adresse, Name und Alter, schnell zu finden nach Adresse und nach Alter.",
    },
    fields: { code: "customers", schema },
    words: { en: { name: "Customers" }, pl: { name: "Klienci" }, de: { name: "Kunden" } },
  },
};
