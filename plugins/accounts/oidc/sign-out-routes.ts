import {
  answer,
  escapeHtml,
  filledIn,
  languageOf,
  limitKey,
  redirect,
  route,
  type Route,
  text,
  tooMany,
  Type,
} from "platform";
import { linkLine, page } from "../sessions/api.ts";
import type { OidcContext } from "./context.ts";
import { allWords } from "./refusal.ts";
import { cameBack, signOutBy } from "./sign-out.ts";

const pageExample = "<!doctype html> …";

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
