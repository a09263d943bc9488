import {
  answer,
  field,
  found,
  invalid,
  list,
  notFound,
  ok,
  pageOf,
  pageQuery,
  pageReply,
  refOf,
  resourceRoutes,
  route,
  toApi,
  uuidOf,
} from "platform";
import type { Route, Static } from "platform";
import { BuiltInMailTemplate, languages, Mail, MailPreview, SentTest, states, type MailRow } from "./answers.ts";
import type { MailTemplate } from "./api.ts";
import type { MailContext } from "./context.ts";
import { sendNow } from "./queue.ts";
import * as mails from "./queue.ts";
import { check, examplesOf, render } from "./render.ts";
import { receiverOf } from "./server-routes.ts";
import * as mailStore from "./store.ts";
import { Template, templateOf } from "./template.ts";

const access = { privilege: "mails" } as const;

const { answer: Shown, example } = Mail;

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
        answers: { 200: answer.list(Shown) },
        responses: { 200: [example] },
      },
      async ({ caller, query }) => {
        const filter = {
          to: query.get("to") || undefined,
          template: query.get("template") || undefined,
          state: query.get("state") || undefined,
        };
        return pageReply(await mailStore.list(ctx.sql, caller.account.id, filter, pageOf(query)), shown);
      },
    ),
    route(
      "GET",
      "/core/mails/:id",
      { summary: "One mail", access, answers: { 200: Shown }, responses: { 200: example } },
      async ({ caller, params }) => {
        const row = await mailStore.byId(ctx.sql, caller.account.id, uuidOf(params.id));
        if (!row) throw notFound();
        return ok(shown(row));
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
        answers: { 200: Shown },
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
        return ok(shown((await mailStore.byId(ctx.sql, caller.account.id, id)) ?? row));
      },
    ),
  ];
}

const shown = (row: MailRow) => toApi(Mail, row);

const previewExample = {
  subject: "Your new password",
  text: "Hello Anna Nowak, set it here:\n\nhttps://core.example.com/set_password?token=…",
  html: "<!doctype html> …",
};
const builtInExample = {
  code: "password_reset",
  language: "en",
  doc: "lets a person set a new password who has forgotten the old one",
  subject: "A new password for {{ account.name }}",
  text: "Hello {{ name }}, …",
  html: "<!doctype html> …",
  values: [{ name: "link", doc: "where the new password is set", example: "https://…", needed: true }],
};

/** `/core/mail_templates`: an account's own words for mails. behaviour B.12. */
export function templateRoutes(ctx: MailContext): Route[] {
  return [...builtInRoutes(ctx), ...Object.values(resourceRoutes(Template, ctx)), testRoute(ctx)];
}

/** The built-in words, and how words look that are not saved yet. */
function builtInRoutes({ templates }: MailContext): Route[] {
  return [
    route(
      "GET",
      "/core/mail_templates/system",
      {
        summary: "List the built-in texts of mails",
        description: "Each in three languages, with the values that its texts may use.",
        access,
        query: pageQuery,
        answers: { 200: answer.list(BuiltInMailTemplate) },
        responses: { 200: [builtInExample] },
      },
      ({ query }) => {
        const { limit, offset } = pageOf(query);
        const rows = [...templates.values()].flatMap(builtInOf);
        return list(rows.slice(offset, offset + limit), rows.length);
      },
    ),
    route(
      "POST",
      "/core/mail_templates/preview",
      {
        summary: "Show a mail with example values",
        description: "Checks the texts as saving them does. Nothing is saved or sent.",
        access,
        body: { key: "mail_template", schema: Template.bodies.create },
        request: Template.examples.request,
        answers: { 200: MailPreview },
        responses: { 200: previewExample, 422: { text: ["must have {{ link }}"] } },
      },
      ({ body }) => {
        const words = { ...body, html: body.html || null };
        const template = templateOf(templates, words.code);
        check(words, template, words.language);
        return ok(render(words, examplesOf(template), words.language));
      },
    ),
  ];
}

function testRoute(ctx: MailContext): Route {
  return route(
    "POST",
    "/core/mail_templates/:id/test",
    {
      summary: "Send yourself this mail with example values",
      description: "To your own address, at once; the answer is that of the mail server.",
      access,
      idempotency: "claim",
      answers: { 200: SentTest },
      responses: {
        200: { message_id: "<0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e20@example.com>", response: "250 OK" },
        422: { to: ["is required: your own record has no e-mail address"] },
        429: { error: "too many requests, try again in 4 s" },
      },
    },
    async ({ caller, request: asked, params }) => {
      const row = await found(Template, { ...ctx, caller }, refOf(Template, params.id));
      const template = templateOf(ctx.templates, row.code);
      const { account: _, ...values } = examplesOf(template);
      const to = receiverOf(caller, undefined);
      const mail = { accountId: caller.account.id, to, template, language: row.language, values, words: row };
      const { data, error } = await sendNow(ctx, mail, asked.signal);
      if (!data) throw invalid({ base: [error ?? "the mail was not sent"] });
      return ok({ message_id: data.message_id, response: data.response });
    },
  );
}

function builtInOf({ code, doc, values, texts }: MailTemplate): Static<typeof BuiltInMailTemplate>[] {
  const shownValues = Object.entries(values).map(([name, value]) => ({
    name,
    doc: value.doc,
    example: value.example,
    needed: value.needed ?? false,
  }));
  return languages.map((language) => ({ code, language, doc, ...texts[language], values: shownValues }));
}
