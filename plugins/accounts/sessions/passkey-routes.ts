import { answer, created, languageOf, limitKey, ok, route, secret, text, tooMany, Type, unauthorized } from "platform";
import type { Route } from "platform";
import { User } from "../people/person.ts";
import { pageHeaders, refuseOtherOrigins, safePath, sessionCookieOf } from "./browser.ts";
import type { SessionsContext } from "./context.ts";
import { personExample } from "./routes.ts";
import { passkeyPage } from "./second-page.ts";
import { startSession } from "./sign-in.ts";
import { pageWords, secondWords } from "./words.ts";

const open = { open: "it is how one signs in" } as const;
const bytes = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: "^[A-Za-z0-9_-]+$" });
const Assertion = Type.Object({
  id: bytes(1400),
  response: Type.Object(
    {
      clientDataJSON: bytes(4000),
      authenticatorData: bytes(4000),
      signature: bytes(4000),
      userHandle: Type.Optional(Type.Union([Type.String({ maxLength: 100 }), Type.Null()])),
    },
    // Browsers add more, such as `publicKey`.
    { additionalProperties: true },
  ),
});

/** Signing in by a passkey, which needs neither login nor password. */
export function passkeyRoutes(ctx: SessionsContext, scriptHash: string): Route[] {
  const { accounts, factors } = ctx;
  // Each makes a row.
  const challenges = ctx.limiter("sessions.passkeys", { limit: 60, windowSeconds: 60 });
  const headers = pageHeaders(ctx.styleHash, `img-src 'self'; script-src '${scriptHash}'; connect-src 'self'`);
  return [
    route(
      "GET",
      "/login/passkey",
      {
        summary: "The page to sign in by a passkey",
        access: open,
        query: { return_to: "a path of this origin to go to afterwards" },
        answers: { 200: answer.text("text/html") },
        responses: { 200: "<!doctype html> …" },
      },
      ({ account, query, request }) => {
        const returnTo = safePath(query.get("return_to"));
        const language = languageOf(request);
        const [words, more] = [pageWords[language], secondWords[language]];
        const page = passkeyPage({ words, more, accountName: account.name, returnTo });
        return text(200, page, "text/html; charset=utf-8", headers);
      },
    ),
    route(
      "POST",
      "/account/session/passkey/options",
      {
        summary: "Begin to sign in by a passkey",
        description:
          "What `navigator.credentials.get({ publicKey })` takes, as JSON. The challenge works once and for five minutes.",
        access: open,
        maxBytes: 16_384,
        answers: { 200: answer.json() },
        responses: {
          200: { challenge: "kJ3…", rpId: "core.example.com", userVerification: "required" },
          422: { base: ["passkeys need https and a host's name: this account is at http://10.0.0.1 (set BASE_URL)"] },
          429: { error: "too many requests, try again in 4 s" },
        },
      },
      async (input) => {
        refuseOtherOrigins(input);
        const taken = await challenges.take(limitKey(input.ip));
        if (!taken.allowed) throw tooMany(taken.retryAfterSeconds);
        return ok(await factors.passkeyOptions(input.account), { "cache-control": "no-store" });
      },
    ),
    route(
      "POST",
      "/account/session/passkey",
      {
        summary: "Sign in by a passkey",
        description:
          "`id` and `response` are what the browser's credential has as JSON. The passkey has verified its person, so nothing else is asked for. Sets the cookie as `POST /account/session` does.",
        access: open,
        body: { schema: Assertion },
        maxBytes: 16_384,
        idempotency: "own",
        request: { id: "pQ4", response: { clientDataJSON: "eyJ0", authenticatorData: "SZYN", signature: "MEUC" } },
        answers: { 201: User.answers.one },
        responses: {
          201: personExample,
          401: { error: "this passkey does not open anything here" },
          403: { error: "sign in on this server's own pages" },
          409: { error: "the answer to this Idempotency-Key showed a secret and was not kept" },
        },
      },
      async (input) => {
        refuseOtherOrigins(input);
        const { userId } = await factors.passkeyOwner(input.account, input.body);
        const shown = await accounts.person(input.account.id, userId);
        if (!shown) throw unauthorized();
        return input.once(`sign-in:${userId}`, async () => {
          const { token, expiresAt } = await startSession(ctx, input, userId);
          return secret(created(shown, { "set-cookie": sessionCookieOf(token, expiresAt, input.secure) }));
        });
      },
    ),
  ];
}
