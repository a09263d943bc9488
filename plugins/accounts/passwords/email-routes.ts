import { HttpError, limitKey, route, text, Type, type Route } from "platform";
import { originMistake, pageAnswers } from "../sessions/api.ts";
import type { PasswordsContext } from "./context.ts";
import { confirmEmail, LinkEnded, waitingChange } from "./links.ts";
import { confirmPage, saidPage, wordsOf } from "./page.ts";

const access = { open: "the link in the mail is the credential" } as const;

/** The page that confirms an address. What only looks at it, as mail programs do, confirms nothing. behaviour B.19. */
export function emailRoutes(ctx: PasswordsContext): Route[] {
  // As on the other pages of links; the token in the address must not go anywhere.
  const headers = { ...ctx.sessions.pageHeaders, "referrer-policy": "same-origin", "cache-control": "no-store" };
  const shown = (status: number, page: string, more: Readonly<Record<string, string>> = {}) =>
    text(status, page, "text/html; charset=utf-8", { ...headers, ...more });
  const tries = ctx.limiter("passwords.confirmations", { limit: 30, windowSeconds: 300, exact: true });

  const ended: Parameters<typeof route>[3] = async (input) => {
    const words = wordsOf(input);
    const turn = await tries.take(limitKey(input.ip));
    if (!turn.allowed)
      return shown(429, saidPage(words, input.account, words.ended, words.wait), {
        "retry-after": `${turn.retryAfterSeconds}`,
      });
    return shown(404, saidPage(words, input.account, words.ended, words.endedText));
  };

  return [
    route(
      "GET",
      "/confirm_email",
      {
        summary: "The page to confirm an e-mail address by a link",
        description: "Showing it changes nothing: the button on it does.",
        access,
        query: { token: "of the link in the mail" },
        ...pageAnswers(200, 404, 429),
      },
      async (input) => {
        const { account, query } = input;
        const token = query.get("token") ?? "";
        const found = await waitingChange(ctx, account, token);
        if (!found) return ended(input);
        return shown(200, confirmPage(wordsOf(input), account, { token, ...found.change, login: found.person.login }));
      },
    ),
    route(
      "POST",
      "/confirm_email",
      {
        summary: "Confirm an e-mail address by a link",
        description:
          "From now on the address counts for signing in, new passwords and sign-in providers. The one before is told.",
        access,
        input: "form",
        body: { schema: Type.Object({ token: Type.Optional(Type.String()) }) },
        maxBytes: 16_384,
        idempotency: "own",
        request: { token: "3kT…" },
        ...pageAnswers(200, 403, 404, 422, 429),
      },
      async (input) => {
        const { account, body } = input;
        const words = wordsOf(input);
        const said = (status: number, what: string) => shown(status, saidPage(words, account, words.confirm, what));
        if (originMistake(input) !== undefined) return said(403, words.refused);
        try {
          await confirmEmail(ctx, account, body.token ?? "");
        } catch (error) {
          if (error instanceof LinkEnded) return ended(input);
          if (error instanceof HttpError && error.status === 422) return said(422, words.confirmTaken);
          throw error;
        }
        return said(200, words.confirmed);
      },
    ),
  ];
}
