import * as changes from "./change-many.ts";
import { jsonText, route, Type, warned, flagOf, badRequest, field, invalid, ok } from "platform";
import type { Route, Reply } from "platform";
import {
  BatchResults,
  HeldByLinks,
  heldByLinks,
  recordExample,
  unknownTable,
  UnknownTable,
} from "../records/routes.ts";
import { operationHints, readOperations, runBatch, writtenHints } from "./batch.ts";
import { nullTableHints, type Database } from "../databases/database.ts";
import { endFilters } from "../links/filters.ts";
import { dbAccess, openAt, viewerOf } from "../databases/cache.ts";
import type { JsondbContext } from "../context.ts";
import { narrowing, narrows, fieldHints, namedFields, readList } from "../search/query.ts";
import { filterParameters, namesParameter } from "../search/routes.ts";
import { computedHints } from "../records/record.ts";
import { ListedTask, taskExample, toApi } from "../tasks/routes.ts";

const Operations = Type.Object({ operations: Type.Array(Type.Unknown()) });

/** `:id` of a database is an id or a code. */
export function batchRoute(ctx: JsondbContext): Route {
  return route(
    "POST",
    "/core/dbs/:db_id/batch",
    {
      summary: "Create, change and delete up to 1,000 records",
      description:
        "In one transaction, in order: all or none. An `update` merges `data` key by key; in a multi-table database send its `table_name` again, or `keep_table=true`. An `update` or `delete` with `if_updated_at`, the record's `updated_at` as you have seen it, is refused if anybody has changed the record since: 422 names each such operation, and nothing is written.",
      access: dbAccess,
      query: { keep_table: "`true`: an update without `table_name` leaves the record in its table" },
      body: { schema: Operations },
      request: {
        operations: [
          { op: "create", data: recordExample.data, table_name: null },
          { op: "update", id: recordExample.id, data: { age: 35 }, if_updated_at: recordExample.updated_at },
          { op: "delete", id: "019a9c1e-0000-7000-8000-000000000003" },
        ],
      },
      answers: { 200: BatchResults, 409: HeldByLinks },
      responses: {
        200: {
          results: [recordExample, recordExample, { id: "019a9c1e-0000-7000-8000-000000000003", deleted: true }],
        },
        ...heldByLinks,
        422: {
          "operations[0].data.email": ["is required"],
          "operations[1].if_updated_at": ["is not the record's `updated_at` any more: 2026-01-31T10:00:07.000Z"],
        },
      },
    },
    async (input) => {
      const { params, query, body } = input;
      const db = await openAt(ctx, input, params.db_id, "add");
      const operations = readOperations(body.operations, flagOf(query, "keep_table") === true);
      const answers = await runBatch(ctx, { db, viewer: viewerOf(input) }, operations);
      const withoutTable = operations.filter(
        (operation) =>
          operation.op !== "delete" && !operation.tableName && !(operation.op === "update" && operation.keepsTable),
      );
      const hints = [
        ...operationHints(body.operations),
        ...writtenHints(db, operations),
        ...nullTableHints(db, withoutTable.length, "with each operation"),
      ];
      return warned(jsonText(200, `{"results":[${answers.join(",")}]}`), hints);
    },
  );
}

const Change = Type.Object({
  op: field.oneOf(["update", "delete"]),
  data: Type.Optional(field.object()),
  all: Type.Optional(Type.Boolean()),
});

/** `:id` of a database is an id or a code. */
export function changeManyRoute(ctx: JsondbContext): Route {
  return route(
    "POST",
    "/core/dbs/:db_id/bulk",
    {
      summary: "Change or delete all records that filters find",
      description:
        "`update` merges `data` into each record, key by key, and leaves it in its table; `delete` deletes it. The records are those that the list finds with the same `table_name`, `q` and filters, and that existed when it began; without any of them `all` must be true. The answer is a task that goes on by itself: `/core/dbs/:db_id/tasks/:task_id` says how far it is, and names the records that were refused. It cannot be undone, but stopped. One of each database at a time.",
      access: dbAccess,
      query: {
        table_name: "only this table",
        q: "phrase, as in the list of records",
        search_in: namesParameter("fields for `q`"),
        ...filterParameters,
      },
      asks: { "filter[email]": "ann@example.com" },
      body: { schema: Change },
      request: { op: "update", data: { city: "Łódź" } },
      answers: { 202: ListedTask, 400: UnknownTable },
      responses: {
        202: { ...taskExample, kind: "update", status: "running", done: 0, total: null, stored: 0, finished_at: null },
        ...unknownTable,
        409: { error: "many records of this database are being changed already, wait for the end or stop it" },
        422: { data: ["is required"] },
      },
    },
    async (input) => {
      const { caller, params, query, body } = input;
      const db = await openAt(ctx, input, params.db_id, "edit");
      const { op, data, all } = body;
      const asked = askedOf(query, all === true);
      if (op === "update" && data === undefined) throw invalid({ data: ["is required"] });
      if (op === "delete" && data !== undefined) throw invalid({ data: ["must be left out of a deletion"] });
      const { hints } = await endFilters(ctx, { db, viewer: viewerOf(input) }, asked);
      if (hints.length > 0) throw badRequest(hints.join("; "));
      const task = await changes.beginChange(ctx, db, {
        query: asked,
        data,
        userId: caller.user.id,
        within: caller.within,
      });
      const reply: Reply = { ...ok(toApi(task), { "x-task-id": task.id }), status: 202 };
      const computed = computedHints(db.rules.tables.values(), Object.keys(data ?? {}));
      return warned(reply, [...hintsOf(db, asked), ...computed]);
    },
  );
}

/** A parameter that was misspelt must not change more records than were meant. */
function askedOf(query: URLSearchParams, all: boolean): URLSearchParams {
  const unknown = [...query.keys()].find((name) => !narrows(name));
  if (unknown !== undefined) throw badRequest(`unknown parameter \`${unknown.slice(0, 100)}\``);
  const asked = new URLSearchParams(narrowing(query));
  if (asked.size === 0 && !all) throw invalid({ all: ["must be true to change every record: or send filters"] });
  return asked;
}

function hintsOf(db: Database, asked: URLSearchParams): string[] {
  const found = readList(db, asked);
  return fieldHints(db, found, namedFields(found));
}
