import type { StudioPage } from "studio";

const privilege = "flows";

export const pages: StudioPage[] = [
  {
    path: "connect/flows/:id",
    title: { en: "Flow", pl: "Przepływ", de: "Ablauf" },
    privilege,
    view: "flows/show",
    load: () => import("./flow/Flow.svelte"),
  },
  {
    path: "connect/flows/new",
    title: { en: "New flow", pl: "Nowy przepływ", de: "Neuer Ablauf" },
    privilege,
    load: () => import("./flow/New.svelte"),
  },
];
