import type { StudioPage } from "studio";

/** The pages of one database. Its details stay the ones that are made from the API's description. */
export const pages: StudioPage[] = [
  {
    path: "core/dbs/:db_id/records",
    title: { en: "Records", pl: "Rekordy", de: "Datensätze" },
    privilege: "dbs",
    load: () => import("./Records.svelte"),
  },
];
