import {
  afterCommit,
  answer,
  etag,
  field,
  forbidden,
  jsonText,
  noContent,
  notFound,
  pageOf,
  pageQuery,
  pageReply,
  route,
  Type,
  uuidOf,
  warned,
} from "platform";
import type { Route, Tx } from "platform";
import type { JsondbContext } from "../context.ts";
import { dbAccess, openAt, upToDate } from "../databases/cache.ts";
import type { Database } from "../databases/database.ts";
import { noTable } from "../databases/schema.ts";
import * as historyStore from "../history/store.ts";
import { linksOf, withoutLost } from "../links/links.ts";
import * as linkStore from "../links/store.ts";
import { actorOf, tellWanted } from "../records/events.ts";
import { claimNew, newClaims, refuseTaken } from "../records/keys.ts";
import { jsonOf } from "../records/record.ts";
import * as recordStore from "../records/store.ts";
import type { Written } from "../records/store.ts";
import { written } from "../records/writes.ts";
import { recordExample, ShownRecord } from "../records/routes.ts";
import * as trashStore from "./store.ts";
import type { TrashedRecord, TrashedRow } from "./store.ts";

const TrashedRecord = answer.object("TrashedRecord", {
  id: answer.uuid(),
  data: answer.json(),
  table_name: field.nullable(Type.String()),
  created_at: answer.time(),
  updated_at: answer.time(),
  deleted_at: answer.time(),
  deleted_by_id: field.nullable(Type.Integer()),
  deleted_by_name: field.nullable(Type.String()),
});

const example = {
  ...recordExample,
  deleted_at: "2026-02-01T10:00:00.000Z",
  deleted_by_id: 1,
  deleted_by_name: "Ann",
};

/** Deleted records of a database. behaviour B.7. */
export function trashRoutes(ctx: JsondbContext): Route[] {
  return [
    route(
      "GET",
      "/core/dbs/:db_id/trash",
      {
        summary: "List deleted records",
        description: "Those that the caller could read as they were last, the newest deletion first.",
        access: dbAccess,
        query: pageQuery,
        answers: { 200: answer.list(TrashedRecord) },
        responses: { 200: [example] },
      },
      async (input) => {
        const db = await openAt(ctx, input, input.params.db_id);
        return pageReply(await trashStore.list(ctx.sql, db, pageOf(input.query)), toApi);
      },
    ),
    route(
      "POST",
      "/core/dbs/:db_id/trash/:id/restore",
      {
        summary: "Restore a deleted record",
        description:
          "With the same id and `created_at`, as it was. It takes the level `edit`. Fields that the schema asks for since then are not checked. Links to records that are gone are cleared, which `Warning` says.",
        access: dbAccess,
        answers: { 200: ShownRecord },
        responses: { 200: recordExample, 422: { email: ["is already taken"] } },
      },
      async (input) => {
        const db = await openAt(ctx, input, input.params.db_id, "edit");
        const id = uuidOf(input.params.id, missingDeleted);
        const restored = await restore(ctx, db, id);
        return warned(jsonText(200, restored.answer, { etag: etag(id, restored.version) }), restored.hints);
      },
    ),
    route(
      "DELETE",
      "/core/dbs/:db_id/trash/:id",
      {
        summary: "Delete a deleted record for good",
        description: "It takes the level `manage`.",
        access: dbAccess,
        responses: { 204: null },
      },
      async (input) => {
        const db = await openAt(ctx, input, input.params.db_id, "manage");
        const id = uuidOf(input.params.id, missingDeleted);
        await ctx.transaction(async (tx) => {
          if (!(await trashStore.remove(tx, db, id))) throw notFound(missingDeleted);
          await historyStore.forget(tx, db, id);
        });
        return noContent();
      },
    ),
  ];
}

function toApi(row: TrashedRow) {
  return {
    id: row.id,
    data: row.data,
    table_name: row.tableName === "" ? null : row.tableName,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    deleted_at: row.deletedAt,
    deleted_by_id: row.deletedById,
    deleted_by_name: row.deletedByName,
  };
}

const missingDeleted = "there is no such deleted record";

// How a record comes back.

/**
 * With its id and the time at which it was made, as it was: a schema that has changed meanwhile refuses it no more than
 * the records that stayed. 404 if it is not there, 403 if it may be read and not be
 * changed, 422 if another record has the value of a unique field now, or a required link leads nowhere.
 */
function restore(ctx: JsondbContext, db: Database, id: string): Promise<Restored> {
  return upToDate(ctx, db, (current) => ctx.transaction((tx) => within(ctx, tx, current, id)));
}

async function within(ctx: JsondbContext, tx: Tx, db: Database, id: string): Promise<Restored | undefined> {
  const kept = await trashStore.lock(tx, db, id);
  if (!kept) throw notFound(missingDeleted);
  if (!kept.mayEdit) throw forbidden("the `access` of the database does not let you change this record");
  const hints = await bringBack(ctx, tx, db, kept);
  const record = hints && (await recordStore.get(tx, db, id, { form: "nested" }));
  return record && { ...record, hints };
}

/** A record that came back, and what is said of links that it has lost. */
export interface Restored extends Written {
  readonly hints: readonly string[];
}

/** Stores a record that was deleted, and gives the hints. Undefined if the database has another schema by now. */
export async function bringBack(
  ctx: JsondbContext,
  tx: Tx,
  db: Database,
  kept: Pick<TrashedRecord, "id" | "tableName" | "data" | "json" | "createdAt" | "updatedAt">,
): Promise<readonly string[] | undefined> {
  const { id, tableName, createdAt } = kept;
  const table = db.rules.tables.get(tableName) ?? { ...noTable, name: tableName };
  const { data, hints } = await withoutLost(ctx, tx, { db, table }, kept);
  const json = data === kept.data ? kept.json : jsonOf(data);
  // A version that somebody saw before is none of the restored record's.
  const updatedAt = new Date(Math.max(Date.now(), kept.updatedAt.getTime() + 1));
  const actor = await actorOf(ctx, db, tx);
  refuseTaken(await claimNew(tx, db, newClaims(db, tableName, id, data)));
  if (!(await recordStore.insert(tx, db, table, { id, createdAt, updatedAt, data, json, actor }))) return undefined;
  await trashStore.remove(tx, db, id);
  const links = linksOf(table, data);
  if (links.length > 0)
    await linkStore.replace(tx, { accountId: db.accountId, dbId: db.id, tableName, recordId: id }, links);
  await tellWanted(ctx, db, "create", { id, tableName, data, createdAt, updatedAt }, tx);
  afterCommit(tx, () => written(ctx, db));
  return hints;
}
