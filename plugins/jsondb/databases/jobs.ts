/** Jobs that visit all records of one database: indexing by a new plan, and deleting the records of a deleted database. */
import { on, type Handler } from "platform";
import { drop as dropComments } from "../comments/store.ts";
import * as taskStore from "../tasks/store.ts";
import { forget, type DatabaseContext } from "./cache.ts";
import { dropRecords, reindexRecords } from "./db.ts";
import { pendingRenames } from "./renames.ts";
import { parseSchema } from "./schema.ts";
import { linkFields, linksOf } from "../links/links.ts";
import * as linkStore from "../links/store.ts";
import * as trashStore from "../trash/store.ts";
import * as databaseStore from "./store.ts";
import type { PlanRow } from "./store.ts";

const batchSize = 500;
// Old statements end within their time limit. If one still runs after these waits, the next run looks again.
const waitsMs = [2, 5, 10, 20, 50, 100, 200, 500, 1000, 1000, 2000, 2000, 2000];
// Longer than any of our transactions lasts.
const secondDropMs = 5 * 60_000;

/** Writes the links that all records have by this schema; false if it was stopped. */
async function relinked(ctx: DatabaseContext, accountId: number, dbId: string, plan: PlanRow, signal: AbortSignal) {
  const parsed = parseSchema(plan.schema, true);
  const tables = "schema" in parsed ? [...parsed.schema.tables.values()] : [];
  let after: string | undefined = tables.some((table) => linkFields(table).length > 0) ? noId : undefined;
  while (after !== undefined && !signal.aborted) {
    const from: string = after;
    after = await ctx.transaction(async (tx) => {
      const records = await databaseStore.linkingPage(tx, accountId, dbId, from, batchSize);
      await linkStore.forget(
        tx,
        accountId,
        records.map(({ id }) => id),
      );
      for (const table of tables) {
        const own = records.filter(({ tableName }) => tableName === table.name);
        const links = own.flatMap(({ id, data }) => linksOf(table, data).map((link) => ({ ...link, recordId: id })));
        if (links.length > 0) await linkStore.add(tx, { accountId, dbId, tableName: table.name }, links);
      }
      return records.at(-1)?.id;
    });
  }
  return !signal.aborted;
}

const noId = "00000000-0000-0000-0000-000000000000";

export function backgroundJobs(ctx: DatabaseContext): Handler[] {
  return [
    on(
      reindexRecords,
      async ({ accountId, dbId }, { signal }) => {
        if (await reindex(ctx, accountId, dbId, signal)) return;
        const runAt = new Date(Date.now() + 1000);
        await ctx.enqueue(reindexRecords, { accountId, dbId }, { key: dbId, runAt, accountId });
      },
      { concurrency: 1 },
    ),
    on(
      dropRecords,
      async ({ accountId, dbId, again = false }, { signal }) => {
        while (!signal.aborted && (await databaseStore.dropRecords(ctx.sql, dbId, batchSize)) > 0);
        await databaseStore.dropViews(ctx.sql, accountId, dbId);
        await dropComments(ctx.sql, accountId, dbId);
        if (signal.aborted) throw new Error("stopped before all records were deleted");
        // A write that began before the database was deleted may have committed since.
        const runAt = new Date(Date.now() + secondDropMs);
        if (!again) await ctx.enqueue(dropRecords, { accountId, dbId, again: true }, { key: dbId, runAt, accountId });
      },
      { concurrency: 1 },
    ),
  ];
}

/** Visits all records once; false if it was stopped or the plan has changed. */
async function pass({ sql }: DatabaseContext, dbId: string, plan: PlanRow, signal: AbortSignal): Promise<boolean> {
  const parsed = parseSchema(plan.schema, true);
  if (!("schema" in parsed)) return false;
  const renames = pendingRenames(plan.renames);
  let after: string | undefined = noId;
  while (after && !signal.aborted)
    after = await databaseStore.reindex(sql, dbId, plan.planVersion, parsed.schema, after, batchSize, renames);
  if (renames.length > 0)
    for (after = noId; after && !signal.aborted;)
      after = await trashStore.rename(sql, dbId, { ...plan, renames }, after, batchSize);
  return !signal.aborted;
}

async function until<T>(look: () => Promise<T | undefined | false>, signal: AbortSignal): Promise<T | undefined> {
  for (const wait of waitsMs) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (signal.aborted) return undefined;
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
  return undefined;
}

/** True when there is nothing left to do. */
export async function reindex(
  ctx: DatabaseContext,
  accountId: number,
  dbId: string,
  signal: AbortSignal,
): Promise<boolean> {
  const plan = await databaseStore.plan(ctx.sql, dbId);
  if (!plan || plan.indexedVersion === plan.planVersion) {
    await taskStore.endReindex(ctx.sql, dbId);
    return true;
  }
  await taskStore.measureReindex(ctx.sql, dbId, plan.planVersion);
  if (!(await pass(ctx, dbId, plan, signal))) return false;
  const end = await until(() => databaseStore.oldWritersEnd(ctx.sql, dbId), signal);
  if (end === undefined || !(await until(() => databaseStore.isPast(ctx.sql, end), signal))) return false;
  // Nothing writes by the old plan any more, so this pass finds every record that is left.
  if (!(await pass(ctx, dbId, plan, signal)) || !(await relinked(ctx, accountId, dbId, plan, signal))) return false;
  if (!(await databaseStore.markIndexed(ctx.sql, dbId, plan.planVersion))) return false;
  await forget(ctx, accountId, { id: dbId, code: plan.code });
  await taskStore.endReindex(ctx.sql, dbId);
  return true;
}
