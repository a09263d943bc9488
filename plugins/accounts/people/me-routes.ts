import { answer, etag, expectedVersion, field, notFound, ok, route, Type, type Caller, type Route } from "platform";
import { personFields } from "../api.ts";
import type { PeopleContext } from "./context.ts";
import { pendingOf } from "./email-store.ts";
import { updateSelf } from "./people.ts";
import { personExample } from "./routes.ts";
import { byId, toApi, type UserRow } from "./user-store.ts";

const Me = answer.object("Me", {
  ...personFields,
  pending_email: field.nullable(Type.String({ description: "waits for its confirmation; `email` counts until then" })),
  effective_privileges: answer.list(Type.String()),
  account: answer.object("Account", {
    id: Type.Integer(),
    name: Type.String(),
    base_url: Type.String(),
    timezone: Type.String(),
    locale: Type.String(),
  }),
});

const OwnFields = Type.Object({
  name: Type.Optional(field.name()),
  email: Type.Optional(field.line()),
  password: Type.Optional(Type.String({ minLength: 8, maxLength: 1000 })),
  current_password: Type.Optional(Type.String({ maxLength: 1000 })),
  pending_email: Type.Optional(Type.Null({ description: "gives up the address that waits for its confirmation" })),
});

const access = { signedIn: "everyone may see and correct their own record" } as const;
const example = {
  ...personExample,
  pending_email: null,
  effective_privileges: ["api_tokens", "apps", "dbs", "prompts"],
  account: { id: 1, name: "Main", base_url: "https://core.example.com", timezone: "UTC", locale: "en" },
};

/** The caller's own record. behaviour B.1. */
export function meRoutes(ctx: PeopleContext): Route[] {
  /** The token's and the account's parts change without a new version of the person. */
  const shown = async (row: UserRow, { account, privileges }: Caller): Promise<Parameters<typeof ok>> => {
    const { id, name, baseUrl, timezone, locale } = account;
    const me = {
      ...toApi(row),
      pending_email: await pendingOf(ctx.sql, id, row.id),
      effective_privileges: [...privileges].toSorted(),
      account: { id, name, base_url: baseUrl, timezone, locale },
    };
    return [me, { etag: etag(row.id, row.version, me) }];
  };

  return [
    route(
      "GET",
      "/account/me",
      {
        summary: "Who is signed in",
        description: "`effective_privileges` are the privileges that this request's token has.",
        access,
        answers: { 200: Me },
        responses: { 200: example, 304: null },
      },
      async ({ caller }) => {
        const row = await byId(ctx.sql, caller.account.id, caller.user.id);
        if (!row) throw notFound();
        return ok(...(await shown(row, caller)));
      },
    ),
    route(
      "PATCH",
      "/account/me",
      {
        summary: "Change your own name, e-mail address or password",
        description:
          "A new password requires `current_password`, unless you came by an invitation, and ends your other sessions. Another `email` requires a session " +
          "that began within the last ten minutes, or a session and `current_password`; an API token is 403. It is `pending_email`, and the present one counts, " +
          "until the link in the mail to it is opened; the present one is told. Without a mail server that is 422. A narrowed token with fewer rights than " +
          "its owner can change only the name (403). Other fields are ignored.",
        access,
        ifMatch: true,
        body: { key: "user", schema: OwnFields },
        request: { name: "Anna Nowak-Kowalska" },
        answers: { 200: Me },
        responses: { 200: example, 429: { error: "too many requests, try again in 4 s" } },
      },
      async ({ request, caller, body }) => {
        const row = await updateSelf(ctx, caller, body, expectedVersion(request, caller.user.id));
        return ok(...(await shown(row, caller)));
      },
    ),
  ];
}
