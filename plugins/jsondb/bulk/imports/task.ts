/** An import as a task, which tells how far it is. No HTTP. */
import { nullTableHints, type Database } from "../../databases/database.ts";
import { ownNameHints } from "../../databases/schema.ts";
import type { JsondbContext } from "../../context.ts";
import * as tasks from "../../tasks/tasks.ts";
import type { RunningTask } from "../../tasks/tasks.ts";
import { pageLimits } from "./check.ts";
import { importRecords, type ImportOptions, type ImportReport } from "./import.ts";

type Options = Omit<ImportOptions, "follow" | "refused" | "dry" | "taskId"> & { readonly userId: number | null };

export async function importAsTask(
  ctx: JsondbContext,
  db: Database,
  texts: AsyncIterable<string>,
  { userId, ...options }: Options,
): Promise<{ readonly report: ImportReport; readonly task: RunningTask }> {
  const task = await tasks.beginTask(ctx, { kind: "import", accountId: db.accountId, dbId: db.id, userId });
  const reading = importRecords(ctx, db, texts, {
    ...options,
    taskId: task.id,
    follow: task.follow,
    refused: task.refuse,
  });
  const report = await reading.catch(async (error: unknown) => {
    await task.fail(error);
    throw error;
  });
  const { imported: stored, total: done, failed, errors, refused } = report;
  const error = refused ? "nothing was stored: some rows are wrong" : undefined;
  await task.end({ done, stored, failed, errors }, { error, warnings: hintsOf(db, report) });
  return { report, task };
}

/** What the header `Warning` says of an import. */
export function hintsOf(db: Database, report: ImportReport): string[] {
  const { withoutTable, leftOut, unmatched, extra, ignored, shadowed, isCut } = report;
  return [
    ...nullTableHints(db, withoutTable, "with each row, or in the address"),
    ...about(leftOut, (names) => `left out: ${names}: each row is a new record with an id and times of its own`),
    ...about(unmatched, (names) => `left out: ${names}: no field has such a name, \`mapping\` says where they go`),
    ...about(
      extra,
      (names) =>
        `${report.refused ? "not in the schema, and without `mapping` stored under their own names" : "stored, but not in the schema"}: ${names}`,
    ),
    ...about(ignored, (names) => `not written: ${names}: rollups, worked out when they are read`),
    ...ownNameHints(shadowed),
    ...(isCut ? [`only the first ${pageLimits.keys} values of unique fields were compared with each other`] : []),
  ];
}

const mostNames = 20;

function about(names: readonly string[], hint: (names: string) => string): string[] {
  if (names.length === 0) return [];
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : "";
  return [hint(`${names.slice(0, mostNames).join(", ")}${more}`)];
}
