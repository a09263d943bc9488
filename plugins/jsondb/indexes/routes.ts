import * as indexStore from "./store.ts";
import { answer, field, pageReply, pageOf, pageQuery, route, Type, type Route } from "platform";
import type { Database } from "../databases/database.ts";
import { dbAccess, openAt } from "../databases/cache.ts";
import type { IndexRow } from "./store.ts";
import { fieldsOfShape, parseShape } from "./shape.ts";
import type { JsondbContext } from "../context.ts";

const LearnedIndex = answer.object("DbIndex", {
  id: answer.uuid(),
  status: field.oneOf(["watched", "building", "ready", "failed"]),
  declared: Type.Boolean(),
  searches: answer.list(
    Type.Object({
      table_name: field.nullable(Type.String()),
      filters: answer.list(Type.String()),
      sort: Type.String(),
    }),
  ),
  calls: Type.Integer(),
  milliseconds: Type.Integer(),
  error: field.nullable(Type.String()),
  created_at: answer.time(),
  updated_at: answer.time(),
  used_at: answer.time(),
});

const example = {
  id: "019a9c1e-0000-7000-8000-000000000005",
  status: "ready",
  declared: false,
  searches: [{ table_name: null, filters: ["city"], sort: "age" }],
  calls: 24_310,
  milliseconds: 19_877,
  error: null,
  created_at: "2026-01-31T10:00:00.000Z",
  updated_at: "2026-01-31T10:02:00.000Z",
  used_at: "2026-01-31T12:00:00.000Z",
};

/** The indexes that a database has learned from its searches. */
export function indexRoute(ctx: JsondbContext): Route {
  return route(
    "GET",
    "/core/dbs/:db_id/indexes",
    {
      summary: "List the indexes that a database declares, and has learned from its searches",
      description:
        "Declared ones first, then the most expensive searches. `searches` are the filters by equality and the field of the order that an entry is about; `calls` and `milliseconds` are their number and time since it was first seen, of watched ones the older the less. A database of at least 10,000 records gets an index of its own for what has taken 5 seconds in 100 searches or more: at most 4 (16 in all databases), built one at a time while everything goes on, dropped when it has not been used for 7 days. What `sorts` of the schema declare (`declared`) is built as soon as the database has 1,000 records, whatever it is searched for, counts among the 4, takes the place of a learned one where there are enough, and stays while it is declared. Answers are the same with and without.",
      access: dbAccess,
      query: pageQuery,
      answers: { 200: answer.list(LearnedIndex) },
      responses: { 200: [example] },
    },
    async (input) => {
      const { account, params, query } = input;
      const db = await openAt(ctx, input, params.db_id, "manage");
      return pageReply(await indexStore.list(ctx.sql, account.id, db.id, pageOf(query)), (row) => toApi(db, row));
    },
  );
}

function toApi(db: Database, row: IndexRow) {
  const shape = parseShape(row.shape);
  const searches = [...db.schema.tables.values()].flatMap((table) => {
    const fields = fieldsOfShape(table, shape);
    return fields ? [{ table_name: table.name === "" ? null : table.name, ...fields }] : [];
  });
  return {
    id: row.id,
    status: row.status,
    declared: row.declared,
    searches,
    calls: Math.round(row.calls),
    milliseconds: Math.round(row.milliseconds),
    error: row.error,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    used_at: row.usedAt,
  };
}
