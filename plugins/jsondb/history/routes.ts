/** The history of a record, and how it becomes what it was. behaviour B.7. */
import {
  answer,
  badRequest,
  etag,
  expectedVersion,
  field,
  integerId,
  isUuid,
  jsonText,
  notFound,
  ok,
  pageOf,
  pageQuery,
  pageReply,
  route,
  Type,
  uuidOf,
  warned,
  type Route,
} from "platform";
import type { JsondbContext } from "../context.ts";
import { dbAccess, openAt, viewerOf } from "../databases/cache.ts";
import { versionDigits } from "../records/print.ts";
import { recordExample, ShownRecord } from "../records/routes.ts";
import { restoreEntry } from "./history.ts";
import * as historyStore from "./store.ts";
import type { EntryRow, Place } from "./store.ts";
import { missingRecord } from "../records/record.ts";

const HistoryEntry = answer.object("HistoryEntry", {
  n: Type.Integer(),
  op: field.oneOf(["create", "update", "delete", "restore"]),
  at: answer.time(),
  user_id: field.nullable(Type.Integer()),
  user_name: field.nullable(Type.String()),
  source: field.oneOf(["api", "studio", "app", "flow", "import", "public", "mcp"]),
  changes: answer.json(),
});

const example = {
  n: 2,
  op: "update",
  at: "2026-02-01T10:00:00.000Z",
  user_id: 1,
  user_name: "Ann",
  source: "api",
  changes: { age: [34, 35] },
};

const DbHistoryEntry = answer.object("DbHistoryEntry", {
  ...HistoryEntry.properties,
  record_id: answer.uuid(),
  table_name: field.nullable(Type.String()),
  title: field.nullable(Type.String()),
});

export function historyRoutes(ctx: JsondbContext): Route[] {
  return [
    route(
      "GET",
      "/core/dbs/:db_id/history",
      {
        summary: "List the changes of all records",
        description:
          "As the history of one record; `title` is what people know the record by. `X-Next-Cursor` is the `before` of the next page; the last page has none.",
        access: dbAccess,
        query: { before: "only changes before this cursor", limit: pageQuery.limit },
        answers: { 200: answer.list(DbHistoryEntry) },
        responses: { 200: [{ ...example, record_id: recordExample.id, table_name: null, title: "Ann" }] },
      },
      async (input) => {
        const db = await openAt(ctx, input, input.params.db_id);
        const { limit } = pageOf(input.query);
        const { rows, next } = await historyStore.listAll(ctx.sql, db, limit, placeOf(input.query.get("before")));
        return ok(
          rows.map((row) => ({
            ...toApi(row),
            record_id: row.id,
            table_name: row.tableName || null,
            title: row.title,
          })),
          next && { "x-next-cursor": `${next.moment}/${next.id}/${next.n}` },
        );
      },
    ),
    route(
      "GET",
      "/core/dbs/:db_id/records/:id/history",
      {
        summary: "List the changes of a record",
        description:
          "The newest first, of tables with `history: true`: field to what it was and became. Entries after which the caller could not read the record are left out. Of a deleted record, for those who could read it.",
        access: dbAccess,
        query: pageQuery,
        answers: { 200: answer.list(HistoryEntry) },
        responses: { 200: [example] },
      },
      async (input) => {
        const db = await openAt(ctx, input, input.params.db_id);
        const id = uuidOf(input.params.id, missingRecord);
        if (!(await historyStore.isOpen(ctx.sql, db, id))) throw notFound(missingRecord);
        return pageReply(await historyStore.list(ctx.sql, db, id, pageOf(input.query)), toApi);
      },
    ),
    route(
      "POST",
      "/core/dbs/:db_id/records/:id/history/:n/restore",
      {
        summary: "Restore a record as it was after a change",
        description:
          "A deleted record comes back under its id; the entry of a deletion stands for the record as it was last. It takes the level `edit`, and is checked by today's schema. What is hidden from the caller stays as it is.",
        access: dbAccess,
        ifMatch: true,
        answers: { 200: ShownRecord },
        responses: { 200: recordExample, 422: { email: ["is required"] } },
      },
      async (input) => {
        const { request, params } = input;
        const db = await openAt(ctx, input, params.db_id, "edit");
        const id = uuidOf(params.id, missingRecord);
        const expected = expectedVersion(request, id, versionDigits);
        const asked = {
          id,
          n: integerId(params.n, `its history has no entry ${params.n.slice(0, 20)}`),
          viewer: viewerOf(input),
          expected,
        };
        const restored = await restoreEntry(ctx, db, asked);
        return warned(jsonText(200, restored.answer, { etag: etag(id, restored.version) }), restored.hints);
      },
    ),
  ];
}

function placeOf(cursor: string | null): Place | undefined {
  if (!cursor) return undefined;
  const [moment = "", id = "", n = ""] = cursor.split("/");
  if (!/^\d{1,16}$/.test(moment) || !isUuid(id) || !/^\d{1,9}$/.test(n)) throw badRequest("`before` must be a cursor");
  return { moment, id, n: Number(n) };
}

function toApi({ n, op, at, userId, userName, source, changes }: EntryRow) {
  return { n, op, at, user_id: userId, user_name: userName, source, changes };
}
