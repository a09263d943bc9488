import { page, type StudioPage } from "studio/page";
import { recordQuery } from "./conditions.ts";
import { dbPath, embedsPath, firstRecordsPath, listOfTasks, listOfViews, preferencesPath } from "./paths.ts";

/**
 * The pages of databases; the list stays the one that is made from the API's description. Whoever the `access` of one opens
 * it to needs no privilege: each page asks what they may do.
 */
export const pages: StudioPage[] = [
  ...["core/dbs/:db_id", "core/dbs/:db_id/records", "core/dbs/:db_id/charts"].map((path): StudioPage =>
    page(path, ["Records", "Rekordy", "Einträge"], () => import("./records/Records.svelte"), {
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
    }),
  ),
  page("core/dbs/:db_id/trash", ["Bin", "Kosz", "Papierkorb"], () => import("./Bin.svelte")),
  page("core/dbs/:db_id/settings", ["Settings", "Ustawienia", "Einstellungen"], () => import("./Settings.svelte"), {
    privilege: "dbs",
    bar: "own",
  }),
  page("core/dbs/:db_id/schema", ["Fields", "Pola", "Felder"], () => import("./schema/Fields.svelte"), { bar: "own" }),
  page(
    "core/dbs/:db_id/public",
    ["Public form and link", "Publiczny formularz i link", "Öffentliches Formular, öffentlicher Link"],
    () => import("./public/Public.svelte"),
  ),
  page("core/dbs/:db_id/import", ["Import", "Import", "Import"], () => import("./transfer/Import.svelte"), {
    bar: "own",
  }),
  page("core/dbs/:db_id/export", ["Export", "Eksport", "Export"], () => import("./transfer/Export.svelte")),
  page("core/dbs/:db_id/events", ["Changes", "Zmiany", "Änderungen"], () => import("./records/Events.svelte")),
  page("core/dbs/:db_id/tasks/:task_id", ["Task", "Zadanie", "Vorgang"], () => import("./transfer/Task.svelte")),
  page("core/dbs/new", ["New table", "Nowa tabela", "Neue Tabelle"], () => import("./schema/NewDatabase.svelte"), {
    privilege: "dbs",
  }),
];
