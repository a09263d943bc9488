import type { Examples } from "studio";

export const examples: Examples = {
  "/core/prompts": {
    says: {
      en: "a friendly answer to a customer's complaint, with two variables.",
      pl: "uprzejma odpowiedź na reklamację klienta, z dwiema zmiennymi.",
      de: "eine freundliche Antwort auf die Beschwerde eines Kunden, mit zwei Variablen.",
    },
    fields: { code: "complaint_answer", kind: "chat" },
    words: {
      en: {
        name: "Answer to a complaint",
        content: "Write a short, friendly answer to {{ customer }}.\nThe complaint: {{ complaint }}",
      },
      pl: {
        name: "Odpowiedź na reklamację",
        content: "Napisz krótką, uprzejmą odpowiedź. Klient: {{ customer }}.\nReklamacja: {{ complaint }}",
      },
      de: {
        name: "Antwort auf eine Beschwerde",
        content: "Schreib eine kurze, freundliche Antwort an {{ customer }}.\nDie Beschwerde: {{ complaint }}",
      },
    },
  },
};
