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
import type { SignedInFrom, Tokens } from "../../tokens/api.ts";
import { User } from "../people/person.ts";
import { totpSetupAnswer, totpSetupExample } from "../factors/api.ts";
import { endedCookie, refuseOtherOrigins, safePath, sessionCookieOf, signedInFrom } from "./browser.ts";
import type { SessionsContext } from "./context.ts";
import { secondForm } from "./second-page-routes.ts";
import { beginStep, finishStep, secondFactorNeeded, setupOf } from "./second-step.ts";
import { leave, lengthOf, personOf, startSession } from "./sign-in.ts";

/** A person as the examples of a sign-in show one. */
const founder = { id: 1, login: "admin", email: null, name: "admin", role: "admin", team_ids: [] };
export const personExample = { ...User.examples.one, ...founder };

const Credentials = Type.Object({
  login: Type.String({ minLength: 1, maxLength: 255 }),
  password: Type.String({ minLength: 1, maxLength: 1000 }),
});

const pending = Type.String({ minLength: 1, maxLength: 200 });
const Code = Type.Object({
  pending,
  code: Type.String({ minLength: 1, maxLength: 100, description: "of the authenticator app, or a recovery code" }),
  setup: Type.Optional(Type.String({ maxLength: 2000, description: "of a factor that is set up in this sign-in" })),
});

/** The 401 of a sign-in whose password was right. */
const SecondFactorNeeded = answer.object("SecondFactorNeeded", {
  error: Type.String(),
  factors: answer.list(Type.String()),
  pending: Type.String(),
  expires_at: answer.time(),
  request_id: Type.Optional(Type.String()),
});

const open = { open: "it is how one signs in" } as const;

const SignedOut = answer.object("SignedOut", { next: Type.String() });

/** Sessions through the API. behaviour B.1. */
export function sessionRoutes(ctx: SessionsContext): Route[] {
  const { accounts, tokens } = ctx;
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
        answers: { 201: User.answers.one, 401: Type.Union([answer.error, SecondFactorNeeded]) },
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
        const userId = await personOf(ctx, { accountId: account.id, ip, ...body });
        const shown = await accounts.person(account.id, userId);
        if (!shown) throw unauthorized();
        const step = await beginStep(ctx, { accountId: account.id, userId });
        if (step) throw secondFactorNeeded(step);
        return input.once(`sign-in:${userId}`, async () => {
          const { token, expiresAt } = await startSession(ctx, input, userId);
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
        const next = await leave(ctx, caller, languageOf(request));
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
          (await tokens.isInvitation(owner)) && (await beginStep(ctx, ownerOf(owner), { openedBy: owner.tokenId }));
        if (step)
          return secondForm(ctx, 200, input, { returnTo: path, pending: step.pending }, step.factors, noReferrer);
        const session = await sessionOf(tokens, owner, await lengthOf(ctx, owner.account.id), signedInFrom(input));
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

/** The second step of a sign-in through the API. */
export function secondRoutes(ctx: SessionsContext): Route[] {
  const { accounts } = ctx;
  return [
    route(
      "POST",
      "/account/session/second_factor",
      {
        summary: "Sign in, second step",
        description:
          "`pending` is that of the 401 of `POST /account/session`; it works for five minutes and five tries, and is no session. `code` is of the authenticator app or a recovery code; each works once. Whoever has just set up an app sends its `setup` too. A wrong code is 401; after ten wrong codes in a row of one person each further one doubles a wait up to 15 minutes (429), which recovery codes do not share.",
        access: open,
        body: { schema: Code },
        maxBytes: 16_384,
        idempotency: "own",
        request: { pending: "kJ3…", code: "123456" },
        answers: { 201: User.answers.one },
        responses: {
          201: personExample,
          401: { error: "wrong code" },
          403: { error: "sign in on this server's own pages" },
          409: { error: "the answer to this Idempotency-Key showed a secret and was not kept" },
          429: { error: "too many requests, try again in 4 s" },
        },
      },
      async (input) => {
        refuseOtherOrigins(input);
        const { account, ip, body, secure } = input;
        const { userId, cameBy } = await finishStep(ctx, account.id, ip, body);
        const shown = await accounts.person(account.id, userId);
        if (!shown) throw unauthorized();
        return input.once(`sign-in:${userId}`, async () => {
          const { token, expiresAt } = await startSession(ctx, input, userId, cameBy);
          return secret(created(shown, { "set-cookie": sessionCookieOf(token, expiresAt, secure) }));
        });
      },
    ),
    route(
      "POST",
      "/account/session/second_factor/setup",
      {
        summary: "Set up the second factor that the account requires",
        description:
          "For people without one, who cannot sign in before. Show `qr` or `secret` to an authenticator app, then send `setup` with a code of it to `POST /account/session/second_factor`. Afterwards `POST /account/me/recovery_codes` shows recovery codes.",
        access: open,
        body: { schema: Type.Object({ pending }) },
        maxBytes: 16_384,
        request: { pending: "kJ3…" },
        answers: { 200: totpSetupAnswer },
        responses: { 200: totpSetupExample, 401: { error: "this sign-in has expired: begin again" } },
      },
      async (input) => {
        refuseOtherOrigins(input);
        return secret(ok(await setupOf(ctx, input.account.id, input.body.pending)));
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

type Length = Awaited<ReturnType<typeof lengthOf>>;

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
