/** The inbox of a person: comments that mention them, of records that they may read now. behaviour B.7. */
import {
  answer,
  field,
  flagOf,
  invalid,
  list,
  notFound,
  noContent,
  ok,
  pageOf,
  pageQuery,
  route,
  Type,
  uuidOf,
} from "platform";
import type { Route } from "platform";
import type { InboxItem } from "../api.ts";
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

const common = {
  id: answer.uuid(),
  text: Type.String(),
  created_at: answer.time(),
  read_at: field.nullable(answer.time()),
};
const Shown = answer.object("Notice", {
  ...common,
  kind: field.oneOf(["mention"]),
  db_code: Type.String(),
  record_id: answer.uuid(),
  comment_id: answer.uuid(),
  from_user_id: field.nullable(Type.Integer()),
  from_user_name: field.nullable(Type.String()),
});
/** What else it holds depends on its kind. */
const Item = { ...answer.object("InboxItem", { ...common, kind: Type.String() }), additionalProperties: true };

const mostNotices = 200;
const kinds: readonly string[] = ["mention", "ask", "failure"];
const inboxPage = {
  kind: "`mention`, `ask` or `failure`; by default all",
  open: Type.Boolean({ description: "true: only what one is not done with" }),
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
        description:
          "Of each kind the newest 200: comments that mention one, `text` being the first 500 characters, and questions of flows " +
          "(`ask`: title, text, choices, fields, status, …), which are done when somebody has answered; and flows that fail " +
          "again and again (`failure`: title, count, flow_code, …), until one of their runs goes well.",
        access: ownAccess,
        query: inboxPage,
        answers: { 200: answer.list(Item) },
        responses: { 200: [noticeExample] },
      },
      async (input) => {
        const { query, caller } = input;
        const kind = query.get("kind") || undefined;
        if (kind !== undefined && !kinds.includes(kind))
          throw invalid({ kind: [`must be one of ${kinds.join(", ")}`] });
        const open = flagOf(query, "open") ?? false;
        const told = (kind ?? "mention") !== "mention" ? [] : await noticesOf(ctx, input.account.id, viewerOf(input));
        const mentions = told.filter(({ readAt }) => !open || readAt === null).map(noticeOf);
        const others =
          kind === "mention" ? [] : ctx.inboxSources.map((source) => source(caller, { most: mostNotices, open }));
        const all = [...mentions.map(printed), ...(await Promise.all(others)).flat()];
        const fitting = all.filter((one) => one.kind === (kind ?? one.kind));
        const rows = fitting.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1));
        const { limit, offset } = pageOf(query, mostNotices, mostNotices);
        return list(rows.slice(offset, offset + limit), rows.length);
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

/** Times as answers have them, which sort like the others'. */
const printed = (one: ReturnType<typeof noticeOf>): InboxItem => ({
  ...one,
  created_at: one.created_at.toJSON(),
  read_at: one.read_at?.toJSON() ?? null,
});

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
