/** The inbox of a person: comments that mention them, of records that they may read now. behaviour B.7. */
import { answer, field, notFound, noContent, ok, pageOf, pageQuery, pageReply, route, Type, uuidOf } from "platform";
import type { Route } from "platform";
import type { Viewer } from "../access/reach.ts";
import type { JsondbContext } from "../context.ts";
import { find, viewerOf } from "../databases/cache.ts";
import { tryOpen } from "../databases/database.ts";
import { markRead, notices, openRecords, type NoticeRow } from "./store.ts";

const ownAccess = { signedIn: "they are one's own, of records that one may read" } as const;

const noticeExample = {
  id: "019a9c1e-0000-7000-8000-000000000006",
  kind: "mention",
  db_code: "customers",
  record_id: "019a9c1e-0000-7000-8000-000000000002",
  comment_id: "019a9c1e-0000-7000-8000-000000000005",
  text: "@anna please look at the **price**",
  from_user_id: 1,
  from_user_name: "Ann",
  created_at: "2026-01-31T10:00:00.000Z",
  read_at: null,
};

const Shown = answer.object("Notice", {
  id: answer.uuid(),
  kind: field.oneOf(["mention"]),
  db_code: Type.String(),
  record_id: answer.uuid(),
  comment_id: answer.uuid(),
  text: Type.String(),
  from_user_id: field.nullable(Type.Integer()),
  from_user_name: field.nullable(Type.String()),
  created_at: answer.time(),
  read_at: field.nullable(answer.time()),
});

const mostNotices = 200;
const inboxPage = {
  limit: Type.Integer({ minimum: 1, maximum: mostNotices, default: mostNotices, description: "1 to 200, default 200" }),
  offset: pageQuery.offset,
};

export function inboxRoutes(ctx: JsondbContext): Route[] {
  return [
    route(
      "GET",
      "/core/inbox",
      {
        summary: "List what one was told of, the newest first",
        description: "The newest 200: comments that mention one. `text` is the first 500 characters of the comment.",
        access: ownAccess,
        query: inboxPage,
        answers: { 200: answer.list(Shown) },
        responses: { 200: [noticeExample] },
      },
      async (input) => {
        const all = await noticesOf(ctx, input.account.id, viewerOf(input));
        const { limit, offset } = pageOf(input.query, mostNotices, mostNotices);
        return pageReply({ rows: all.slice(offset, offset + limit), total: all.length, next: undefined }, noticeOf);
      },
    ),
    route(
      "PATCH",
      "/core/inbox/:id",
      {
        summary: "Mark a notice as read or unread",
        access: ownAccess,
        body: { key: "notice", schema: Type.Object({ read: field.flag() }) },
        request: { read: true },
        answers: { 200: Shown },
        responses: { 200: { ...noticeExample, read_at: "2026-01-31T10:05:00.000Z" } },
      },
      async (input) => {
        const id = uuidOf(input.params.id);
        if ((await noticesOf(ctx, input.account.id, viewerOf(input), id)).length === 0) throw notFound();
        await ctx.transaction((tx) => markRead(tx, input.account.id, input.caller.user.id, input.body.read, id));
        const [notice] = await noticesOf(ctx, input.account.id, viewerOf(input), id);
        if (!notice) throw notFound(); // the comment was deleted just now
        return ok(noticeOf(notice));
      },
    ),
    route(
      "POST",
      "/core/inbox/read",
      { summary: "Mark all notices as read", access: ownAccess, responses: { 204: null } },
      async ({ account, caller }) => {
        await ctx.transaction((tx) => markRead(tx, account.id, caller.user.id, true));
        return noContent();
      },
    ),
  ];
}

function noticeOf(one: Notice) {
  const { id, dbCode, recordId, commentId, text, fromUserId, fromUserName, createdAt, readAt } = one;
  return {
    id,
    kind: "mention" as const,
    db_code: dbCode,
    record_id: recordId,
    comment_id: commentId,
    text,
    from_user_id: fromUserId,
    from_user_name: fromUserName,
    created_at: createdAt,
    read_at: readAt,
  };
}

interface Notice extends NoticeRow {
  readonly dbCode: string;
}

/** Of the viewer, the newest first; with an id that one alone. */
export async function noticesOf(ctx: JsondbContext, accountId: number, viewer: Viewer, id?: string): Promise<Notice[]> {
  const rows = await notices(ctx.sql, accountId, viewer.user.id, id);
  const byDb = Map.groupBy(rows, ({ dbId }) => dbId);
  const open = new Map<string, string>();
  for (const [dbId, its] of byDb) {
    const stored = await find(ctx, accountId, dbId);
    const db = stored && tryOpen(stored, viewer);
    if (!db) continue;
    const records = await openRecords(ctx.sql, db, [...new Set(its.map(({ recordId }) => recordId))], "read");
    for (const one of its) if (records.has(one.recordId)) open.set(one.id, db.code);
  }
  return rows.flatMap((row) => {
    const dbCode = open.get(row.id);
    return dbCode === undefined ? [] : [{ ...row, dbCode }];
  });
}
