import {
  answer,
  created,
  etag,
  expectedVersion,
  field,
  integerId,
  invalid,
  list,
  pageReply,
  mustMatch,
  noContent,
  notFound,
  ok,
  pageOf,
  pageQuery,
  route,
  Type,
} from "platform";
import type { BaseContext, Caller, Route, Sql, Static, Tx } from "platform";
import { BuiltInMailTemplate, languages, MailPreview, MailTemplate as Shown, SentTest } from "./answers.ts";
import type { MailTemplate } from "./api.ts";
import type { Mails } from "./queue.ts";
import { examplesOf, type Renderer } from "./render.ts";
import { mustMayReword } from "./rights.ts";
import { receiverOf } from "./server-routes.ts";
import type { TemplateInput, TemplateRow, TemplateStore } from "./template-store.ts";

const access = { privilege: "mails" } as const;

const Input = Type.Object({
  code: field.from(field.name(100), { path: "/core/mail_templates/system.json", value: "code" }),
  language: field.oneOf(languages),
  subject: Type.String({ minLength: 1, maxLength: 500, description: "Liquid" }),
  text: Type.String({ minLength: 1, maxLength: 50_000, description: "Liquid" }),
  html: Type.Optional(
    field.nullable(Type.String({ maxLength: 200_000, description: "Liquid; without it, it is made of the text" })),
  ),
});

const request = {
  code: "password_reset",
  language: "en",
  subject: "Your new password",
  text: "Hello {{ name }}, set it here:\n\n{{ link }}",
};
const example = {
  id: 3,
  ...request,
  html: null,
  created_at: "2026-01-31T10:00:00.000Z",
  updated_at: "2026-01-31T10:00:00.000Z",
};
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

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction"> & { readonly sql: Sql };
  readonly templateStore: TemplateStore;
  readonly templates: ReadonlyMap<string, MailTemplate>;
  readonly renderer: Renderer;
  readonly mails: Pick<Mails, "sendNow">;
}

/** `/core/mail_templates`: an account's own words for mails. behaviour B.12. */
export function templateRoutes(needed: Needed): Route[] {
  return [...builtInRoutes(needed), ...ownRoutes(needed)];
}

/** The built-in words, and how words look that are not saved yet. */
function builtInRoutes({ templates, renderer }: Needed): Route[] {
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
        body: { key: "mail_template", schema: Input },
        request,
        answers: { 200: MailPreview },
        responses: { 200: previewExample, 422: { text: ["must have {{ link }}"] } },
      },
      ({ body }) => {
        const input = checkedInput(templates, renderer, body);
        return ok(renderer.render(input, examplesOf(templateOf(templates, input.code)), input.language));
      },
    ),
  ];
}

function ownRoutes({ ctx, templateStore, templates, renderer, mails }: Needed): Route[] {
  const find = async ({ account }: Caller, id: string): Promise<TemplateRow> => {
    const row = await templateStore.byId(ctx.sql, account.id, integerId(id));
    if (!row) throw notFound();
    return row;
  };
  /** Held until the transaction ends, in the version that the request names. */
  const locked = async (tx: Tx, { account }: Caller, id: number, asked: Request): Promise<TemplateRow> => {
    const row = await templateStore.lock(tx, account.id, id);
    if (!row) throw notFound();
    mustMatch(row, expectedVersion(asked, id));
    return row;
  };
  return [
    route(
      "GET",
      "/core/mail_templates",
      {
        summary: "List the account's own texts of mails",
        access,
        query: {
          code: field.from(field.name(100), { path: "/core/mail_templates/system.json", value: "code" }),
          language: field.oneOf(languages),
          ...pageQuery,
        },
        answers: { 200: answer.list(Shown) },
        responses: { 200: [example] },
      },
      async ({ caller, query }) => {
        const filter = { code: query.get("code") || undefined, language: query.get("language") || undefined };
        return pageReply(await templateStore.list(caller.account.id, filter, pageOf(query)), toApi);
      },
    ),
    route(
      "GET",
      "/core/mail_templates/:id",
      { summary: "One text of a mail", access, answers: { 200: Shown }, responses: { 200: example, 304: null } },
      async ({ caller, params }) => ok(...shown(await find(caller, params.id))),
    ),
    route(
      "POST",
      "/core/mail_templates",
      {
        summary: "Write a mail in your own words",
        description:
          "In place of the built-in words, for one language. The texts are Liquid and may use the values that `/core/mail_templates/system` lists; in `html` each value is escaped. They are tried out with example values before they are saved. Words of a mail with a link are for administrators, with a token that is not narrowed.",
        access,
        body: { key: "mail_template", schema: Input },
        request,
        answers: { 201: Shown },
        responses: { 201: example, 422: { text: ["must have {{ link }}"] } },
      },
      async ({ caller, body }) => {
        const { account, user } = caller;
        const input = checkedInput(templates, renderer, body);
        mustMayReword(caller, templates.get(input.code));
        return created(...shown(await ctx.transaction((tx) => templateStore.insert(tx, account.id, user.id, input))));
      },
    ),
    route(
      "PATCH",
      "/core/mail_templates/:id",
      {
        summary: "Change a text of a mail",
        access,
        ifMatch: true,
        body: { key: "mail_template", schema: Type.Partial(Input) },
        request: { subject: "Set your new password" },
        answers: { 200: Shown },
        responses: { 200: { ...example, subject: "Set your new password" } },
      },
      async ({ request: asked, caller, params, body }) => {
        const { account, user } = caller;
        const row = await ctx.transaction(async (tx) => {
          const before = await locked(tx, caller, integerId(params.id), asked);
          const input = checkedInput(templates, renderer, { ...before, ...body });
          for (const code of [before.code, input.code]) mustMayReword(caller, templates.get(code));
          return templateStore.update(tx, account.id, before.id, user.id, input);
        });
        return ok(...shown(row));
      },
    ),
    route(
      "DELETE",
      "/core/mail_templates/:id",
      {
        summary: "Go back to the built-in words of a mail",
        access,
        ifMatch: true,
        responses: { 204: null },
      },
      async ({ request: asked, caller, params }) => {
        await ctx.transaction(async (tx) => {
          const { id, code } = await locked(tx, caller, integerId(params.id), asked);
          mustMayReword(caller, templates.get(code));
          await templateStore.delete(tx, caller.account.id, id);
        });
        return noContent();
      },
    ),
    route(
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
        const row = await find(caller, params.id);
        const template = templateOf(templates, row.code);
        const { account: _, ...values } = examplesOf(template);
        const to = receiverOf(caller, undefined);
        const mail = { accountId: caller.account.id, to, template, language: row.language, values, words: row };
        const { data, error } = await mails.sendNow(mail, asked.signal);
        if (!data) throw invalid({ base: [error ?? "the mail was not sent"] });
        return ok({ message_id: data.message_id, response: data.response });
      },
    ),
  ];
}

function checkedInput(
  templates: Needed["templates"],
  renderer: Renderer,
  given: Omit<TemplateInput, "html"> & { html?: string | null },
): TemplateInput {
  const { code, language, subject, text, html } = given;
  const input = { code, language, subject, text, html: html || null };
  renderer.check(input, templateOf(templates, code), language);
  return input;
}

function templateOf(templates: Needed["templates"], code: string): MailTemplate {
  const template = templates.get(code);
  if (!template) throw invalid({ code: [`is not a mail: there are ${[...templates.keys()].join(", ")}`] });
  return template;
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

function shown(row: TemplateRow): Parameters<typeof ok> {
  return [toApi(row), { etag: etag(row.id, row.version) }];
}

function toApi(row: TemplateRow): Static<typeof Shown> {
  return {
    id: row.id,
    code: row.code,
    language: row.language,
    subject: row.subject,
    text: row.text,
    html: row.html,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}
