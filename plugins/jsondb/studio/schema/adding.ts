/** Adds a field to the schema of a database, after whatever others have changed of it meanwhile. */
import { ApiError, request } from "studio";
import type { Database } from "../database.svelte.ts";
import { dbPath } from "../paths.ts";
import { draftOf, schemaOf } from "../schema.ts";
import { withField } from "./changes.ts";

const mostAttempts = 3;

export async function addToTable(
  database: Database,
  table: string,
  name: string,
  definition: Readonly<Record<string, unknown>>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const schema = schemaOf(withField(draftOf(database.db?.schema), table, name, definition));
    try {
      const body = { db: { schema } };
      const { json, headers } = await request("PATCH", dbPath(database.key), { body, ifMatch: database.tag });
      return database.show(json, headers);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 412) || attempt === mostAttempts) throw error;
      await database.load();
    }
  }
}
