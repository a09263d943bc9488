import type { StudioPage } from "studio";
import { recordQuery } from "./conditions.ts";
import { dbPath, embedsPath, firstRecordsPath, listOfTasks, listOfViews, preferencesPath } from "./paths.ts";

/**
 * The pages of databases; the list stays the one that is made from the API's description. Whoever the `access` of one opens
 * it to needs no privilege: each page asks what they may do.
 */
export const pages: StudioPage[] = [
  ...["core/dbs/:db_id", "core/dbs/:db_id/records", "core/dbs/:db_id/charts"].map((path): StudioPage => ({
    path,
    title: { en: "Records", pl: "Rekordy", de: "Einträge" },
    view: "records/index",
    bar: "own",
    early: true,
    first: ({ db_id: db = "" }, query) => [
      dbPath(db),
      listOfViews(db),
      listOfTasks(db),
      embedsPath("records/index"),
      preferencesPath,
      firstRecordsPath(db, recordQuery(query, query.get("table") ?? undefined)),
    ],
    load: () => import("./records/Records.svelte"),
  })),
  {
    path: "core/dbs/:db_id/trash",
    title: { en: "Bin", pl: "Kosz", de: "Papierkorb" },
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
    load: () => import("./public/Public.svelte"),
  },
  {
    path: "core/dbs/:db_id/import",
    title: { en: "Import", pl: "Import", de: "Import" },
    bar: "own",
    load: () => import("./transfer/Import.svelte"),
  },
  {
    path: "core/dbs/:db_id/export",
    title: { en: "Export", pl: "Eksport", de: "Export" },
    load: () => import("./transfer/Export.svelte"),
  },
  {
    path: "core/dbs/:db_id/events",
    title: { en: "Changes", pl: "Zmiany", de: "Änderungen" },
    load: () => import("./records/Events.svelte"),
  },
  {
    path: "core/dbs/:db_id/tasks/:task_id",
    title: { en: "Task", pl: "Zadanie", de: "Vorgang" },
    load: () => import("./transfer/Task.svelte"),
  },
  {
    path: "core/dbs/new",
    title: { en: "New table", pl: "Nowa tabela", de: "Neue Tabelle" },
    privilege: "dbs",
    load: () => import("./schema/NewDatabase.svelte"),
  },
];
