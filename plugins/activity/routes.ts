import {
  answer,
  badRequest,
  field,
  integerId,
  isDateTime,
  isDay,
  notFound,
  ok,
  pageOf,
  pageQuery,
  route,
} from "platform";
import type { Caller, Route } from "platform";
import { Activity } from "./answers.ts";
import type { ActivityContext } from "./context.ts";
import * as inbox from "./inbox.ts";
import { readable } from "./readable.ts";
import { toApi, type ActivityFilter } from "./store.ts";
import * as activityStore from "./store.ts";

const access = { privilege: "activity" } as const;

export const activityExample = {
  id: 4711,
  at: "2026-01-31T10:00:00.000Z",
  action: "update",
  model: "Core::Cron",
  record_id: "7",
  name: "Every morning",
  actor: "person",
  user_id: 1,
  login: "admin",
  token_id: 3,
  address: "203.0.113.7",
  user_agent: "curl/8.14.1",
  request_id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e20",
  app_id: null,
  process_id: null,
  command: null,
  changes: { schedule: { old: "0 7 * * *", new: "0 8 * * *" } },
  sealed: true,
};

const filters = {
  user_id: "by this person",
  token_id: "with this token",
  actor: field.oneOf(["person", "app", "flow", "command", "system"]),
  model: "a model such as `Core::Cron`",
  record_id: "of this record",
  action:
    "create, update, delete, sign-in, sign-out, sign-in refused, refused, export, secret shown, backup, backup failed",
  from: "at this time (ISO 8601) or later",
  to: "before this time",
  q: "text in the name, the id, the origin or the changes",
};

export function activityRoutes(ctx: ActivityContext): Route[] {
  /** So that every committed change has its entry. Without it there are those that are sealed: better than none. */
  const upToDate = (accountId: number) =>
    inbox
      .emptyInbox(ctx, accountId)
      .catch((error: unknown) => ctx.log.warn("the newest entries of activity are missing", { error }));
  return [
    route(
      "GET",
      "/core/activity",
      {
        summary: "Who did what, the newest first",
        description:
          "`X-Next-Cursor` is the `before` of the next page. `changes` shows what each field was and is; values of more than 2,000 characters are cut, and their size stands beside them. Secrets are never shown. Entries about records of databases that the caller may not read are left out, so a page may have fewer than its limit.",
        access,
        query: {
          ...filters,
          before: "only entries before this id",
          ...pageQuery,
        },
        answers: { 200: answer.list(Activity) },
        responses: { 200: [activityExample] },
      },
      async ({ account, caller, query }) => {
        await upToDate(account.id);
        const page = pageOf(query);
        const filter = filterOf(query);
        const before = query.get("before");
        const { rows, next } = await activityStore.list(
          ctx,
          account.id,
          filter,
          before === null || before === "" ? undefined : numberOf("before", before),
          { ...page, limit: page.limit + 1 },
        );
        const found = rows.slice(0, page.limit);
        const last = found.at(-1);
        const goesOn = rows.length > page.limit || next !== undefined;
        const shown = await readable(ctx, caller, found, filter);
        return ok(shown.map(toApi), goesOn && last ? { "x-next-cursor": `${last.id}` } : undefined);
      },
    ),
    route(
      "GET",
      "/core/activity/export",
      {
        summary: "Export entries",
        description: "All that the filters find, the oldest first, one JSON object a line.",
        access,
        exports: true,
        query: filters,
        answers: { 200: answer.text("application/x-ndjson") },
        responses: { 200: `${JSON.stringify(activityExample)}\n` },
      },
      async ({ account, caller, query }) => {
        const filter = filterOf(query);
        await upToDate(account.id);
        return new Response(await ndjsonOf(ctx, caller, filter), {
          headers: {
            "content-type": "application/x-ndjson; charset=utf-8",
            "content-disposition": 'attachment; filename="activity.ndjson"',
            "cache-control": "private, no-store",
          },
        });
      },
    ),
    route(
      "GET",
      "/core/activity/:id",
      { summary: "One entry", access, answers: { 200: Activity }, responses: { 200: activityExample } },
      async ({ account, caller, params }) => {
        const row = await activityStore.byId(ctx, account.id, integerId(params.id));
        const [shown] = row ? await readable(ctx, caller, [row], { text: undefined }) : [];
        if (!shown) throw notFound();
        return ok(toApi(shown));
      },
    ),
  ];
}

function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(number)) throw badRequest(`\`${name}\` must be a number`);
  return number;
}

const mostText = 200;

/** The filters of a request. Pure. */
export function filterOf(query: URLSearchParams): ActivityFilter {
  const text = (name: string) => {
    const value = query.get(name) || undefined;
    if (value !== undefined && value.length > mostText)
      throw badRequest(`\`${name}\` may have at most ${mostText} characters`);
    if (value?.includes("\0")) throw badRequest(`\`${name}\` cannot hold the character U+0000`);
    return value;
  };
  return {
    userId: idOf(query, "user_id"),
    tokenId: idOf(query, "token_id"),
    actor: text("actor"),
    model: text("model"),
    recordId: text("record_id"),
    action: text("action"),
    from: timeOf(query, "from"),
    to: timeOf(query, "to"),
    text: text("q"),
  };
}

function idOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) || undefined;
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw badRequest(`\`${name}\` must be a number`);
  return Number(text);
}

function timeOf(query: URLSearchParams, name: string): Date | undefined {
  const text = query.get(name) || undefined;
  if (text === undefined) return undefined;
  if (!isDateTime(text) && !isDay(text))
    throw badRequest(`\`${name}\` must be a time such as 2026-01-31T10:00:00Z, or a day`);
  return new Date(text);
}

const pageSize = 500;

/** Reads the first page at once, so that a failure still gets its status. */
async function ndjsonOf(
  ctx: ActivityContext,
  caller: Caller,
  filter: ActivityFilter,
): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  const accountId = caller.account.id;
  let page = await activityStore.next(ctx, accountId, filter, 0, pageSize);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const last = page.at(-1);
        const shown = await readable(ctx, caller, page, filter);
        controller.enqueue(encoder.encode(shown.map((row) => `${JSON.stringify(toApi(row))}\n`).join("")));
        if (!last) controller.close();
        else page = await activityStore.next(ctx, accountId, filter, last.id, pageSize);
      } catch (error) {
        ctx.log.warn("an export of activity broke off", { error });
        controller.error();
      }
    },
  });
}
