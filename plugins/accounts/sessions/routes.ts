import {
  answer,
  created,
  forbidden,
  languageOf,
  noContent,
  ok,
  redirect,
  route,
  secret,
  Type,
  unauthorized,
} from "platform";
import type { Caller, RequestInput, Route } from "platform";
import { personAnswer, type Accounts } from "../api.ts";
import type { SignedInFrom, Tokens } from "../../tokens/api.ts";
import { endedCookie, sessionCookieOf } from "./cookie.ts";
import type { Leave } from "./leave.ts";
import { refuseOtherOrigins } from "./origin.ts";
import { personExample } from "./person-example.ts";
import { safePath } from "./return-to.ts";
import type { SecondPages } from "./second-page-routes.ts";
import { SecondFactorNeeded } from "./second-routes.ts";
import { secondFactorNeeded, type SecondStep } from "./second-step.ts";
import type { SignIn } from "./sign-in.ts";
import { signedInFrom } from "./signed-in-from.ts";

const Credentials = Type.Object({
  login: Type.String({ minLength: 1, maxLength: 255 }),
  password: Type.String({ minLength: 1, maxLength: 1000 }),
});

const SignedOut = answer.object("SignedOut", { next: Type.String() });

interface Needed {
  readonly accounts: Pick<Accounts, "person" | "signedInAt">;
  readonly tokens: Tokens;
  readonly signIn: SignIn;
  readonly second: SecondStep;
  readonly pages: SecondPages;
  readonly leave: Leave;
}

/** Sessions through the API. behaviour B.1. */
export function sessionRoutes({ accounts, tokens, signIn, second, pages, leave }: Needed): Route[] {
  return [
    route(
      "POST",
      "/account/session",
      {
        summary: "Sign in",
        description:
          "Sets the cookie `core_session` (`__Host-core_session` under https), for 14 days. A wrong login or password is 401. So is the right password of a person with a second factor: then the answer names their `factors` and has a `pending` for the second step. After five failures with one login from one address, each further failure doubles a wait (429 with Retry-After). An Idempotency-Key counts per person and starts one session: the cookie is not kept, so the same key again is 409.",
        access: { open: "it is how one signs in" },
        body: { schema: Credentials },
        maxBytes: 16_384,
        // Whoever signs in has no token yet. Their key counts once the password is known to be right.
        idempotency: "own",
        request: { login: "admin", password: "a long pass phrase" },
        answers: { 201: personAnswer, 401: Type.Union([answer.error, SecondFactorNeeded]) },
        responses: {
          201: personExample,
          401: { error: "wrong login or password" },
          403: { error: "sign in on this server's own pages" },
          409: { error: "the answer to this Idempotency-Key showed a secret and was not kept" },
          429: { error: "too many requests, try again in 4 s" },
        },
      },
      async (input) => {
        refuseOtherOrigins(input);
        const { account, body, ip, secure } = input;
        const userId = await signIn.personOf({ accountId: account.id, ip, ...body });
        const shown = await accounts.person(account.id, userId);
        if (!shown) throw unauthorized();
        const step = await second.begin({ accountId: account.id, userId });
        if (step) throw secondFactorNeeded(step);
        return input.once(`sign-in:${userId}`, async () => {
          const { token, expiresAt } = await signIn.start(input, userId);
          return secret(created(shown, { "set-cookie": sessionCookieOf(token, expiresAt, secure) }));
        });
      },
    ),
    route(
      "DELETE",
      "/account/session",
      {
        summary: "Sign out",
        description:
          "Ends the session that the request carries. An ordinary API token is not affected. If the person signed in by a provider where they are to be signed out too (`sign_out_there`), `next` (200) is the address to send the browser to.",
        access: { signedIn: "it ends one's own session" },
        answers: { 200: SignedOut },
        responses: { 200: { next: "https://login.example.com/logout?client_id=corestead" }, 204: null },
      },
      async ({ caller, request, secure }) => {
        const next = await leave(caller, languageOf(request));
        const cookie = { "set-cookie": endedCookie(secure) };
        return next ? secret(ok({ next: next.href }, { ...cookie, "cache-control": "no-store" })) : noContent(cookie);
      },
    ),
    route(
      "GET",
      "/account/auto_login",
      {
        summary: "Sign in with a web token and go to a page",
        description:
          "The session has the token's privileges, ends with the token and lasts at most 14 days. A token opens only one session. Whoever comes by an invitation and has, or must have, a second factor gets the page of the second step first (200). An ordinary, wrong, inactive, expired or used token: 401. A page of another site cannot replace the session of a person who is signed in: 403.",
        access: { open: "the token in the query is the credential" },
        query: {
          token: "a token of kind `web_token`, or of an invitation",
          return_to: "a path of this origin; anything else is `/`",
        },
        asks: { token: "core_0a1b2c3d4e5f" },
        answers: { 200: answer.text("text/html") },
        responses: {
          200: "<!doctype html> …",
          303: null,
          401: { error: "this needs a working web_token that was not used before" },
          403: { error: "somebody else is signed in: sign out first" },
        },
      },
      async (input) => {
        const path = safePath(input.query.get("return_to"));
        const owner = await ownerByToken(tokens, input);
        // A mail program that checks where a link leads must not use it up.
        if (input.request.method === "HEAD") return redirect(303, path);
        if (input.caller?.viaCookie && !fromHere(input.request)) {
          if (input.caller.user.id === owner.user.id) return redirect(303, path);
          throw forbidden("somebody else is signed in: sign out first");
        }
        // Whoever is invited proves a second factor as others do, so that a link alone opens nobody's account.
        const step =
          (await tokens.isInvitation(owner)) && (await second.begin(ownerOf(owner), { openedBy: owner.tokenId }));
        if (step) return pages.form(200, input, { returnTo: path, pending: step.pending }, step.factors, noReferrer);
        const session = await sessionOf(tokens, owner, await signIn.lengthOf(owner.account.id), signedInFrom(input));
        await accounts.signedInAt(owner.account.id, input.host);
        return redirect(303, path, {
          "set-cookie": sessionCookieOf(session.token, session.expiresAt, input.secure),
          "cache-control": "no-store",
          ...noReferrer,
        });
      },
    ),
  ];
}

async function ownerByToken(tokens: Tokens, { query, host }: Pick<RequestInput, "query" | "host">): Promise<Caller> {
  const caller = await tokens.opener(host, query.get("token") ?? "");
  if (!caller) throw unusable();
  return caller;
}

async function sessionOf(tokens: Tokens, { account, user, tokenId }: Caller, length: Length, from: SignedInFrom) {
  const owner = { accountId: account.id, userId: user.id, openedBy: tokenId };
  const session = await tokens.startSession({ ...owner, ...length, from });
  if (!session) throw unusable();
  return session;
}

type Length = Awaited<ReturnType<SignIn["lengthOf"]>>;

function ownerOf({ account, user }: Caller) {
  return { accountId: account.id, userId: user.id };
}

// The page that follows must not learn the token from the address it came from.
const noReferrer = { "referrer-policy": "no-referrer" };

const unusable = () => unauthorized("this needs a working web_token that was not used before");

/**
 * Whether it was typed, opened outside of a page, or linked from our own pages. Programs and old browsers send nothing.
 */
function fromHere({ headers }: Request): boolean {
  return ["same-origin", "none", null].includes(headers.get("sec-fetch-site"));
}
