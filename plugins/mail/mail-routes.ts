import { answer, field, invalid, pageReply, notFound, ok, pageOf, pageQuery, route, uuidOf } from "platform";
import type { Route, Static } from "platform";
import { Mail } from "./answers.ts";
import { states, type MailRow } from "./store.ts";
import * as mailStore from "./store.ts";
import * as mails from "./queue.ts";
import type { MailContext } from "./context.ts";

const access = { privilege: "mails" } as const;

const example = {
  id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e20",
  to: "anna@example.com",
  template: "invitation",
  language: "en",
  state: "queued",
  attempts: 1,
  last_error: "the mail server answered 451 try again later",
  message_id: null,
  next_attempt_at: "2026-01-31T10:00:30.000Z",
  expires_at: "2026-02-07T10:00:00.000Z",
  created_at: "2026-01-31T10:00:00.000Z",
  sent_at: null,
};

/** The log of mails. behaviour B.12. */
export function mailRoutes(ctx: MailContext): Route[] {
  return [
    route(
      "GET",
      "/core/mails",
      {
        summary: "List mails, the newest first",
        description:
          "What a mail said is not shown to anybody: a link in it is a key. A `failed` mail was refused for good, or eight retries were in vain; an `expired` one would have been of no use any more.",
        access,
        query: {
          to: "the receiver's address",
          template: field.from(field.name(100), { path: "/core/mail_templates/system.json", value: "code" }),
          state: field.oneOf(states),
          ...pageQuery,
        },
        answers: { 200: answer.list(Mail) },
        responses: { 200: [example] },
      },
      async ({ caller, query }) => {
        const filter = {
          to: query.get("to") || undefined,
          template: query.get("template") || undefined,
          state: query.get("state") || undefined,
        };
        return pageReply(await mailStore.list(ctx.sql, caller.account.id, filter, pageOf(query)), toApi);
      },
    ),
    route(
      "GET",
      "/core/mails/:id",
      { summary: "One mail", access, answers: { 200: Mail }, responses: { 200: example } },
      async ({ caller, params }) => {
        const row = await mailStore.byId(ctx.sql, caller.account.id, uuidOf(params.id));
        if (!row) throw notFound();
        return ok(toApi(row));
      },
    ),
    route(
      "POST",
      "/core/mails/:id/retry",
      {
        summary: "Try to send a mail again now",
        description: "One that failed, or that waits for its next attempt.",
        access,
        when: { state: ["queued", "failed"] },
        answers: { 200: Mail },
        responses: {
          200: { ...example, next_attempt_at: "2026-01-31T10:00:05.000Z" },
          422: { state: ["is sent: only a mail that failed or waits can be tried again"] },
        },
      },
      async ({ caller, params }) => {
        const id = uuidOf(params.id);
        const row = await mailStore.byId(ctx.sql, caller.account.id, id);
        if (!row) throw notFound();
        if (!(await mails.retry(ctx, caller.account.id, id)))
          throw invalid({ state: [`is ${row.state}: only a mail that failed or waits can be tried again`] });
        return ok(toApi((await mailStore.byId(ctx.sql, caller.account.id, id)) ?? row));
      },
    ),
  ];
}

function toApi(row: MailRow): Static<typeof Mail> {
  return {
    id: row.id,
    to: row.recipient,
    template: row.template,
    language: row.language,
    state: row.state,
    attempts: row.attempts,
    last_error: row.lastError,
    message_id: row.messageId,
    next_attempt_at: row.nextAttemptAt,
    expires_at: row.expiresAt,
    created_at: row.createdAt,
    sent_at: row.sentAt,
  };
}
