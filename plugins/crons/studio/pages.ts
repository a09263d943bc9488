import { page, type StudioPage } from "studio/page";

const privilege = "crons";

export const pages: StudioPage[] = [
  page("account/crons", ["Schedules", "Harmonogramy", "Zeitpläne"], () => import("./Crons.svelte"), { privilege }),
  page("account/crons/new", ["New schedule", "Nowy harmonogram", "Neuer Zeitplan"], () => import("./Cron.svelte"), {
    privilege,
  }),
  page("account/crons/:id", ["Schedule", "Harmonogram", "Zeitplan"], () => import("./Cron.svelte"), { privilege }),
];
