import {
  answer,
  escapeHtml,
  filledIn,
  languageOf,
  limitKey,
  randomToken,
  readCookie,
  redirect,
  route,
  text,
  tooMany,
  Type,
} from "platform";
import type { Account, RequestInput, Route } from "platform";
import { linkLine, page, safePath } from "../sessions/api.ts";
import type { OidcContext } from "./context.ts";
import { attemptSeconds } from "./places.ts";
import { allWords, Refusal, statusOf, type Reason } from "./refusal.ts";
import { beginSignIn, finishSignIn } from "./sign-in.ts";
import { cameBack, signOutBy } from "./sign-out.ts";

const html = answer.text("text/html");
const pageExample = "<!doctype html> …";
const open = { open: "it is how one signs in" } as const;

type Visit = Pick<RequestInput, "account" | "request">;

/** To a provider and back. Both are GET: a provider answers by sending the browser back. */
export function pageRoutes(ctx: OidcContext): Route[] {
  const { passwords, sessions } = ctx;
  // Each makes a row.
  const starts = ctx.limiter("oidc.starts", { limit: 60, windowSeconds: 60 });

  const refused = ({ account, request }: Visit, reason: Reason) => {
    const words = allWords[languageOf(request)];
    const said = `<p id="error" role="alert">${escapeHtml(words.reasons[reason])}</p>`;
    const back =
      reason === "invitationEmail"
        ? linkLine({ href: "/set_password", label: words.backToInvitation })
        : linkLine({ href: "/login", label: words.back });
    const headers = { ...sessions.pageHeaders, "referrer-policy": "no-referrer" };
    const more = reason === "wait" ? { "retry-after": "60" } : {};
    const content = page(words, words.signIn, account.name, `${said}\n${back}`);
    return text(statusOf[reason], content, "text/html; charset=utf-8", { ...headers, ...more });
  };

  return [
    route(
      "GET",
      "/login/with/:code",
      {
        summary: "Sign in by a provider",
        description: "Leads to the provider. `code` is the provider's in this account.",
        access: open,
        query: {
          return_to: "a path of this origin to go to afterwards",
          invitation: "`1` takes up the invitation whose link the browser has followed",
          again: "`1` also for somebody who is signed in; the provider is asked to verify them anew",
          here: "set by this route, so that it leads to the account's own address once",
        },
        answers: { 404: html, 409: html, 429: html, 502: html },
        responses: { 303: null, 404: pageExample, 409: pageExample, 429: pageExample, 502: pageExample },
      },
      async (input) => {
        const { account, params, query, request, secure } = input;
        const returnTo = safePath(query.get("return_to"));
        const again = query.get("again") === "1";
        const takesUp = query.get("invitation") === "1";
        if (request.method === "HEAD" || (input.caller?.viaCookie && !again && !takesUp))
          return redirect(303, returnTo);
        const code = params["code"] ?? "";
        const elsewhere = otherAddress(input, code);
        if (elsewhere !== undefined) return elsewhere === "" ? refused(input, "elsewhere") : redirect(303, elsewhere);
        if (!(await starts.take(limitKey(input.ip))).allowed) return refused(input, "wait");
        const invited = takesUp ? await passwords.invitation(input) : undefined;
        if (takesUp && !invited) return refused(input, "invitationEnded");
        const browser = browserOf(request, secure) ?? randomToken();
        try {
          const going = { account, code, browser, returnTo, again, language: languageOf(request), invited };
          const address = await beginSignIn(ctx, going);
          const headers = { "cache-control": "no-store", "referrer-policy": "no-referrer" };
          return redirect(303, address, { ...headers, "set-cookie": cookieOf(browser, secure) });
        } catch (error) {
          if (error instanceof Refusal) return refused(input, error.reason);
          throw error;
        }
      },
    ),
    route(
      "GET",
      "/login/with/:code/callback",
      {
        summary: "Where a provider sends people back",
        description:
          "The state works once, for ten minutes, in the browser that began. Whoever has a second factor here, or must have one, is asked for it (200), unless the provider is trusted with it.",
        access: open,
        query: {
          code: "of the provider",
          state: "as it was sent",
          iss: "the provider's own name",
          error: "of the provider",
          error_description: "of the provider",
          session_state: "of some providers; not used",
        },
        answers: { 200: html, 400: html, 403: [html, answer.error], 404: html, 502: html },
        responses: {
          200: pageExample,
          303: null,
          400: pageExample,
          403: pageExample,
          404: pageExample,
          502: pageExample,
        },
      },
      async (input) => {
        const { account, params, query, request, secure } = input;
        // A look at the address must not use it up.
        if (request.method === "HEAD") return redirect(303, "/login");
        try {
          const browser = browserOf(request, secure) ?? "";
          const proven = await finishSignIn(ctx, { account, code: params["code"] ?? "", browser, answer: query });
          return await sessions.admit(input, proven);
        } catch (error) {
          if (error instanceof Refusal) return refused(input, error.reason);
          throw error;
        }
      },
    ),
  ];
}

/** After signing out at a provider, and when a provider says that somebody has. */
export function signOutRoutes(ctx: OidcContext): Route[] {
  const logouts = ctx.limiter("oidc.logouts", { limit: 600, windowSeconds: 60 });

  return [
    route(
      "GET",
      "/login/with/:code/signed_out",
      {
        summary: "Where a provider sends people back who have signed out there",
        description: "Changes nothing. With the state of a sign-out, once, it is a page that says so.",
        access: { open: "whoever has signed out has no session" },
        query: { state: "as it was sent" },
        answers: { 200: answer.text("text/html") },
        responses: { 200: pageExample, 303: null },
      },
      async ({ account, caller, params, query, request }) => {
        if (caller?.viaCookie) return redirect(303, "/", { "cache-control": "no-store" });
        const state = request.method === "HEAD" ? "" : (query.get("state") ?? "");
        const provider = await cameBack(ctx, account, params["code"] ?? "", state);
        if (!provider) return redirect(303, "/login", { "cache-control": "no-store" });
        const words = allWords[languageOf(request)];
        const said = `<p role="status">${escapeHtml(filledIn(words.signedOutBy, { provider: provider.name }))}</p>`;
        const content = `${said}\n${linkLine({ href: "/login", label: words.back })}`;
        const headers = { ...ctx.sessions.pageHeaders, "referrer-policy": "no-referrer" };
        return text(200, page(words, words.signedOut, account.name, content), "text/html; charset=utf-8", headers);
      },
    ),
    route(
      "POST",
      "/login/with/:code/backchannel_logout",
      {
        summary: "A provider says that somebody has signed out there",
        description:
          "OpenID Connect Back-Channel Logout. Ends the sessions here that began by that provider, of the token's `sid` or `sub`. A logout token is signed by the provider, at most five minutes old, and counts once.",
        access: { open: "the provider's signature is the credential" },
        input: "form",
        body: { schema: Type.Object({ logout_token: Type.String({ minLength: 1, maxLength: 10_000 }) }) },
        maxBytes: 16_384,
        request: { logout_token: "eyJ0eXAiOiJsb2dvdXQrand0Ii…" },
        answers: { 200: answer.text("text/plain"), 400: answer.error, 404: answer.error, 502: answer.error },
        responses: {
          200: "signed out",
          400: { error: "the logout token is not valid" },
          404: { error: "there is no such provider" },
          429: { error: "too many requests, try again in 4 s" },
          502: { error: "the provider's keys cannot be read" },
        },
      },
      async ({ account, body, ip, params }) => {
        const turn = await logouts.take(limitKey(ip));
        if (!turn.allowed) throw tooMany(turn.retryAfterSeconds);
        await signOutBy(ctx, account, params["code"] ?? "", body.logout_token);
        return text(200, "signed out", "text/plain; charset=utf-8", { "cache-control": "no-store" });
      },
    ),
  ];
}

/**
 * Providers know the account's own address only, and the cookie must be of that host. "" if the browser comes from there
 * already, or nobody has named that address; undefined if it is this one.
 */
function otherAddress({ account, host, query }: Pick<RequestInput, "account" | "host" | "query">, code: string) {
  if (new URL(account.baseUrl).host === host) return undefined;
  if (account.isGuess || query.has("here")) return "";
  return addressAt(account, code, query);
}

function addressAt({ baseUrl }: Pick<Account, "baseUrl">, code: string, query: URLSearchParams): string {
  const url = new URL(`${baseUrl}/login/with/${encodeURIComponent(code)}`);
  for (const name of ["return_to", "again", "invitation"])
    if (query.has(name)) url.searchParams.set(name, query.get(name) ?? "");
  url.searchParams.set("here", "1");
  return url.href;
}

const cookieName = (secure: boolean) => (secure ? "__Host-core_sign_in" : "core_sign_in");

/** Several tabs of a browser share it. */
function browserOf({ headers }: Request, secure: boolean): string | undefined {
  const value = readCookie(headers.get("cookie"), cookieName(secure)) ?? "";
  return /^[\w-]{43}$/.test(value) ? value : undefined;
}

/** Lax, because the provider sends the browser back. */
function cookieOf(value: string, secure: boolean): string {
  const rest = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${attemptSeconds}${secure ? "; Secure" : ""}`;
  return `${cookieName(secure)}=${value}; ${rest}`;
}
