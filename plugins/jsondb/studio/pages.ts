import type { StudioPage } from "studio";
import { dbPath, firstRecordsPath } from "./paths.ts";

/** Whether the first rows can be asked for without the schema: other addresses need to know its tables. */
function asksNothing(query: URLSearchParams): boolean {
  return ![...query.keys()].some((name) => name !== "cols" && name !== "open");
}

/** The pages of databases. The list and the details of one stay those that are made from the API's description. */
export const pages: StudioPage[] = [
  ...["core/dbs/:db_id", "core/dbs/:db_id/records"].map((path): StudioPage => ({
    path,
    title: { en: "Records", pl: "Rekordy", de: "Einträge" },
    // Whoever a table is shared with sees it, without the privilege too.
    view: "records/index",
    bar: "own",
    first: ({ db_id: db = "" }, query) => [dbPath(db), ...(asksNothing(query) ? [firstRecordsPath(db)] : [])],
    load: () => import("./records/Records.svelte"),
  })),
  {
    path: "core/dbs/:db_id/trash",
    title: { en: "Bin", pl: "Kosz", de: "Papierkorb" },
    privilege: "dbs",
    load: () => import("./Bin.svelte"),
  },
  {
    path: "core/dbs/:db_id/settings",
    title: { en: "Settings", pl: "Ustawienia", de: "Einstellungen" },
    privilege: "dbs",
    bar: "own",
    load: () => import("./Settings.svelte"),
  },
  {
    path: "core/dbs/:db_id/schema",
    title: { en: "Fields", pl: "Pola", de: "Felder" },
    privilege: "dbs",
    bar: "own",
    load: () => import("./schema/Fields.svelte"),
  },
  {
    path: "core/dbs/:db_id/public",
    title: {
      en: "Public form and link",
      pl: "Publiczny formularz i link",
      de: "Öffentliches Formular, öffentlicher Link",
    },
    privilege: "dbs",
    load: () => import("./public/Public.svelte"),
  },
  {
    path: "core/dbs/:db_id/import",
    title: { en: "Import", pl: "Import", de: "Import" },
    privilege: "dbs",
    bar: "own",
    load: () => import("./transfer/Import.svelte"),
  },
  {
    path: "core/dbs/:db_id/export",
    title: { en: "Export", pl: "Eksport", de: "Export" },
    privilege: "dbs",
    load: () => import("./transfer/Export.svelte"),
  },
  {
    path: "core/dbs/:db_id/events",
    title: { en: "Changes", pl: "Zmiany", de: "Änderungen" },
    privilege: "dbs",
    load: () => import("./records/Events.svelte"),
  },
  {
    path: "core/dbs/:db_id/tasks/:task_id",
    title: { en: "Task", pl: "Zadanie", de: "Vorgang" },
    privilege: "dbs",
    load: () => import("./transfer/Task.svelte"),
  },
  {
    path: "core/dbs/:db_id/charts",
    title: { en: "Charts", pl: "Wykresy", de: "Diagramme" },
    privilege: "dbs",
    load: () => import("./Charts.svelte"),
  },
  {
    path: "core/dbs/new",
    title: { en: "New table", pl: "Nowa tabela", de: "Neue Tabelle" },
    privilege: "dbs",
    load: () => import("./schema/NewDatabase.svelte"),
  },
];
