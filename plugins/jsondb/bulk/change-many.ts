/**
 * Changes or deletes all records that filters find, in the order of their ids: a task that a job carries out in short
 * transactions. Each writes how far it is, so a process that dies loses nothing and does nothing twice. No HTTP, no SQL.
 */
import {
  conflict,
  currentActor,
  databaseFault,
  HttpError,
  invalid,
  job,
  on,
  sourceOf,
  uuidv7,
  ValidationError,
  withActor,
  withSource,
} from "platform";
import type { Actor, Handler, Source, Tx } from "platform";
import type { Change, Found, Step } from "./store.ts";
import type { RowFault } from "./imports/rows.ts";
import { oneTable, scopeOf } from "../search/query.ts";
import { tryOpen, type Database, type StoredDatabase } from "../databases/database.ts";
import { may, type Viewer } from "../access/reach.ts";
import { endFilters } from "../links/filters.ts";
import { noTable } from "../databases/schema.ts";
import { jsonOf, refuse, checkPatch, asStored, type Data } from "../records/record.ts";
import type { TaskRow } from "../tasks/store.ts";
import { boundedFault } from "../tasks/tasks.ts";
import * as taskStore from "../tasks/store.ts";
import * as bulkStore from "./store.ts";
import type { JsondbContext } from "../context.ts";
import * as databases from "../databases/cache.ts";
import { mayKnow } from "../records/rights.ts";
import { namedThere } from "../records/named.ts";
import * as records from "../records/writes.ts";

/** Of a token for some databases. */
type Within = Viewer["within"];

/** `source` is the way by which it was begun. */
const changeMany = job<{ accountId: number; taskId: string; within?: Within; source?: Source }>("jsondb.change-many");

export interface Asked {
  /** The parameters that say which records. */
  readonly query: URLSearchParams;
  /** Undefined deletes. */
  readonly data: Data | undefined;
  /** The import that is undone. */
  readonly undoes?: string;
  readonly userId: number;
  readonly within: Within;
}

const recordsPerStep = 200;
/** Records are locked for about as long: others must not wait for a whole step of large ones. */
const mostStepMs = 500;
const mostAttempts = 8;

export function changeManyHandler(ctx: JsondbContext): Handler {
  return on(
    changeMany,
    async ({ accountId, taskId, within, source = "api" }, { attempt, signal }) => {
      try {
        await withSource(source, () => run(ctx, accountId, { taskId, within }, signal));
      } catch (error) {
        // What passes is tried again by the job.
        const passes = databaseFault(error) !== undefined || (error instanceof HttpError && error.status === 503);
        if (signal.aborted || (passes && attempt < mostAttempts)) throw error;
        ctx.log.warn("a change of many records has failed", { error });
        await taskStore.fail(
          ctx.sql,
          accountId,
          taskId,
          error instanceof HttpError ? error.message : "the server failed",
        );
      }
    },
    { concurrency: 1, maxAttempts: mostAttempts },
  );
}

/** The task. 409 if another one of this database is under way. */
export async function beginChange(
  ctx: JsondbContext,
  db: Database,
  { query, data, undoes, userId, within }: Asked,
): Promise<TaskRow> {
  const table = oneTable(db, scopeOf(db, query));
  if (data) {
    mayKnow(db, "edit", Object.keys(asStored(noTable, data)));
    if (Object.keys(data).length === 0) throw invalid({ data: ["must have at least one field"] });
    jsonOf(data);
    if (table) refuse(checkPatch(table, asStored(table, data)));
  }
  const { accountId } = db;
  const taskId = uuidv7();
  const begun = ctx.transaction(async (tx) => {
    if (await bulkStore.isUnderWay(tx, accountId, db.id)) throw conflict(isBusy);
    const kind = data ? "update" : "delete";
    await taskStore.insert(tx, { id: taskId, accountId, dbId: db.id, kind, userId });
    if (undoes && !(await taskStore.claimUndo(tx, accountId, undoes, taskId))) throw conflict("it was undone already");
    await bulkStore.insert(tx, db, { taskId, accountId, query: query.toString(), data, undoes });
    const source = sourceOf(currentActor());
    await ctx.enqueue(changeMany, { accountId, taskId, within, source }, { tx, accountId });
    const task = await taskStore.byId(tx, accountId, db.id, taskId);
    if (!task) throw new Error("the task is not there"); // it was inserted just now
    return task;
  });
  // Of two at once, one meets the index of running changes.
  return begun.catch((error: unknown) => {
    throw databaseFault(error) === "unique" ? conflict(isBusy) : error;
  });
}

/** The database, and who changes its records; a program, if the person is gone and everybody may. */
interface Changing {
  readonly db: Database;
  readonly viewer: Viewer | undefined;
}

async function write(
  ctx: JsondbContext,
  tx: Tx,
  { db, viewer }: Changing,
  { id, tableName }: Found,
  { data, named }: { readonly data: Data | null; readonly named: ReadonlySet<string> },
): Promise<void> {
  if (data === null) return records.remove(ctx, db, id, { viewer }, tx);
  const table = db.rules.tables.get(tableName) ?? { ...noTable, name: tableName };
  const done = await records.merge(
    ctx,
    db,
    id,
    { table, data, viewer, keepsTable: true, named },
    { form: "nested" },
    tx,
  );
  if (done === undefined) throw moved;
}

async function perform(
  ctx: JsondbContext,
  tx: Tx,
  changing: Changing,
  change: Change,
  found: readonly Found[],
): Promise<Step> {
  const begun = performance.now();
  const faults: RowFault[] = [];
  const { accountId, rules } = changing.db;
  const { data } = change;
  const named = await namedThere(ctx, tx, accountId, rules.tables.values(), data ? [data] : [], changing.viewer);
  let [stored, failed, last] = [0, 0, undefined as string | undefined];
  for (const record of found) {
    try {
      await write(ctx, tx, changing, record, { data, named });
      stored++;
    } catch (error) {
      // It was written before it was seen that it may not be so.
      if (error instanceof HttpError && error.status === 403)
        throw new Refused(record, invalid({ base: [error.message] }));
      if (!(error instanceof ValidationError)) throw error;
      // PostgreSQL has refused the size: this transaction can do nothing more.
      if (Object.hasOwn(error.fields, "data")) throw new Refused(record, error);
      failed++;
      faults.push(...faultsOf(record, change.done + stored + failed, error));
    }
    last = record.id;
    if (performance.now() - begun > mostStepMs) break;
  }
  return { last, stored, failed, faults };
}

/** Whether there may be more to do; undefined if the schema has changed meanwhile. */
function step(ctx: JsondbContext, changing: Changing, taskId: string, limit: number) {
  const { db } = changing;
  return ctx
    .transaction(async (tx) => {
      const change = await bulkStore.lock(tx, db.accountId, taskId);
      if (!change) return false;
      const { params, ends } = await endFilters(ctx, changing, new URLSearchParams(change.query));
      const scope = { ...scopeOf(db, params), ends };
      if (change.total === null) {
        await bulkStore.measured(tx, change, await bulkStore.count(tx, db, scope, change));
        return true;
      }
      const found = await bulkStore.page(tx, db, scope, change, limit);
      const result = await perform(ctx, tx, changing, change, found);
      const isEnd = found.length < limit && result.last === found.at(-1)?.id;
      await bulkStore.advance(tx, change, result, isEnd);
      return !isEnd;
    })
    .catch((error: unknown) => {
      if (error === moved) return undefined;
      throw error;
    });
}

function skip(ctx: JsondbContext, accountId: number, taskId: string, { record, error }: Refused) {
  return ctx.transaction(async (tx) => {
    const change = await bulkStore.lock(tx, accountId, taskId);
    if (!change) return;
    const faults = faultsOf(record, change.done + 1, error);
    await bulkStore.advance(tx, change, { last: record.id, stored: 0, failed: 1, faults }, false);
  });
}

async function run(
  ctx: JsondbContext,
  accountId: number,
  { taskId, within }: { readonly taskId: string; readonly within: Within },
  signal: AbortSignal,
): Promise<void> {
  const begun = await ctx.transaction((tx) => bulkStore.lock(tx, accountId, taskId));
  if (!begun) return;
  // Steps of one record, so that one which PostgreSQL refuses takes no others with it.
  let careful = 0;
  for (let isMore = true; isMore; careful = Math.max(0, careful - 1)) {
    if (signal.aborted) throw new Error("stopped before all records were changed");
    const stored = await databases.find(ctx, accountId, begun.dbId);
    if (!stored) return taskStore.fail(ctx.sql, accountId, taskId, "the database was deleted");
    const person = begun.userId === null ? undefined : await ctx.accounts.access(begun.userId);
    const viewer = person?.active ? { ...person, within } : undefined;
    const db = openFor(stored, viewer);
    if (!db) return taskStore.fail(ctx.sql, accountId, taskId, "whoever began it may no longer change the records");
    try {
      isMore = await withActor(actorOf(begun), () =>
        databases.upToDate(ctx, db, (current) =>
          step(ctx, { db: current, viewer }, taskId, careful > 0 ? 1 : recordsPerStep),
        ),
      );
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (careful > 0) await skip(ctx, accountId, taskId, error);
      else careful = recordsPerStep + 1;
    }
  }
}

/** Whoever began it deletes and changes the records. */
function actorOf({ accountId: account, userId: user }: Change): (() => Actor) | undefined {
  return user === null ? undefined : () => ({ kind: "person", account, user });
}

const isBusy = "many records of this database are being changed already, wait for the end or stop it";

/** As the person who began the change may use it now; undefined if they may change nothing. */
function openFor(stored: StoredDatabase, viewer: Viewer | undefined): Database | undefined {
  if (stored.access === null && !viewer?.within) return stored.whole; // whoever may begin a change may end it
  const db = viewer && tryOpen(stored, viewer);
  return db && may(db, "edit") ? db : undefined;
}

/** Rolls the transaction back. */
const moved = new Error("the schema has changed");

class Refused extends Error {
  readonly record: Found;
  readonly error: ValidationError;

  constructor(record: Found, error: ValidationError) {
    super("PostgreSQL refused a record", { cause: error });
    this.record = record;
    this.error = error;
  }
}

/** `row` is the number of the record among those that were looked at. */
function faultsOf({ id }: Found, row: number, { fields }: ValidationError): RowFault[] {
  return Object.entries(fields).map(([field, messages]) =>
    boundedFault({ row, id, field, message: messages.join(", ") }),
  );
}
