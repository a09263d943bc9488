/** Writes of databases: checks, codes, the statement, its event and its jobs. No HTTP, no SQL. */
import * as taskStore from "../tasks/store.ts";
import * as databases from "./cache.ts";
import * as databaseStore from "./store.ts";
import {
  freeCode,
  job,
  mistakes,
  notFound,
  preconditionFailed,
  slugOf,
  uuidv7,
  on,
  type ModelEvent,
  type Tx,
  type Handler,
} from "platform";
import { databaseOf, sameIndexes } from "./database.ts";
import { misspeltVariables } from "./hints.ts";
import { parsePublicMethods, publicLimits, unknownTables } from "./public-methods.ts";
import { parseSchema, schemaLimits } from "./schema.ts";
import type { DatabaseContext } from "./cache.ts";
import { isId, toApi, type DbInput, type DbRow, type SchemaEffect, type PlanRow } from "./store.ts";
import { declareIndexes } from "../indexes/learning.ts";

/** A database that is to be changed. */
interface Target {
  readonly accountId: number;
  /** Its id or code. */
  readonly key: string;
  /** The version of it that the caller has seen; undefined = any. */
  readonly seenVersion?: ((id: string) => number | undefined) | undefined;
}

/** Fills the index columns of records that were written by an older plan. */
export const reindexRecords = job<{ accountId: number; dbId: string }>("jsondb.reindex");

/** Deletes the records of a deleted database. */
export const dropRecords = job<{ accountId: number; dbId: string; again?: boolean }>("jsondb.drop");

/** `userId` null = no person (a command). */
export async function create(
  ctx: DatabaseContext,
  accountId: number,
  userId: number | null,
  input: DbInput & { name: string },
): Promise<DbRow> {
  check(input);
  const id = uuidv7();
  const row = await ctx.transaction(async (tx) => {
    const code = input.code ?? (await freeCode(tx, { table: "dbs", accountId }, slugOf(input.name) || "db"));
    checkTables(input.schema, input.publicMethods);
    const made = await databaseStore.insert(tx, { ...input, id, accountId, userId, code });
    if (input.schema) await declareIndexes(ctx, databaseOf(made), tx);
    await ctx.changed(eventOf("create", made), tx);
    return made;
  });
  await databases.forget(ctx, accountId, row);
  return row;
}

/** `work` sees the row as it is, locked until it is written. 404 unknown, 412 another version. */
export async function update(
  ctx: DatabaseContext,
  { accountId, key, userId, seenVersion }: Target & { readonly userId: number | null },
  work: (row: DbRow) => DbInput,
): Promise<DbRow> {
  const { before, after } = await ctx.transaction(async (tx) => {
    const found = await lock(tx, { accountId, key, seenVersion });
    const input = work(found);
    check(input);
    checkTables(input.schema ?? found.schema, input.publicMethods ?? found.publicMethods);
    const schemaEffect = schemaEffectOf(found, input);
    const row = await databaseStore.update(tx, found.id, { input, schemaEffect, userId, version: found.version });
    if (schemaEffect === "other indexes") {
      await taskStore.replaceReindex(tx, accountId, row.id);
      await taskStore.insert(tx, { id: uuidv7(), accountId, dbId: row.id, kind: "reindex", userId });
      await ctx.enqueue(reindexRecords, { accountId, dbId: row.id }, { key: row.id, tx, accountId });
    }
    if (schemaEffect !== "none") await declareIndexes(ctx, databaseOf(row), tx);
    await ctx.changed(eventOf("update", row), tx);
    return { before: found, after: row };
  });
  await databases.forget(ctx, accountId, after, before.code);
  return after;
}

export async function remove(ctx: DatabaseContext, target: Target): Promise<DbRow> {
  const { accountId } = target;
  const gone = await ctx.transaction(async (tx) => {
    const row = await lock(tx, target);
    await databaseStore.remove(tx, row.id);
    await ctx.enqueue(dropRecords, { accountId, dbId: row.id }, { key: row.id, tx, accountId });
    await ctx.changed(eventOf("destroy", row), tx);
    return row;
  });
  await databases.forget(ctx, accountId, gone);
  return gone;
}

async function lock(tx: Tx, { accountId, key, seenVersion }: Target): Promise<DbRow> {
  const row = await databaseStore.lock(tx, accountId, key);
  if (!row) throw notFound("there is no such database");
  const version = seenVersion?.(row.id);
  if (version !== undefined && version !== row.version) throw preconditionFailed();
  return row;
}

function schemaEffectOf(before: DbRow, input: DbInput): SchemaEffect {
  if (input.schema === undefined || JSON.stringify(input.schema) === JSON.stringify(before.schema)) return "none";
  const after = databaseOf({ ...before, schema: input.schema });
  return sameIndexes(databaseOf(before).schema, after.schema) ? "same indexes" : "other indexes";
}

/** 422 with the place of each mistake in `schema` and `public_methods`. */
function check(input: DbInput): void {
  const found = mistakes();
  if (input.code !== undefined && isId(input.code)) found.add("code", "must not have the form of an id");
  const tooLarge = (field: string, value: unknown, most: number) => {
    if (value === undefined || JSON.stringify(value).length <= most) return false;
    found.add(field, `may have at most ${most} characters as JSON`);
    return true;
  };
  if (!tooLarge("schema", input.schema, schemaLimits.bytes)) {
    const parsed = parseSchema(input.schema);
    if ("mistakes" in parsed) for (const mistake of parsed.mistakes) found.add("schema", mistake);
  }
  if (!tooLarge("public_methods", input.publicMethods, publicLimits.bytes)) {
    const parsed = parsePublicMethods(input.publicMethods);
    const wrong = "mistakes" in parsed ? parsed.mistakes : misspeltVariables(input.publicMethods);
    for (const mistake of wrong.slice(0, 50)) found.add("public_methods", mistake);
  }
  tooLarge("fields", input.fields, maxFieldsLength);
  found.check();
}

/** 422 for a public method that fixes a table which the schema does not have, whichever of the two changes. */
function checkTables(schema: unknown, publicMethods: unknown): void {
  const [tables, methods] = [parseSchema(schema), parsePublicMethods(publicMethods)];
  if ("mistakes" in tables || "mistakes" in methods) return;
  const found = mistakes();
  for (const mistake of unknownTables(methods.publicMethods, tables.schema.tables))
    found.add("public_methods", mistake);
  found.check();
}

const maxFieldsLength = 1_000_000;

function eventOf(kind: ModelEvent["kind"], row: DbRow): ModelEvent {
  const { created_at, updated_at, ...data } = toApi(row);
  const times = { created_at: created_at.toJSON(), updated_at: updated_at.toJSON() };
  return { accountId: row.accountId, sourceType: "Core::Db", kind, id: row.id, data: { ...data, ...times } };
}

// Jobs that visit all records of one database: indexing by a new plan, and deleting the records of a deleted database.

const batchSize = 500;
// Old statements end within their time limit. If one still runs after these waits, the next run looks again.
const waitsMs = [2, 5, 10, 20, 50, 100, 200, 500, 1000, 1000, 2000, 2000, 2000];
// Longer than any of our transactions lasts.
const secondDropMs = 5 * 60_000;

export function backgroundJobs(ctx: DatabaseContext): Handler[] {
  /** Visits all records once; false if it was stopped or the plan has changed. */
  const pass = async (dbId: string, plan: PlanRow, signal: AbortSignal): Promise<boolean> => {
    const parsed = parseSchema(plan.schema);
    if (!("schema" in parsed)) return false;
    let after: string | undefined = "00000000-0000-0000-0000-000000000000";
    while (after && !signal.aborted)
      after = await databaseStore.reindex(ctx.sql, dbId, plan.planVersion, parsed.schema, after, batchSize);
    return !signal.aborted;
  };

  const until = async <T>(look: () => Promise<T | undefined | false>, signal: AbortSignal): Promise<T | undefined> => {
    for (const wait of waitsMs) {
      const found = await look();
      if (found !== undefined && found !== false) return found;
      if (signal.aborted) return undefined;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
    return undefined;
  };

  /** True when there is nothing left to do. */
  const reindex = async (accountId: number, dbId: string, signal: AbortSignal): Promise<boolean> => {
    const plan = await databaseStore.plan(ctx.sql, dbId);
    if (!plan || plan.indexedVersion === plan.planVersion) {
      await taskStore.endReindex(ctx.sql, dbId);
      return true;
    }
    await taskStore.measureReindex(ctx.sql, dbId, plan.planVersion);
    if (!(await pass(dbId, plan, signal))) return false;
    const end = await until(() => databaseStore.oldWritersEnd(ctx.sql, dbId), signal);
    if (end === undefined || !(await until(() => databaseStore.isPast(ctx.sql, end), signal))) return false;
    // Nothing writes by the old plan any more, so this pass finds every record that is left.
    if (!(await pass(dbId, plan, signal)) || !(await databaseStore.markIndexed(ctx.sql, dbId, plan.planVersion)))
      return false;
    await databases.forget(ctx, accountId, { id: dbId, code: plan.code });
    await taskStore.endReindex(ctx.sql, dbId);
    return true;
  };

  return [
    on(
      reindexRecords,
      async ({ accountId, dbId }, { signal }) => {
        if (await reindex(accountId, dbId, signal)) return;
        const runAt = new Date(Date.now() + 1000);
        await ctx.enqueue(reindexRecords, { accountId, dbId }, { key: dbId, runAt, accountId });
      },
      { concurrency: 1 },
    ),
    on(
      dropRecords,
      async ({ accountId, dbId, again = false }, { signal }) => {
        while (!signal.aborted && (await databaseStore.dropRecords(ctx.sql, dbId, batchSize)) > 0);
        if (signal.aborted) throw new Error("stopped before all records were deleted");
        // A write that began before the database was deleted may have committed since.
        const runAt = new Date(Date.now() + secondDropMs);
        if (!again) await ctx.enqueue(dropRecords, { accountId, dbId, again: true }, { key: dbId, runAt, accountId });
      },
      { concurrency: 1 },
    ),
  ];
}
