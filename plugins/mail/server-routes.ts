import { etag, expectedVersion, field, invalid, noContent, ok, route, Type } from "platform";
import type { Caller, Route, Static } from "platform";
import { parseAddress, tlsModes } from "../smtp/api.ts";
import { MailServer, SentTest } from "./answers.ts";
import { mustMayRedirect } from "./template.ts";
import { testTemplate } from "./built-in.ts";
import * as servers from "./outgoing.ts";
import * as mails from "./queue.ts";
import type { MailContext } from "./context.ts";

const access = { privilege: "mails" } as const;

const Input = Type.Object({
  url: Type.Optional(
    Type.String({ maxLength: 500, description: "`smtp://host:port` (587) or `smtps://host:port` (465)" }),
  ),
  user: Type.Optional(field.line()),
  password: Type.Optional(field.nullable(Type.String({ maxLength: 1000, description: "of `user`; never shown" }))),
  from: Type.Optional(Type.String({ maxLength: 500, description: "e.g. `Example <office@example.com>`" })),
  reply_to: Type.Optional(field.line(500)),
  tls: Type.Optional(
    field.nullable(
      Type.Union(
        tlsModes.map((mode) => Type.Literal(mode)),
        { description: "by default required, but for addresses of `OUTBOUND_ALLOW`" },
      ),
    ),
  ),
});
const TestInput = Type.Object({
  to: Type.Optional(Type.String({ maxLength: 254, description: "an address; your own by default" })),
});

const example = {
  source: "account",
  url: "smtp://mail.example.com:587",
  user: "office",
  has_password: true,
  from: "Example <office@example.com>",
  reply_to: null,
  tls: null,
  updated_at: "2026-01-31T10:00:00.000Z",
};

/** `/core/mail_server`: through which server the account's mails go. behaviour B.12. */
export function serverRoutes(ctx: MailContext): Route[] {
  const shown = async (accountId: number) => {
    const server = await shownServer(ctx, accountId);
    const version = (await servers.rowOf(ctx, accountId))?.version ?? 0;
    return ok(server, { etag: etag(accountId, version, server) });
  };
  return [
    route(
      "GET",
      "/core/mail_server",
      {
        summary: "The server that sends the account's mails",
        description:
          "`source` is `account` for one that was entered here, `server` for the one of `SMTP_URL`, of which only the sender is shown, and null if mail is not set up.",
        access,
        answers: { 200: MailServer },
        responses: { 200: example, 304: null },
      },
      ({ caller }) => shown(caller.account.id),
    ),
    route(
      "PATCH",
      "/core/mail_server",
      {
        summary: "Set the server that sends the account's mails",
        description:
          "A new one needs `url` and `from`. The password is encrypted and never shown; with another scheme, host or port it must be given again. For administrators, with a token that is not narrowed.",
        access,
        ifMatch: true,
        body: { key: "mail_server", schema: Input },
        request: { url: example.url, user: example.user, password: "the password", from: example.from },
        answers: { 200: MailServer },
        responses: { 200: example, 422: { url: ["must be smtp://host:port or smtps://host:port"] } },
      },
      async ({ request, caller, body }) => {
        mustMayRedirect(caller);
        const { account, user } = caller;
        await servers.save(ctx, account.id, user.id, body, expectedVersion(request, account.id));
        return shown(account.id);
      },
    ),
    route(
      "DELETE",
      "/core/mail_server",
      {
        summary: "Forget the account's mail server",
        description:
          "Mails then go through the server of `SMTP_URL`, if there is one. For administrators, with a token that is not narrowed.",
        access,
        ifMatch: true,
        responses: { 204: null },
      },
      async ({ request, caller }) => {
        mustMayRedirect(caller);
        await servers.remove(ctx, caller.account.id, expectedVersion(request, caller.account.id));
        return noContent();
      },
    ),
    route(
      "POST",
      "/core/mail_server/test",
      {
        summary: "Send a test mail and wait for the mail server's answer",
        access,
        idempotency: "claim",
        body: { key: "mail", schema: TestInput },
        request: { to: "anna@example.com" },
        answers: { 200: SentTest },
        responses: {
          200: { message_id: "<0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e20@example.com>", response: "250 OK" },
          422: { base: ["the mail server refused the sign-in (535)"] },
          429: { error: "too many requests, try again in 4 s" },
        },
      },
      async ({ caller, request, body }) => {
        const to = receiverOf(caller, body.to);
        const mail = { accountId: caller.account.id, to, template: testTemplate, language: undefined, values: {} };
        const { data, error } = await mails.sendNow(ctx, mail, request.signal);
        if (!data) throw invalid({ base: [error ?? "the mail was not sent"] });
        return ok({ message_id: data.message_id, response: data.response });
      },
    ),
  ];
}

/** Throws the 422 if it is no address, or if there is none. */
export function receiverOf({ user }: Pick<Caller, "user">, given: string | undefined): string {
  const to = given || user.email;
  if (!to) throw invalid({ to: ["is required: your own record has no e-mail address"] });
  if (!parseAddress(to)) throw invalid({ to: ["is not a mail address"] });
  return to;
}

async function shownServer(ctx: MailContext, accountId: number): Promise<Static<typeof MailServer>> {
  const row = await servers.rowOf(ctx, accountId);
  if (row) {
    const { url, username: user, password, sender: from, replyTo, tls, updatedAt } = row;
    const address = { url, user, has_password: password !== null, from };
    return { source: "account", ...address, reply_to: replyTo, tls, updated_at: updatedAt };
  }
  const { standard } = ctx;
  const hidden = { url: null, user: null, has_password: false, tls: null, updated_at: null };
  return {
    ...hidden,
    source: standard ? "server" : null,
    from: standard?.from ?? null,
    reply_to: standard?.replyTo ?? null,
  };
}
