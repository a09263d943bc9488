/** Where the API has what the pages of a database need. */
export const dbPath = (db: string) => `/core/dbs/${encodeURIComponent(db)}.json`;
export const recordsPath = (db: string) => `/core/dbs/${encodeURIComponent(db)}/records.json`;
/** Records are read in pages of this many. */
export const pageSize = 50;
/** As Rows asks for them, in a database whose first table the address need not name. */
export const firstRecordsPath = (db: string, query: URLSearchParams) =>
  `${recordsPath(db)}?${new URLSearchParams([...query, ["limit", String(pageSize)]])}`;
/** How many there are is in a header. */
export const countPath = (db: string, query: string) => `${recordsPath(db)}?${query}&count=true&limit=1&fields=id`;
export const recordPath = (db: string, id: string) =>
  `/core/dbs/${encodeURIComponent(db)}/records/${encodeURIComponent(id)}.json`;
export const batchPath = (db: string) => `/core/dbs/${encodeURIComponent(db)}/batch.json`;
export const eventsPath = (db: string, table: string | undefined) =>
  `/core/dbs/${encodeURIComponent(db)}/events${table ? `?table_name=${encodeURIComponent(table)}` : ""}`;
export const bulkPath = (db: string) => `/core/dbs/${encodeURIComponent(db)}/bulk.json`;
export const tasksPath = (db: string) => `/core/dbs/${encodeURIComponent(db)}/tasks.json`;
export const listOfTasks = (db: string) => `${tasksPath(db)}?limit=20`;
const taskBase = (db: string, id: string) => `/core/dbs/${encodeURIComponent(db)}/tasks/${encodeURIComponent(id)}`;
export const taskPath = (db: string, id: string) => `${taskBase(db, id)}.json`;
export const taskErrorsPath = (db: string, id: string) => `${taskBase(db, id)}/errors.json`;
export const stopPath = (db: string, id: string) => `${taskBase(db, id)}/stop.json`;
export const undoPath = (db: string, id: string) => `${taskBase(db, id)}/undo.json`;
export const binPage = (db: string) => `${tableAddress(db)}/trash`;
export const linkedPath = (db: string, id: string) =>
  `/core/dbs/${encodeURIComponent(db)}/records/${encodeURIComponent(id)}/linked.json`;
export const peoplePath = (db: string) => `/core/dbs/${encodeURIComponent(db)}/people.json`;
/** The bytes of a file that a record has, for whoever may read the record. */
export const filePath = (db: string, id: string, file: string) =>
  `/core/dbs/${encodeURIComponent(db)}/records/${encodeURIComponent(id)}/files/${encodeURIComponent(file)}`;
export const presentPath = (db: string, id: string, open: boolean) =>
  `/core/dbs/${encodeURIComponent(db)}/records/${encodeURIComponent(id)}/present.json?open=${open}`;
/** The address of a record in the Studio. */
export const recordAddress = (db: string, id: string) =>
  `/studio/core/dbs/${encodeURIComponent(db)}/records?open=${encodeURIComponent(id)}`;
export const taskPage = (db: string, id: string) => `/studio${taskBase(db, id)}`;
/** A table in the Studio: it opens on its records. */
export const tableAddress = (db: string) => `/studio/core/dbs/${encodeURIComponent(db)}`;
/** A record that a link names. */
export const addressOfRecord = (
  { db, table }: { readonly db: string; readonly table: string | undefined },
  id: string,
) => `${recordAddress(db, id)}${table === undefined ? "" : `&table=${encodeURIComponent(table)}`}`;
export const viewsPath = (db: string) => `/core/dbs/${encodeURIComponent(db)}/views.json`;
export const listOfViews = (db: string) => `${viewsPath(db)}?limit=200`;
/** The apps that are shown in a view of the specification. */
export const embedsPath = (view: string) => `/core/views.json?path=${encodeURIComponent(view)}`;
/** What is kept with the account for the person. */
export const preferencesPath = "/account/me/preferences.json";
export const viewPath = (db: string, id: string) =>
  `/core/dbs/${encodeURIComponent(db)}/views/${encodeURIComponent(id)}.json`;
export const trashPath = (db: string) => `/core/dbs/${encodeURIComponent(db)}/trash.json`;
export const restorePath = (db: string, id: string) =>
  `/core/dbs/${encodeURIComponent(db)}/trash/${encodeURIComponent(id)}/restore.json`;
export const historyPath = (db: string) => `/core/dbs/${encodeURIComponent(db)}/history.json`;
export const aggregatePath = (db: string) => `/core/dbs/${encodeURIComponent(db)}/aggregate.json`;
export const deletedFieldsPath = (db: string) => `/core/dbs/${encodeURIComponent(db)}/deleted_fields.json`;
