import type { StudioPage } from "studio";

const privilege = "activity";

export const pages: StudioPage[] = [
  {
    path: "account/activity",
    title: { en: "Activity", pl: "Aktywność", de: "Aktivität" },
    privilege,
    load: () => import("./Entries.svelte"),
  },
  {
    path: "account/activity/:id",
    title: { en: "Entry", pl: "Wpis", de: "Eintrag" },
    privilege,
    load: () => import("./Entry.svelte"),
  },
];
