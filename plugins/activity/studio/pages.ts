import { page, type StudioPage } from "studio/page";

const privilege = "activity";

export const pages: StudioPage[] = [
  page("account/activity", ["Activity", "Aktywność", "Aktivität"], () => import("./Entries.svelte"), { privilege }),
  page("account/activity/:id", ["Entry", "Wpis", "Eintrag"], () => import("./Entry.svelte"), { privilege }),
];
