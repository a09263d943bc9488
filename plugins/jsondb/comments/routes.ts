/** Comments of a record, and the inbox of those whom they mention. behaviour B.7. */
import {
  answer,
  change,
  create,
  created,
  erase,
  expectedVersion,
  field,
  forbidden,
  found,
  noContent,
  notFound,
  ok,
  pageOf,
  pageQuery,
  pageReply,
  refOf,
  route,
  shown,
  toApi,
  Type,
  uuidOf,
  warned,
  type Route,
} from "platform";
import type { JsondbContext } from "../context.ts";
import { dbAccess, find, openAt, viewerOf, type Viewing } from "../databases/cache.ts";
import { Comment, mentionsIn, type CommentAt, type CommentRow } from "./comment.ts";
import { tryOpen } from "../databases/database.ts";
import { markRead, notices, openRecords, page, type NoticeRow } from "./store.ts";

type Asked = Viewing & { readonly params: { readonly db_id: string; readonly id: string } };

/** The record as the caller may read it, or with `add` comment on it: 404, 403. */
async function placeOf(ctx: JsondbContext, input: Asked, level: "read" | "add" = "read"): Promise<CommentAt> {
  const db = await openAt(ctx, input, input.params.db_id, level);
  const recordId = uuidOf(input.params.id).toLowerCase();
  const isOpen = async (to: typeof level) => (await openRecords(ctx.sql, db, [recordId], to)).size > 0;
  if (!(await isOpen("read"))) throw notFound("there is no such record");
  if (level === "add" && !(await isOpen("add")))
    throw forbidden("the `access` of the database does not let you comment on this record");
  return { ...ctx, caller: input.caller, db, recordId };
}

export function commentRoutes(ctx: JsondbContext): Route[] {
  const { one } = Comment.answers;
  return [
    route(
      "GET",
      "/core/dbs/:db_id/records/:id/comments",
      {
        summary: "List the comments of a record, the oldest first",
        access: dbAccess,
        query: pageQuery,
        answers: { 200: answer.list(one) },
        responses: { 200: [Comment.examples.one] },
      },
      async (input) => {
        const { db, recordId, sql } = await placeOf(ctx, input);
        const rows = await page<CommentRow>(sql, db, recordId, Comment.read, pageOf(input.query));
        return pageReply(rows, (row) => toApi(Comment, row));
      },
    ),
    route(
      "POST",
      "/core/dbs/:db_id/records/:id/comments",
      {
        summary: "Comment on a record",
        description:
          "Takes the level `add`. `@login` mentions a person, who finds it in `/core/inbox`; the header `Warning` names those who may not read the record.",
        access: dbAccess,
        body: { key: Comment.name, schema: Comment.bodies.create },
        request: Comment.examples.request,
        answers: { 201: one },
        responses: { 201: Comment.examples.made },
      },
      async (input) => {
        const at = await placeOf(ctx, input, "add");
        const { ids: mentions, hints } = await mentionsIn(ctx, at.db, at.recordId, input.body.text);
        const own = { ...at, mentions };
        return warned(created(...(await shown(Comment, own, await create(Comment, own, input.body)))), hints);
      },
    ),
    route(
      "GET",
      "/core/dbs/:db_id/records/:id/comments/:comment_id",
      {
        summary: "Show a comment",
        access: dbAccess,
        answers: { 200: one },
        responses: { 200: Comment.examples.one, 304: null },
      },
      async (input) => {
        const at = await placeOf(ctx, input);
        return ok(...(await shown(Comment, at, await found(Comment, at, refOf(Comment, input.params.comment_id)))));
      },
    ),
    route(
      "PATCH",
      "/core/dbs/:db_id/records/:id/comments/:comment_id",
      {
        summary: "Change one's own comment",
        access: dbAccess,
        ifMatch: true,
        body: { key: Comment.name, schema: Comment.bodies.change },
        request: Comment.change,
        answers: { 200: one },
        responses: { 200: Comment.examples.changed },
      },
      async (input) => {
        const at = await placeOf(ctx, input, "add");
        const { ids: mentions, hints } = await mentionsIn(ctx, at.db, at.recordId, input.body.text ?? "");
        const own = { ...at, mentions };
        const expected = (id: string) => expectedVersion(input.request, id);
        const { after } = await change(Comment, own, refOf(Comment, input.params.comment_id), input.body, expected);
        return warned(ok(...(await shown(Comment, own, after))), hints);
      },
    ),
    route(
      "DELETE",
      "/core/dbs/:db_id/records/:id/comments/:comment_id",
      {
        summary: "Delete one's own comment, or as whoever may manage the database any",
        access: dbAccess,
        ifMatch: true,
        responses: { 204: null },
      },
      async (input) => {
        const at = await placeOf(ctx, input);
        await erase(Comment, at, refOf(Comment, input.params.comment_id), (id) => expectedVersion(input.request, id));
        return noContent();
      },
    ),
  ];
}

// The inbox: comments that mention one, of records that one may read now.

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

export function inboxRoutes(ctx: JsondbContext): Route[] {
  return [
    route(
      "GET",
      "/core/inbox",
      {
        summary: "List what one was told of, the newest first",
        description: "The newest 200: comments that mention one. `text` is the first 500 characters of the comment.",
        access: ownAccess,
        query: pageQuery,
        answers: { 200: answer.list(Shown) },
        responses: { 200: [noticeExample] },
      },
      async (input) => {
        const all = await inboxOf(ctx, input);
        const { limit, offset } = pageOf(input.query, 200, 200);
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
        if ((await inboxOf(ctx, input, id)).length === 0) throw notFound();
        await ctx.transaction((tx) => markRead(tx, input.account.id, input.caller.user.id, input.body.read, id));
        const [notice] = await inboxOf(ctx, input, id);
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

/** The newest first; with an id that one alone. */
async function inboxOf(ctx: JsondbContext, viewing: Viewing, id?: string): Promise<Notice[]> {
  const { account, caller } = viewing;
  const rows = await notices(ctx.sql, account.id, caller.user.id, id);
  const byDb = Map.groupBy(rows, ({ dbId }) => dbId);
  const open = new Map<string, string>();
  for (const [dbId, its] of byDb) {
    const stored = await find(ctx, account.id, dbId);
    const db = stored && tryOpen(stored, viewerOf(viewing));
    if (!db) continue;
    const records = await openRecords(ctx.sql, db, [...new Set(its.map(({ recordId }) => recordId))], "read");
    for (const one of its) if (records.has(one.recordId)) open.set(one.id, db.code);
  }
  return rows.flatMap((row) => {
    const dbCode = open.get(row.id);
    return dbCode === undefined ? [] : [{ ...row, dbCode }];
  });
}
