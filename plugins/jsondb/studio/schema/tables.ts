/** Changes of a database's schema as requests, and the tables that a field may lead to. */
import { ApiError, get, isMap, mapsIn, request, text, words } from "studio";
import type { Database } from "../database.svelte.ts";
import { wordsOf } from "../look/kinds.ts";
import { dbPath, recordsPath } from "../paths.ts";
import { draftOf, schemaOf, type FieldDraft, type SchemaDraft } from "../schema.ts";

const mostAttempts = 4;

/**
 * Changes what the server has, after whatever others have changed of it meanwhile. `rename`: old names of fields, in a
 * database with tables as `table.old`, to new ones.
 */
export async function changeSchema(
  database: Database,
  change: (draft: SchemaDraft) => SchemaDraft,
  rename?: Readonly<Record<string, string>>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await writeSchema(database, schemaOf(change(draftOf(database.db?.schema))), rename);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 412) || attempt === mostAttempts) throw error;
      await database.load();
    }
  }
}

/** 412 if somebody else has changed it since it was read. */
export async function writeSchema(
  database: Database,
  schema: unknown,
  rename?: Readonly<Record<string, string>>,
): Promise<void> {
  const body = { db: { schema }, ...(rename && { rename }) };
  const { json, headers } = await request("PATCH", dbPath(database.key), { body, ifMatch: database.tag });
  database.show(json, headers);
}

/** How many records have something in a field; undefined where that cannot be told. */
export async function usesOf(
  { key, schema }: Database,
  table: string,
  name: string,
  signal?: AbortSignal,
): Promise<number | undefined> {
  const asked = { [`filter[${name}][ne]`]: "", count: "true", limit: "1", fields: "id" };
  const query = new URLSearchParams({ ...asked, ...(schema.multiTable && { table_name: table }) });
  try {
    const { headers } = await get(`${recordsPath(key)}?${query}`, signal);
    return Number(headers.get("x-total-count") ?? undefined) || 0;
  } catch {
    return undefined;
  }
}

/** A table as a link names it: `orders`, or `shop.orders` of a database with tables. */
export interface OtherTable {
  readonly value: string;
  readonly label: string;
  readonly fields: readonly FieldDraft[];
}

export async function allTables(): Promise<readonly OtherTable[]> {
  const { json } = await get("/core/dbs.json?limit=200");
  return mapsIn(json).flatMap(({ code, name, schema }) => {
    const draft = draftOf(isMap(schema) ? schema : null);
    return draft.tables.map((table): OtherTable => {
      const isPart = draft.multiTable;
      return {
        value: isPart ? `${String(code)}.${table.name}` : String(code),
        label: isPart ? `${String(name)}: ${table.name}` : String(name),
        fields: table.fields,
      };
    });
  });
}

/** What people call a field. */
export function labelOf({ name, more }: Pick<FieldDraft, "name" | "more">): string {
  return wordsOf(more?.["label"], text.language) || words(name);
}
