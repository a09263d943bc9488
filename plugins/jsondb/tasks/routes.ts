import * as taskStore from "./store.ts";
import {
  answer,
  conflict,
  invalid,
  pageReply,
  notFound,
  ok,
  pageOf,
  pageQuery,
  route,
  uuidOf,
  field,
  Type,
} from "platform";
import type { Caller, Route, Static } from "platform";
import { beginChange } from "../bulk/change-many.ts";
import { noTable } from "../databases/schema.ts";
import { dbAccess, find, openAt, viewerOf } from "../databases/cache.ts";
import { RowFault } from "../records/routes.ts";
import { tryOpen, type Database } from "../databases/database.ts";
import { mayAll } from "../access/reach.ts";
import type { TaskRow } from "./store.ts";
import type { JsondbContext } from "../context.ts";

export const taskExample = {
  id: "019a9c1e-0000-7000-8000-000000000003",
  kind: "import",
  status: "finished",
  done: 3,
  total: 3,
  stored: 2,
  failed: 1,
  error: null,
  warnings: [],
  created_by_id: 1,
  started_at: "2026-01-31T10:00:00.000Z",
  finished_at: "2026-01-31T10:00:04.000Z",
  undo_id: null,
};

const kind = field.oneOf(["import", "export", "reindex", "update", "delete"]);
const status = field.oneOf(["running", "finished", "failed"]);
const mostOwn = 200;
const ownPage = {
  limit: Type.Integer({ minimum: 1, maximum: mostOwn, default: mostOwn, description: "1 to 200, default 200" }),
  offset: pageQuery.offset,
};
const missingTask = "there is no such task";
const notStopped = "only changes of many records can be stopped";
const fault = { row: 3, line: 4, field: "email", message: "is required" };

/** Imports, exports, changes of many records and re-indexing that run or ran; `:id` of a database is an id or a code. */
export function taskRoutes(ctx: JsondbContext): Route[] {
  return [
    route(
      "GET",
      "/core/tasks",
      {
        summary: "List one's own tasks of all databases, the newest first",
        description: "The newest 200 that one has begun, of databases that one may open.",
        access: { signedIn: "they are one's own, of databases that one may open" },
        query: { kind, status, ...ownPage },
        answers: { 200: answer.list(OwnTask) },
        responses: { 200: [{ ...taskExample, db_code: "customers", db_name: "Customers" }] },
      },
      async (input) => {
        const { account, caller, query } = input;
        const filter = { kind: query.get("kind") || undefined, status: query.get("status") || undefined };
        const rows = await taskStore.own(ctx.sql, account.id, caller.user.id, filter, mostOwn);
        const dbs = new Map<string, Database | undefined>();
        for (const { dbId } of rows) {
          if (dbs.has(dbId)) continue;
          const stored = await find(ctx, account.id, dbId);
          dbs.set(dbId, stored && tryOpen(stored, viewerOf(input)));
        }
        const all = rows.flatMap((row) => {
          const db = dbs.get(row.dbId);
          return db ? [{ ...toApi(row), db_code: db.code, db_name: row.dbName }] : [];
        });
        const { limit, offset } = pageOf(query, mostOwn, mostOwn);
        return pageReply({ rows: all.slice(offset, offset + limit), total: all.length, next: undefined }, (one) => one);
      },
    ),
    route(
      "GET",
      "/core/dbs/:db_id/tasks",
      {
        summary: "List imports, exports, changes of many records and re-indexing",
        description:
          "The newest first, kept for 7 days, at most 100 of a database. `done` counts the rows that were read, or the records that were exported, indexed, changed or deleted; `total` is null until it is known; `stored` and `failed` are rows of an import, or records that were changed or refused; `warnings` are what the answer of an import says in its header `Warning`. An import or export whose server stopped is `failed` two minutes later. Exports of more than 1,000 records are listed.",
        access: dbAccess,
        query: { kind, status, ...pageQuery },
        answers: { 200: answer.list(ListedTask) },
        responses: { 200: [taskExample] },
      },
      async (input) => {
        const { account, caller, params, query } = input;
        const db = await openAt(ctx, input, params.db_id);
        const filter = {
          kind: query.get("kind") || undefined,
          status: query.get("status") || undefined,
          userId: onlyOf(db, caller),
        };
        return pageReply(await taskStore.list(ctx.sql, account.id, db.id, filter, pageOf(query)), toApi);
      },
    ),
    route(
      "GET",
      "/core/dbs/:db_id/tasks/:task_id",
      {
        summary: "One task, with its faulty rows",
        description:
          "`errors` are the first 100 mistakes in rows, as the answer of the import has them; `/errors` has more. Where records are changed, `id` is the record that was refused.",
        access: dbAccess,
        answers: { 200: ShownTask },
        responses: { 200: { ...taskExample, errors: [fault] } },
      },
      async (input) => {
        const { account, params } = input;
        const db = await openAt(ctx, input, params.db_id);
        const row = await taskStore.byId(ctx.sql, account.id, db.id, uuidOf(params.task_id, missingTask));
        mustShow(db, input, row);
        return ok({ ...toApi(row), errors: row.errors });
      },
    ),
    route(
      "GET",
      "/core/dbs/:db_id/tasks/:task_id/errors",
      {
        summary: "The faulty rows of a task",
        description:
          "In the order of the rows: the first 10,000 mistakes, also while the task runs. `failed` of the task counts all faulty rows.",
        access: dbAccess,
        query: pageQuery,
        answers: { 200: answer.list(RowFault) },
        responses: { 200: [fault] },
      },
      async (input) => {
        const { account, params, query } = input;
        const db = await openAt(ctx, input, params.db_id);
        const row = await taskStore.byId(ctx.sql, account.id, db.id, uuidOf(params.task_id, missingTask));
        mustShow(db, input, row);
        return pageReply(await taskStore.errorsOf(ctx.sql, account.id, row.id, pageOf(query)), ({ error }) => error);
      },
    ),
    route(
      "POST",
      "/core/dbs/:db_id/tasks/:task_id/stop",
      {
        summary: "Stop a change of many records",
        description: "What it has done stays done. A task that has ended stays as it is.",
        access: dbAccess,
        when: { status: ["running"], kind: ["update", "delete"] },
        answers: { 200: ListedTask },
        responses: {
          200: { ...taskExample, kind: "update", status: "failed", error: "it was stopped" },
          409: { error: notStopped },
        },
      },
      async (input) => {
        const { account, params } = input;
        const db = await openAt(ctx, input, params.db_id, "edit");
        const id = uuidOf(params.task_id, missingTask);
        const row = await taskStore.byId(ctx.sql, account.id, db.id, id);
        mustShow(db, input, row);
        if (row.kind !== "update" && row.kind !== "delete") throw conflict(notStopped);
        await taskStore.fail(ctx.sql, account.id, id, "it was stopped");
        const stopped = await taskStore.byId(ctx.sql, account.id, db.id, id);
        return ok(toApi(stopped ?? row));
      },
    ),
    route(
      "POST",
      "/core/dbs/:db_id/tasks/:task_id/undo",
      {
        summary: "Undo an import",
        description:
          "Deletes the records that the import has made and that the caller may delete, also those that were changed since: they can be restored from the trash. The answer is the task that does it, like a deletion of many records; `failed` and `errors` are those that stay. While the import's own task is kept, for 7 days; once (`undo_id` names the task), and again only if that was stopped or has failed. Where a table keeps no deleted records, `for_good` must be true.",
        access: dbAccess,
        when: { status: ["finished"], kind: ["import"] },
        body: { schema: Type.Object({ for_good: Type.Optional(Type.Boolean()) }) },
        request: {},
        answers: { 202: ListedTask },
        responses: {
          202: {
            ...taskExample,
            kind: "delete",
            status: "running",
            done: 0,
            total: null,
            stored: 0,
            finished_at: null,
          },
          409: { error: "it was undone already" },
          422: { for_good: ["must be true: the table keeps no deleted records"] },
        },
      },
      async (input) => {
        const { account, caller, params, body } = input;
        const db = await openAt(ctx, input, params.db_id, "edit");
        const row = await taskStore.byId(ctx.sql, account.id, db.id, uuidOf(params.task_id, missingTask));
        mustShow(db, input, row);
        if (row.kind !== "import" || row.status !== "finished") throw conflict("only a finished import can be undone");
        const tables = await taskStore.tablesOf(ctx.sql, account.id, row.id);
        if (tables.length === 0) throw conflict("it made no records that are still known");
        const isForGood = tables.some((name) => (db.rules.tables.get(name) ?? noTable).trashDays === 0);
        if (isForGood && body.for_good !== true)
          throw invalid({ for_good: ["must be true: the table keeps no deleted records"] });
        const asked = { query: new URLSearchParams(), data: undefined, undoes: row.id, userId: caller.user.id };
        const task = await beginChange(ctx, db, { ...asked, within: caller.within });
        return { ...ok(toApi(task), { "x-task-id": task.id }), status: 202 };
      },
    ),
  ];
}

const task = {
  id: answer.uuid(),
  kind,
  status,
  done: Type.Integer(),
  total: field.nullable(Type.Integer()),
  stored: Type.Integer(),
  failed: Type.Integer(),
  error: field.nullable(Type.String()),
  warnings: answer.list(Type.String()),
  created_by_id: field.nullable(Type.Integer()),
  started_at: answer.time(),
  finished_at: field.nullable(answer.time()),
  undo_id: field.nullable(answer.uuid()),
};

/** A list leaves the faulty rows out. */
export const ListedTask = answer.object("DbTask", task);
const OwnTask = answer.object("OwnDbTask", { ...task, db_code: Type.String(), db_name: Type.String() });
export const ShownTask = answer.object("DbTaskWithErrors", { ...task, errors: answer.list(RowFault) });

export function toApi(row: TaskRow): Static<typeof ListedTask> {
  return {
    id: row.id,
    kind: row.kind,
    status: row.status,
    done: row.done,
    total: row.total,
    stored: row.stored,
    failed: row.failed,
    error: row.error,
    warnings: [...row.warnings],
    created_by_id: row.createdById,
    started_at: row.startedAt,
    finished_at: row.finishedAt,
    undo_id: row.undoId,
  };
}

/** Tasks tell of records: those of others are shown to whoever may read all records with all their fields. */
function onlyOf(db: Database, { user }: Caller): number | undefined {
  return mayAll(db, "read") ? undefined : user.id;
}

/** 404 for a task that is not there, or not for this caller. */
function mustShow(
  db: Database,
  { caller }: { readonly caller: Caller },
  row: TaskRow | undefined,
): asserts row is TaskRow {
  const only = onlyOf(db, caller);
  if (!row || (only !== undefined && row.createdById !== only)) throw notFound(missingTask);
}
