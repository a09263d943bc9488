import { page, type StudioPage } from "studio/page";

export const pages: StudioPage[] = [
  page("account/backups", ["Backups", "Kopie zapasowe", "Sicherungen"], () => import("./Backups.svelte"), {
    privilege: "backups",
  }),
];
