/** Makes a database of a file, and imports its rows. No HTTP. */
import { create, erase, HttpError, invalid } from "platform";
import type { JsondbContext } from "../../context.ts";
import { databaseOf } from "../../databases/database.ts";
import { Db, type DbAt } from "../../databases/db.ts";
import type { Viewer } from "../../access/reach.ts";
import type { DbRow } from "../../databases/fields.ts";
import { noTable, parseSchema } from "../../databases/schema.ts";
import * as taskStore from "../../tasks/store.ts";
import { mappedSource, type Source } from "../imports/source.ts";
import { importAsTask } from "../imports/task.ts";
import type { Received } from "./files.ts";
import type { FileParameters } from "./parameters.ts";
import { planOf } from "./plan.ts";
import type { Preview } from "./preview.ts";

/** The rows of a file for the database that it is to become, and the schema of that database. */
export interface NewSource extends Source {
  readonly schema: Record<string, unknown>;
}

/** What the preview has found is read so: nothing is found out a second time. */
export async function sourceOfFile(
  ctx: JsondbContext,
  file: Received,
  preview: Preview,
  parameters: FileParameters,
): Promise<NewSource> {
  const { schema, mapping, formats, references } = planOf(preview, parameters);
  const parsed = parseSchema(schema);
  if ("mistakes" in parsed) throw invalid({ mapping: parsed.mistakes });
  const hasCells = preview.format !== "json" && preview.format !== "ndjson";
  const source = await mappedSource(ctx.fileReader, file, preview.format, {
    table: parsed.schema.tables.get("") ?? noTable,
    anyField: true,
    references,
    mapping,
    formats,
    encoding: preview.encoding ?? undefined,
    separator: preview.delimiter ?? undefined,
    sheet: preview.sheet ?? undefined,
    headerRow: hasCells ? preview.header_row : undefined,
  });
  return { ...source, schema };
}

interface Making extends NewSource {
  /** Who links only to what they may read. */
  readonly viewer: Viewer;
  readonly name: string;
  readonly partial: boolean;
  readonly signal: AbortSignal;
}

/** The database is there only if its rows are: without them it is deleted again. */
export async function makeDatabase(
  at: JsondbContext & DbAt,
  { name, schema, texts, ...options }: Making,
): Promise<{ readonly row: DbRow; readonly task: taskStore.TaskRow }> {
  const { id: accountId } = at.caller.account;
  const row = await create(Db, at, { name, schema });
  try {
    // With an Idempotency-Key it is not committed yet: no other connection finds it.
    const db = databaseOf(row);
    const { report, task } = await importAsTask(at, db, texts, {
      ...options,
      tableName: undefined,
      userId: at.caller.user.id,
    });
    const { errors, failed, total, refused } = report;
    if (refused) throw new HttpError(422, { errors, failed, total });
    const shown = await taskStore.byId(at.sql, accountId, row.id, task.id);
    if (!shown) throw new Error("the task of an import is missing");
    return { row, task: shown };
  } catch (error) {
    await erase(Db, { ...at, forGood: true }, { id: row.id });
    throw error;
  }
}
