import type { StudioPage } from "studio";

const own = { of: "/cms/sites", privilege: "cms" } as const;

/** The pages of one site. */
export const pages: StudioPage[] = [
  {
    ...own,
    path: "cms/:site/translations",
    title: { en: "Translations", pl: "Tłumaczenia", de: "Übersetzungen" },
    load: () => import("./translations/Translations.svelte"),
  },
  {
    ...own,
    path: "cms/:site/checks",
    title: { en: "Checks", pl: "Kontrola", de: "Prüfung" },
    load: () => import("./translations/Checks.svelte"),
  },
];
