import type { Examples } from "studio";

export const examples: Examples = {
  "/connect/connectors": {
    says: {
      en: "the weather at a place, from an open service that asks for no key.",
      pl: "pogoda w wybranym miejscu, z otwartej usługi, która nie wymaga klucza.",
      de: "das Wetter an einem Ort, von einem offenen Dienst, der keinen Schlüssel verlangt.",
    },
    fields: {
      code: "weather",
      kind: "core/custom_connector",
      url: "https://api.open-meteo.com/v1",
      fields: {
        methods: {
          now: {
            method: "GET",
            path: "/forecast",
            query: { latitude: "{latitude}", longitude: "{longitude}", current: "temperature_2m" },
          },
        },
      },
    },
    words: { en: { name: "Weather" }, pl: { name: "Pogoda" }, de: { name: "Wetter" } },
  },
};
