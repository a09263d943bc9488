/** An account's own words for a mail, in one language. behaviour B.12. */
import { column, field, filter, forbidden, invalid, resource, Type, type At, type Caller } from "platform";
import { languages, languageWords } from "./answers.ts";
import type { MailTemplate } from "./api.ts";
import { check } from "./render.ts";

const { choice, text } = column;
const codes = field.from(field.name(100), { path: "/core/mail_templates/system.json", value: "code" });

const fields = {
  code: text({ label: ["Which e-mail", "Która wiadomość", "Welche E-Mail"], body: codes, example: "password_reset" }),
  language: choice(languages, {
    label: ["Language", "Język", "Sprache"],
    choices: languageWords,
    example: "en",
  }),
  subject: text({
    label: ["Subject", "Temat", "Betreff"],
    body: Type.String({ minLength: 1, maxLength: 500, description: "Liquid" }),
    example: "Your new password",
  }),
  text: text({
    label: ["Text", "Treść", "Text"],
    help: ["{{ name }} is filled in.", "{{ name }} jest uzupełniane.", "{{ name }} wird eingesetzt."],
    body: Type.String({ minLength: 1, maxLength: 50_000, description: "Liquid" }),
    example: "Hello {{ name }}, set it here:\n\n{{ link }}",
  }),
  html: text({
    label: ["HTML", "HTML", "HTML"],
    help: ["Empty: made of the text.", "Puste pole: powstaje z treści.", "Leer: wird aus dem Text gebildet."],
    body: field.nullable(
      Type.String({ maxLength: 200_000, description: "Liquid; without it, it is made of the text" }),
    ),
    orNull: true,
  }),
};

export type Templates = ReadonlyMap<string, MailTemplate>;

export interface TemplateAt extends At {
  readonly templates: Templates;
}

export const Template = resource("mail_template", {
  table: "mail_templates",
  path: "/core/mail_templates",
  id: "integer",
  privilege: "mails",
  model: "Mail::Template",
  fields,
  order: "code, language",
  filters: { code: filter.exact(codes), language: filter.exact(field.oneOf(languages)) },
  check({ templates, caller }: TemplateAt, { before, after }) {
    const written = { ...after, html: after.html || null };
    check(written, templateOf(templates, written.code), written.language);
    for (const code of [before?.code ?? written.code, written.code]) mustMayReword(caller, templates.get(code));
    return written;
  },
  mayErase: ({ templates, caller }, { code }) => mustMayReword(caller, templates.get(code)),
  example: { id: 3 },
  request: ["code", "language", "subject", "text"],
  change: { subject: "Set your new password" },
  docs: {
    list: { summary: "List the account's own texts of mails" },
    get: { summary: "One text of a mail" },
    create: {
      summary: "Write a mail in your own words",
      description:
        "In place of the built-in words, for one language. The texts are Liquid and may use the values that `/core/mail_templates/system` lists; in `html` each value is escaped. They are tried out with example values before they are saved. Words of a mail with a link are for administrators, with a token that is not narrowed.",
      refusals: { 422: { text: ["must have {{ link }}"] } },
    },
    change: { summary: "Change a text of a mail" },
    delete: { summary: "Go back to the built-in words of a mail" },
  },
});

/** The mail with this code; 422. */
export function templateOf(templates: Templates, code: string): MailTemplate {
  const template = templates.get(code);
  if (!template) throw invalid({ code: [`is not a mail: there are ${[...templates.keys()].join(", ")}`] });
  return template;
}

/**
 * Who changes what everybody's mails depend on. A link in a mail is a key: whoever chooses the server that gets it, or
 * the words around it, could ask for an administrator's new password and read the link. Throws the 403 for all but
 * administrators whose token is not narrowed.
 */
export function mustMayRedirect({ user, narrowedTo }: Caller): void {
  if (user.role !== "admin" || narrowedTo.length > 0)
    throw forbidden(
      "only administrators, with a token that is not narrowed, change the mail server and mails with a link",
    );
}

/** The same for the words of mails that carry a link; other words are for all with `mails`. */
export function mustMayReword(caller: Caller, template: MailTemplate | undefined): void {
  if (Object.values(template?.values ?? {}).some(({ needed }) => needed)) mustMayRedirect(caller);
}
