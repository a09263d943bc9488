import type { Examples } from "studio";

export const examples: Examples = {
  "/core/apps": {
    says: {
      en: "a counter in Svelte: one button, compiled and served by this server.",
      pl: "licznik w Svelte: jeden przycisk, skompilowany i serwowany przez ten serwer.",
      de: "ein Zähler in Svelte: ein Knopf, von diesem Server übersetzt und ausgeliefert.",
    },
    fields: {
      app_engine: "svelte",
      css_engine: "none",
      source_code:
        "<script>\n  let count = $state(0);\n</script>\n\n<button onclick={() => count++}>{count}</button>\n",
    },
    form: { starter: "counter" },
    words: { en: { name: "Counter" }, pl: { name: "Licznik" }, de: { name: "Zähler" } },
  },
};
