import { answer, created, ok, route, secret, Type, unauthorized, type Route } from "platform";
import { personAnswer, type Accounts } from "../api.ts";
import { totpSetupAnswer, totpSetupExample } from "../factors/api.ts";
import { sessionCookieOf } from "./cookie.ts";
import { refuseOtherOrigins } from "./origin.ts";
import { personExample } from "./person-example.ts";
import type { SecondStep } from "./second-step.ts";
import type { SignIn } from "./sign-in.ts";

const pending = Type.String({ minLength: 1, maxLength: 200 });
const Code = Type.Object({
  pending,
  code: Type.String({ minLength: 1, maxLength: 100, description: "of the authenticator app, or a recovery code" }),
  setup: Type.Optional(Type.String({ maxLength: 2000, description: "of a factor that is set up in this sign-in" })),
});

/** The 401 of a sign-in whose password was right. */
export const SecondFactorNeeded = answer.object("SecondFactorNeeded", {
  error: Type.String(),
  factors: answer.list(Type.String()),
  pending: Type.String(),
  expires_at: answer.time(),
  request_id: Type.Optional(Type.String()),
});

const open = { open: "it is how one signs in" } as const;

interface Needed {
  readonly accounts: Pick<Accounts, "person">;
  readonly signIn: SignIn;
  readonly second: SecondStep;
}

/** The second step of a sign-in through the API. */
export function secondRoutes({ accounts, signIn, second }: Needed): Route[] {
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
        answers: { 201: personAnswer },
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
        const { userId, cameBy } = await second.finish(account.id, ip, body);
        const shown = await accounts.person(account.id, userId);
        if (!shown) throw unauthorized();
        return input.once(`sign-in:${userId}`, async () => {
          const { token, expiresAt } = await signIn.start(input, userId, cameBy);
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
        return secret(ok(await second.totp(input.account.id, input.body.pending)));
      },
    ),
  ];
}
