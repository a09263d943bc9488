import { answer, etag, expectedVersion, field, found, ok, route, Type, type Caller, type Route } from "platform";
import type { PeopleContext } from "./context.ts";
import { pendingOf } from "./email-store.ts";
import { OwnFields, type UserRow } from "./fields.ts";
import { updateSelf } from "./people.ts";
import { personOf, User } from "./person.ts";

const Me = answer.object("Me", {
  ...User.answers.one.properties,
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

const access = { signedIn: "everyone may see and correct their own record" } as const;
const example = {
  ...User.examples.one,
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
      ...personOf(row),
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
        return ok(...(await shown(await found(User, { ...ctx, caller }, { id: caller.user.id }), caller)));
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
        const row = await updateSelf(ctx, caller, body, (id) => expectedVersion(request, id));
        return ok(...(await shown(row, caller)));
      },
    ),
  ];
}
