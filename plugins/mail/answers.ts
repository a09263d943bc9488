/** What the routes of mails answer with. */
import { answer, field, Type } from "platform";
import { tlsModes } from "../smtp/api.ts";
import { states } from "./store.ts";

export const languages = ["en", "pl", "de"] as const;

export const Mail = answer.object("Mail", {
  id: answer.uuid(),
  to: Type.String(),
  template: Type.String(),
  language: field.nullable(field.oneOf(languages)),
  state: field.oneOf(states),
  attempts: Type.Integer(),
  last_error: field.nullable(Type.String()),
  message_id: field.nullable(Type.String()),
  next_attempt_at: field.nullable(answer.time()),
  expires_at: field.nullable(answer.time()),
  created_at: answer.time(),
  sent_at: field.nullable(answer.time()),
});

const words = { subject: Type.String(), text: Type.String() };

export const BuiltInMailTemplate = answer.object("BuiltInMailTemplate", {
  code: Type.String(),
  language: field.oneOf(languages),
  doc: Type.String(),
  ...words,
  html: Type.String(),
  values: answer.list(
    answer.object("MailValue", {
      name: Type.String(),
      doc: Type.String(),
      example: Type.String(),
      needed: Type.Boolean(),
    }),
  ),
});

export const MailPreview = answer.object("MailPreview", { ...words, html: Type.String() });

export const MailServer = answer.object("MailServer", {
  source: field.nullable(field.oneOf(["account", "server"])),
  url: field.nullable(Type.String()),
  user: field.nullable(Type.String()),
  has_password: Type.Boolean(),
  from: field.nullable(Type.String()),
  reply_to: field.nullable(Type.String()),
  tls: field.nullable(field.oneOf(tlsModes)),
  updated_at: field.nullable(answer.time()),
});

export const SentTest = answer.object("SentTestMail", { message_id: Type.String(), response: Type.String() });
