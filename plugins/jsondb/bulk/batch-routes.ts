import { jsonText, route, Type, warned, type Route, flagOf } from "platform";
import { BatchResults } from "../records/answers.ts";
import { operationHints, readOperations, runBatch } from "./batch.ts";
import { nullTableHints } from "../databases/database.ts";
import { databaseAt } from "../databases/cache.ts";
import { recordExample } from "../records/record-routes.ts";
import type { JsondbContext } from "../context.ts";

const access = { privilege: "dbs" } as const;

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
      access,
      query: { keep_table: "`true`: an update without `table_name` leaves the record in its table" },
      body: { schema: Operations },
      request: {
        operations: [
          { op: "create", data: recordExample.data, table_name: null },
          { op: "update", id: recordExample.id, data: { age: 35 }, if_updated_at: recordExample.updated_at },
          { op: "delete", id: "019a9c1e-0000-7000-8000-000000000003" },
        ],
      },
      answers: { 200: BatchResults },
      responses: {
        200: {
          results: [recordExample, recordExample, { id: "019a9c1e-0000-7000-8000-000000000003", deleted: true }],
        },
        422: {
          "operations[0].data.email": ["is required"],
          "operations[1].if_updated_at": ["is not the record's `updated_at` any more: 2026-01-31T10:00:07.000Z"],
        },
      },
    },
    async ({ account, params, query, body }) => {
      const db = await databaseAt(ctx, account.id, params.db_id);
      const operations = readOperations(body.operations, flagOf(query, "keep_table") === true);
      const answers = await runBatch(ctx, db, operations);
      const withoutTable = operations.filter(
        (operation) =>
          operation.op !== "delete" && !operation.tableName && !(operation.op === "update" && operation.keepsTable),
      );
      const hints = [
        ...operationHints(body.operations),
        ...nullTableHints(db, withoutTable.length, "with each operation"),
      ];
      return warned(jsonText(200, `{"results":[${answers.join(",")}]}`), hints);
    },
  );
}
