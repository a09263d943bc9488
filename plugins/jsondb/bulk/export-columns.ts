/** The columns of an exported CSV file, and how an import knows them again. Pure. */

/** What a record has beside its data. */
export const ownColumns: ReadonlySet<string> = new Set(["id", "table_name", "created_at", "updated_at"]);

/** A file with these three columns is an export: they stand for the record, so an import leaves them out. */
export function isExportHeader(names: readonly string[]): boolean {
  return ["id", "created_at", "updated_at"].every((name) => names.includes(name));
}

/** A field of a name that the record itself has gets `data.` in front: `id` is `data.id`, and `data.id` `data.data.id`. */
export function headerOfField(field: string): string {
  return isOwn(field) ? `data.${field}` : field;
}

export function fieldOfHeader(name: string): string {
  return name.startsWith("data.") && isOwn(name) ? name.slice("data.".length) : name;
}

function isOwn(name: string): boolean {
  return ownColumns.has(name.replace(/^(?:data\.)+/, ""));
}
