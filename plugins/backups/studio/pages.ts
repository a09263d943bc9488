import type { StudioPage } from "studio";

export const pages: StudioPage[] = [
  {
    path: "account/backups",
    title: { en: "Backups", pl: "Kopie zapasowe", de: "Sicherungen" },
    privilege: "backups",
    load: () => import("./Backups.svelte"),
  },
];
