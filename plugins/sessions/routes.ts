import { created, noContent, redirect, route, secret, Type, unauthorized } from "platform";
import type { RequestInput, Route } from "platform";
import { personAnswer, type Accounts } from "../accounts/api.ts";
import type { Tokens } from "../tokens/api.ts";
import { endedCookie, sessionCookieOf } from "./cookie.ts";
import { refuseOtherOrigins } from "./origin.ts";
import { safePath } from "./return-to.ts";
import { sessionSeconds, type SignIn } from "./sign-in.ts";

const Credentials = Type.Object({
  login: Type.String({ minLength: 1, maxLength: 255 }),
  password: Type.String({ minLength: 1, maxLength: 1000 }),
});

const person = {
  id: 1,
  login: "admin",
  email: null,
  name: "admin",
  role: "admin",
  active: true,
  privileges: [],
  team_ids: [],
  group_ids: [],
  department_ids: [],
  created_at: "2026-01-31T10:00:00.000Z",
  updated_at: "2026-01-31T10:00:00.000Z",
};

interface Needed {
  readonly accounts: Accounts;
  readonly tokens: Tokens;
  readonly signIn: SignIn;
}

/** Sessions of the API. CONTRACT 1. */
export function sessionRoutes({ accounts, tokens, signIn }: Needed): Route[] {
  return [
    route(
      "POST",
      "/account/session",
      {
        summary: "Sign in",
        description:
          "Sets the cookie `core_session`, for 14 days. Wrong: 401; after five failures of a login from one address each further one doubles a wait (429 with Retry-After).",
        access: { open: "it is how one signs in" },
        body: { schema: Credentials },
        maxBytes: 16_384,
        request: { login: "admin", password: "a long pass phrase" },
        answers: { 201: personAnswer },
        responses: {
          201: person,
          401: { error: "wrong login or password" },
          403: { error: "sign in on this server's own pages" },
          429: { error: "too many requests, try again in 4 s" },
        },
      },
      async (input) => {
        refuseOtherOrigins(input);
        const { account, body, ip, secure, caller } = input;
        const session = await signIn({ accountId: account.id, ip, ...body });
        if (caller?.viaCookie) await tokens.endSession(caller);
        await accounts.signedInAt(account.id, input.host);
        const shown = await accounts.person(account.id, session.userId);
        if (!shown) throw unauthorized();
        return secret(created(shown, { "set-cookie": sessionCookieOf(session.token, session.expiresAt, secure) }));
      },
    ),
    route(
      "DELETE",
      "/account/session",
      {
        summary: "Sign out",
        description: "Ends the session that the request carries. An ordinary API token goes on working.",
        access: { signedIn: "it ends one's own session" },
        responses: { 204: null },
      },
      async ({ caller, secure }) => {
        await tokens.endSession(caller);
        return noContent({ "set-cookie": endedCookie(secure) });
      },
    ),
    route(
      "GET",
      "/account/auto_login",
      {
        summary: "Sign in by a web token and go to a page",
        description:
          "The session is narrowed as the token is, ends with it, and lasts 14 days at most. An ordinary, wrong, inactive or expired token: 401.",
        access: { open: "the token in the query is the credential" },
        query: { token: "a token of kind `web_token`", return_to: "a path of this origin; anything else is `/`" },
        responses: { 303: null, 401: { error: "this needs a working web_token" } },
      },
      async (input) => {
        const session = await sessionByToken(tokens, input);
        await accounts.signedInAt(session.accountId, input.host);
        return redirect(303, safePath(input.query.get("return_to")), {
          "set-cookie": sessionCookieOf(session.token, session.expiresAt, input.secure),
          "cache-control": "no-store",
          // The page that follows must not learn the token from the address it came from.
          "referrer-policy": "no-referrer",
        });
      },
    ),
  ];
}

async function sessionByToken(tokens: Tokens, { query, host }: Pick<RequestInput, "query" | "host">) {
  // As in a cookie: there only a `web_token` is a credential.
  const { caller } = await tokens.identify(host, { token: query.get("token") ?? "", viaCookie: true });
  const owner = caller && { accountId: caller.account.id, userId: caller.user.id, openedBy: caller.tokenId };
  const session = owner && (await tokens.startSession({ ...owner, seconds: sessionSeconds }));
  if (!session) throw unauthorized("this needs a working web_token");
  return { ...session, accountId: owner.accountId };
}
