import type { StudioPage } from "studio";

const privilege = "crons";

export const pages: StudioPage[] = [
  {
    path: "account/crons",
    title: { en: "Crons", pl: "Harmonogramy", de: "Zeitpläne" },
    privilege,
    load: () => import("./Crons.svelte"),
  },
  {
    path: "account/crons/new",
    title: { en: "New cron", pl: "Nowy harmonogram", de: "Neuer Zeitplan" },
    privilege,
    load: () => import("./Cron.svelte"),
  },
  {
    path: "account/crons/:id",
    title: { en: "Cron", pl: "Harmonogram", de: "Zeitplan" },
    privilege,
    load: () => import("./Cron.svelte"),
  },
];
