/** The columns of an exported CSV file, and how an import recognises them. Pure. */

/** The fields of the record itself, outside its data. */
export const ownColumns: ReadonlySet<string> = new Set(["id", "table_name", "created_at", "updated_at"]);

/** A file with these three columns is an export. They describe the old records, so an import ignores them. */
export function isExportHeader(names: readonly string[]): boolean {
  return ["id", "created_at", "updated_at"].every((name) => names.includes(name));
}

/**
 * A field named like a column of the record gets the prefix `data.`: `id` becomes `data.id`, and `data.id` becomes
 * `data.data.id`.
 */
export function headerOfField(field: string): string {
  return isOwn(field) ? `data.${field}` : field;
}

export function fieldOfHeader(name: string): string {
  return name.startsWith("data.") && isOwn(name) ? name.slice("data.".length) : name;
}

function isOwn(name: string): boolean {
  return ownColumns.has(name.replace(/^(?:data\.)+/, ""));
}
