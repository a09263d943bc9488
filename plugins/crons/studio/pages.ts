import type { StudioPage } from "studio";

const privilege = "crons";

export const pages: StudioPage[] = [
  {
    path: "account/crons",
    title: { en: "Schedules", pl: "Harmonogramy", de: "Zeitpläne" },
    privilege,
    load: () => import("./Crons.svelte"),
  },
  {
    path: "account/crons/new",
    title: { en: "New schedule", pl: "Nowy harmonogram", de: "Neuer Zeitplan" },
    privilege,
    load: () => import("./Cron.svelte"),
  },
  {
    path: "account/crons/:id",
    title: { en: "Schedule", pl: "Harmonogram", de: "Zeitplan" },
    privilege,
    load: () => import("./Cron.svelte"),
  },
];
