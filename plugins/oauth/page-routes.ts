import {
  addressOf,
  credentialOf,
  forbidden,
  HttpError,
  languageOf,
  redirect,
  route,
  secret,
  text,
  Type,
} from "platform";
import type { Caller, Reply, RequestInput, Route } from "platform";
import { pageAnswers, safePath } from "../accounts/sessions/api.ts";
import type { OAuthContext } from "./client.ts";
import { allow, heldOf, lengths, questionOf, Refused, type Choice, type Question } from "./grant.ts";
import { consentPage, refusedPage, type Mistake } from "./page.ts";

const path = "/oauth/authorize";
const html = "text/html; charset=utf-8";
const access = { open: "without a session it leads to the sign-in page" } as const;

type Visit = Pick<RequestInput, "account" | "host" | "request" | "ip" | "caller">;

/** The page on which somebody lets an app work for them. */
export function pageRoutes(ctx: OAuthContext): Route[] {
  return [
    route(
      "GET",
      path,
      {
        summary: "Ask a person whether an app may work for them",
        description:
          "OAuth 2.1: `response_type=code` with PKCE (`S256` alone), `redirect_uri` exactly as registered, `resource` (RFC 8707) this account or its `/mcp`, `scope` of `read`, `write` and names of privileges. The answer goes back with `code`, `state` and `iss` (RFC 9207).",
        access,
        query: { "*": "as RFC 6749 and RFC 7636 name them" },
        ...pageAnswers(200, 303, 400, 403, 429),
      },
      (input) => answered(ctx, input, input.query.toString(), async (question, caller, shown) => shown()),
    ),
    route(
      "POST",
      path,
      {
        summary: "Allow an app, or not",
        description: "The form of the page. It counts for the session that the page was shown in.",
        access,
        input: "fields",
        takes: [Type.Object({}, { additionalProperties: true, description: "the fields of the page" })],
        maxBytes: 65_536,
        idempotency: "own",
        request: { request: "…", decision: "deny" },
        ...pageAnswers(200, 303, 400, 403, 422, 429),
      },
      (input) => {
        const fields = new URLSearchParams(
          Object.entries(Object(input.body)).flatMap(([name, value]) =>
            [value].flat().map((one) => [name, String(one)]),
          ),
        );
        const asked = opened(ctx, input.caller, fields.get("request") ?? "");
        return answered(ctx, input, asked, async (question, caller, shown) => {
          if (fields.get("decision") !== "allow") throw new Refused("access_denied", question);
          const choice = choiceOf(fields, question, caller);
          if (typeof choice === "string") return shown(choice, fields);
          const code = await allow(ctx, caller, question, choice);
          return back(addressOf(input.account, input.host), question, { code });
        });
      },
    ),
  ];
}

type Shown = (mistake?: Mistake, chosen?: URLSearchParams) => Promise<Reply>;
type Answer = (question: Question, caller: Caller, shown: Shown) => Promise<Reply>;

/** What `answer` says to a question that is in order, of somebody who is signed in; otherwise why not. */
async function answered(ctx: OAuthContext, input: Visit, asked: string, answer: Answer): Promise<Reply> {
  const { account, request, caller } = input;
  const returnTo = encodeURIComponent(safePath(`${path}?${asked}`));
  const signIn = () => redirect(303, `/login?return_to=${returnTo}`, { "cache-control": "no-store" });
  const language = languageOf(request);
  try {
    const question = await questionOf(ctx, input, new URLSearchParams(asked));
    if (!caller?.viaCookie) return signIn();
    if (!caller.privileges.has("api_tokens")) throw forbidden();
    return await answer(question, caller, async (mistake, chosen) => {
      const token = credentialOf(request.headers)?.token ?? "";
      const tables = await ctx.subrequest(request, { method: "GET", path: "/core/dbs.json?limit=200", token });
      const shown = { language, caller, question, mistake, chosen, again: `/login?again=1&return_to=${returnTo}` };
      const sealed = ctx.secrets.sign("oauth.consent", JSON.stringify([`${caller.tokenId}`, asked]));
      const page = consentPage({ ...shown, sealed, tables: tables.status === 200 ? JSON.parse(tables.body) : [] });
      return secret(text(mistake ? 422 : 200, page, html, headersOf(ctx)));
    });
  } catch (error) {
    // Anybody may register an address: a link to it by way of here leads nobody there who is not signed in (RFC 9700).
    if (error instanceof Refused && error.back)
      return caller?.viaCookie ? back(addressOf(account, input.host), error.back, { error: error.message }) : signIn();
    const status = error instanceof HttpError ? error.status : error instanceof Refused ? 400 : 500;
    if (!(error instanceof Error) || status >= 500) throw error;
    const reason = error instanceof Refused ? error.message : `${status}`;
    return text(status, refusedPage(language, account.name, reason), html, headersOf(ctx));
  }
}

/** The question of a form, if the page was shown in this session; else "". */
function opened({ secrets }: OAuthContext, caller: Caller | null, sealed: string): string {
  const payload: unknown = JSON.parse(secrets.verify("oauth.consent", sealed) ?? "[]");
  const [tokenId, asked]: unknown[] = Array.isArray(payload) ? payload : [];
  return tokenId === `${caller?.tokenId}` ? String(asked) : "";
}

/** What is left of what was asked for: never more. */
function choiceOf(fields: URLSearchParams, question: Question, caller: Caller): Choice | Mistake {
  const chosen = new Set(fields.getAll("areas"));
  const [first, ...others] = heldOf(question, caller).filter((name) => chosen.has(name));
  // No name would stand for all.
  if (first === undefined) return "nothing";
  const pairs = fields.getAll("databases").flatMap((pair) => (pair === "" ? [] : [pair.split(":", 2)]));
  const isNarrow = fields.get("tables") !== "all" && chosen.has("dbs");
  if (isNarrow && pairs.length === 0) return "noTable";
  return {
    privileges: [first, ...others],
    databases: isNarrow ? Object.fromEntries(pairs) : null,
    readOnly: !question.writes || fields.get("reads") === "yes",
    days: lengths.find((length) => `${length}` === fields.get("days")) ?? lengths[0],
  };
}

/** To the app, with whose answer it is (RFC 9207): so that it does not take it to another server. */
function back(iss: string, { redirectUri, state }: Pick<Question, "redirectUri" | "state">, answer: object): Reply {
  const query = new URLSearchParams({ ...answer, ...(state !== null && { state }), iss });
  const address = `${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${query}`;
  return secret(redirect(303, address, { "cache-control": "no-store", "referrer-policy": "no-referrer" }));
}

/**
 * No other page may frame it. Browsers hold a form's policy against each redirect that follows, and where an app leads
 * on to is not known, so it has none. The referrer stays `same-origin`: without one, browsers would not say that the
 * form comes from here.
 */
function headersOf({ sessions: { pageHeaders } }: OAuthContext): Readonly<Record<string, string>> {
  const policy = pageHeaders["content-security-policy"]?.replace(" form-action 'self';", "") ?? "";
  return { ...pageHeaders, "content-security-policy": policy, "x-frame-options": "DENY" };
}
