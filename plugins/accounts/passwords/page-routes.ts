import {
  filledIn,
  HttpError,
  languageOf,
  limitKey,
  readCookie,
  redirect,
  route,
  text,
  Type,
  ValidationError,
} from "platform";
import type { RequestInput, Route } from "platform";
import { passwordSettings } from "../api.ts";
import { originMistake, pageAnswers } from "../sessions/api.ts";
import type { PasswordsContext } from "./context.ts";
import { foundByToken, invitationByToken, isToken, LinkEnded, requestReset, setPassword } from "./links.ts";
import { endedPage, forgotPage, passwordPage, saidPage, wordsOf } from "./page.ts";

const maxChars = 255;

type Visit = Pick<RequestInput, "account" | "request">;

function shownBy({ sessions }: PasswordsContext) {
  // `no-referrer` would make browsers send the forms with `Origin: null`, as those of another site. These addresses tell
  // nothing anyway.
  const headers = { ...sessions.pageHeaders, "referrer-policy": "same-origin" };
  return (status: number, page: string, more: Readonly<Record<string, string>> = {}) =>
    text(status, page, "text/html; charset=utf-8", { ...headers, ...more });
}

/** The page to ask for a new password. */
export function forgotRoutes(ctx: PasswordsContext): Route[] {
  const { mail } = ctx;
  const shown = shownBy(ctx);
  return [
    route(
      "GET",
      "/forgot_password",
      {
        summary: "The page to ask for a new password",
        access: { open: "who has forgotten a password cannot sign in" },
        ...pageAnswers(200, 404),
      },
      async (input) => {
        const words = wordsOf(input);
        if (!(await mail.isSetUp(input.account.id)))
          return shown(404, saidPage(words, input.account, words.forgot, words.notSetUp));
        return shown(200, forgotPage(words, input.account));
      },
    ),
    route(
      "POST",
      "/forgot_password",
      {
        summary: "Ask for a new password with the form",
        access: { open: "who has forgotten a password cannot sign in" },
        input: "form",
        body: { schema: Type.Object({ login: Type.Optional(Type.String()) }) },
        maxBytes: 16_384,
        request: { login: "anna" },
        ...pageAnswers(200, 403, 422, 429),
      },
      async (input) => {
        const { account, ip, request, body } = input;
        const words = wordsOf(input);
        const login = (body.login ?? "").trim().slice(0, maxChars);
        const again = (status: number, error: string, more = {}) =>
          shown(status, forgotPage(words, account, { login, error }), more);
        if (originMistake(input) !== undefined) return shown(403, forgotPage(words, account, { error: words.refused }));
        if (login === "") return again(422, words.forgotText);
        try {
          await requestReset(ctx, account, ip, login, languageOf(request));
        } catch (error) {
          if (error instanceof ValidationError)
            return shown(422, saidPage(words, account, words.forgot, words.notSetUp));
          if (!(error instanceof HttpError) || error.status !== 429) throw error;
          return again(429, words.wait, { "retry-after": error.headers["retry-after"] ?? "1" });
        }
        return shown(200, saidPage(words, account, words.forgot, words.sent));
      },
    ),
  ];
}

/** A link's token is in the address once: from there it goes into a cookie, which no other page and no history has. */
export function passwordRoutes(ctx: PasswordsContext): Route[] {
  const { accounts, mail } = ctx;
  const shown = shownBy(ctx);
  const tries = ctx.limiter("passwords.links", { limit: 30, windowSeconds: 300, exact: true });

  const form = async (status: number, input: Visit & Pick<RequestInput, "secure">, login: string, error?: string) => {
    const { account, request, secure } = input;
    const { minLength: least } = await accounts.settingsOf(account.id, passwordSettings);
    const words = wordsOf(input);
    const invited = await invitationByToken(ctx, account, tokenOf(request, secure));
    const links = invited ? await ctx.later.providers.invitationLinks(account, words.language, invited.email) : [];
    return shown(status, passwordPage(words, account, { login, least, error, links }));
  };

  /** Guesses are counted; who has a link that works need not wait. */
  const ended = async (input: Visit & Pick<RequestInput, "ip" | "secure">) => {
    const words = wordsOf(input);
    const turn = await tries.take(limitKey(input.ip));
    if (!turn.allowed)
      return shown(429, saidPage(words, input.account, words.ended, words.wait), {
        "retry-after": `${turn.retryAfterSeconds}`,
      });
    const canAsk = await mail.isSetUp(input.account.id);
    return shown(404, endedPage(words, input.account, canAsk), { "set-cookie": cookieOf("", input.secure) });
  };

  return [
    route(
      "GET",
      "/set_password",
      {
        summary: "The page to set a password by a link",
        description: "With `token` it moves the token into a cookie and leads to itself. Showing it uses nothing up.",
        access: { open: "the link in the mail is the credential" },
        query: { token: "of the link in the mail" },
        ...pageAnswers(200, 303, 404, 429),
      },
      async (input) => {
        const { account, query, request, secure } = input;
        const given = query.get("token");
        if (given !== null) {
          const headers = { "cache-control": "no-store", "referrer-policy": "no-referrer" };
          const token = isToken(given) ? given : "";
          return redirect(303, "/set_password", { ...headers, "set-cookie": cookieOf(token, secure) });
        }
        const found = await foundByToken(ctx, account, tokenOf(request, secure));
        return found ? form(200, input, found.person.login) : ended(input);
      },
    ),
    route(
      "POST",
      "/set_password",
      {
        summary: "Set a password by a link",
        description:
          "The link works once. All sessions of the person end, and so do their other links; a second factor stays.",
        access: { open: "the link in the mail is the credential" },
        input: "form",
        body: { schema: Type.Object({ password: Type.Optional(Type.String()), login: Type.Optional(Type.String()) }) },
        maxBytes: 16_384,
        idempotency: "own",
        request: { password: "a long pass phrase" },
        ...pageAnswers(200, 403, 404, 422, 429),
      },
      async (input) => {
        const { account, body, ip, request, secure } = input;
        const words = wordsOf(input);
        if (originMistake(input) !== undefined) return shown(403, saidPage(words, account, words.set, words.refused));
        const token = tokenOf(request, secure);
        const found = await foundByToken(ctx, account, token);
        if (!found) return ended(input);
        const again = (error: string) => form(422, input, found.person.login, error);
        const { minLength } = await accounts.settingsOf(account.id, passwordSettings);
        const password = body.password ?? "";
        if (password.length < minLength || password.length > 1000)
          return again(filledIn(words.rule, { least: minLength }));
        try {
          await setPassword(ctx, { account, token, password, ip });
        } catch (error) {
          if (error instanceof LinkEnded) return ended(input);
          if (error instanceof ValidationError) return again(words.unfit);
          throw error;
        }
        const done = saidPage(words, account, words.set, words.done);
        return shown(200, done, { "set-cookie": cookieOf("", secure) });
      },
    ),
  ];
}

const cookieSeconds = 1800;
const cookieName = (secure: boolean) => (secure ? "__Host-core_password_link" : "core_password_link");

/** The token of the link that this browser has followed. */
export function tokenOf({ headers }: Request, secure: boolean): string {
  return readCookie(headers.get("cookie"), cookieName(secure)) ?? "";
}

/** Lax, because the way from the mail program to the page leads through a redirect. */
function cookieOf(token: string, secure: boolean): string {
  const age = token === "" ? 0 : cookieSeconds;
  return `${cookieName(secure)}=${token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${age}${secure ? "; Secure" : ""}`;
}
