/** Where the API has what the pages of a database need. */
export const dbPath = (db: string) => `/core/dbs/${encodeURIComponent(db)}.json`;
export const recordsPath = (db: string) => `/core/dbs/${encodeURIComponent(db)}/records.json`;
export const recordPath = (db: string, id: string) =>
  `/core/dbs/${encodeURIComponent(db)}/records/${encodeURIComponent(id)}.json`;
export const batchPath = (db: string) => `/core/dbs/${encodeURIComponent(db)}/batch.json`;
export const eventsPath = (db: string, table: string | undefined) =>
  `/core/dbs/${encodeURIComponent(db)}/events${table ? `?table_name=${encodeURIComponent(table)}` : ""}`;
