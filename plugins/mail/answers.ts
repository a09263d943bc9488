/** Response types of the routes of mails. */
import { answer, column, field, Type, view, type KeptOf } from "platform";
import { tlsModes } from "../smtp/api.ts";

const { choice, id, integer, text, time, uuid } = column;

export const languages = ["en", "pl", "de"] as const;
export const languageWords = {
  en: ["English", "angielski", "Englisch"],
  pl: ["Polish", "polski", "Polnisch"],
  de: ["German", "niemiecki", "Deutsch"],
} as const;
export const states = ["queued", "sent", "failed", "expired"] as const;

const fields = {
  id: uuid({ label: ["Id", "ID", "ID"], example: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e20" }),
  account_id: id({ hidden: true }),
  to: text({ label: ["To", "Do", "An"], from: "recipient", example: "anna@example.com" }),
  template: text({ label: ["Mail", "Wiadomość", "E-Mail"], example: "invitation" }),
  language: choice(languages, {
    label: ["Language", "Język", "Sprache"],
    choices: languageWords,
    orNull: true,
    example: "en",
  }),
  state: choice(states, {
    label: ["State", "Stan", "Status"],
    choices: {
      queued: ["Waiting", "Czeka", "Wartet"],
      sent: ["Sent", "Wysłana", "Gesendet"],
      failed: ["Failed", "Nie powiodło się", "Fehlgeschlagen"],
      expired: ["Expired", "Wygasła", "Abgelaufen"],
    },
    example: "queued",
  }),
  attempts: integer({ label: ["Attempts", "Próby", "Versuche"], example: 1 }),
  run: integer({ hidden: true }),
  last_error: text({
    label: ["Last error", "Ostatni błąd", "Letzter Fehler"],
    orNull: true,
    example: "the mail server answered 451 try again later",
  }),
  message_id: text({ label: ["Message id", "ID wiadomości", "Nachrichten-ID"], orNull: true }),
  next_attempt_at: time({
    label: ["Next attempt", "Następna próba", "Nächster Versuch"],
    orNull: true,
    example: new Date("2026-01-31T10:00:30.000Z"),
  }),
  expires_at: time({
    label: ["Ends", "Wygasa", "Läuft ab"],
    orNull: true,
    example: new Date("2026-02-07T10:00:00.000Z"),
  }),
  created_at: time({
    label: ["Created at", "Utworzono", "Angelegt"],
    example: new Date("2026-01-31T10:00:00.000Z"),
  }),
  sent_at: time({ label: ["Sent", "Wysłano", "Gesendet"], orNull: true }),
};

export type MailRow = KeptOf<typeof fields>;
export const Mail = view("Mail", fields);

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
