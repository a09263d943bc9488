/** Comments of a record. behaviour B.7. */
import {
  answer,
  change,
  create,
  created,
  erase,
  expectedVersion,
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
import { dbAccess, openAt, type Viewing } from "../databases/cache.ts";
import { Comment, mentionable, mentionsIn, type CommentAt, type CommentRow } from "./comment.ts";
import { checked } from "../search/filters.ts";
import { receiversOf } from "./mails.ts";
import { openRecords, page } from "./store.ts";
import { missingRecord } from "../records/record.ts";

type Asked = Viewing & { readonly params: { readonly db_id: string; readonly id: string } };

/** The record as the caller may read it, or with `add` comment on it: 404, 403. */
async function placeOf(ctx: JsondbContext, input: Asked, level: "read" | "add" = "read"): Promise<CommentAt> {
  const db = await openAt(ctx, input, input.params.db_id, level);
  const recordId = uuidOf(input.params.id, missingRecord).toLowerCase();
  const isOpen = async (to: typeof level) => (await openRecords(ctx.sql, db, [recordId], to)).size > 0;
  if (!(await isOpen("read"))) throw notFound(missingRecord);
  if (level === "add" && !(await isOpen("add")))
    throw forbidden("the `access` of the database does not let you comment on this record");
  return { ...ctx, caller: input.caller, db, recordId };
}

/** With those whom the text mentions; what reads outside the transaction is read before it. */
async function mentioning(ctx: JsondbContext, at: CommentAt, text: string) {
  const { ids: mentions, hints } = await mentionsIn(ctx, at.db, at.recordId, text);
  const others = mentions.filter((id) => id !== at.caller.user.id);
  const receivers = await receiversOf(ctx, at.db.accountId, others);
  return { own: { ...at, mentions, receivers }, hints };
}

const Mentionable = answer.object("Mentionable", { id: Type.Integer(), login: Type.String(), name: Type.String() });

export function commentRoutes(ctx: JsondbContext): Route[] {
  const { one } = Comment.answers;
  return [
    route(
      "GET",
      "/core/dbs/:db_id/records/:id/people",
      {
        summary: "Find people whom a comment may mention",
        description: "Up to eight who may read the record, and whose login or name holds `q`.",
        access: dbAccess,
        query: { q: Type.String({ maxLength: 100, description: "what is typed of a login or a name" }) },
        answers: { 200: answer.list(Mentionable) },
        responses: { 200: [{ id: 2, login: "anna", name: "Anna" }] },
      },
      async (input) => {
        const { db, recordId } = await placeOf(ctx, input);
        return ok(await mentionable(ctx, db, recordId, checked("q", input.query.get("q") ?? "", 100)));
      },
    ),
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
        const { own, hints } = await mentioning(ctx, at, input.body.text);
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
        const { own, hints } = await mentioning(ctx, at, input.body.text ?? "");
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
