/** Refusals for people: a browser that opens an address gets a page with words and a link instead of JSON. */
import { hash } from "node:crypto";
import { escapeHtml } from "../../base/text.ts";
import { proxyMistakesOf } from "../arrival.ts";
import { languageOf, type Language } from "../language.ts";
import type { ProxyMistake } from "./proxy-mistake.ts";
import type { Reply } from "../answers/reply.ts";
import style from "./error-page.css" with { type: "text" };
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

/** Turns the reply into a page if a browser will show it. Programs get the JSON. */
export function shownTo(request: Request, reply: Reply): Reply {
  if (reply.status < 400 || !wantsPage(request) || !reply.headers["content-type"]?.startsWith("application/json"))
    return reply;
  const { pathname, search } = new URL(request.url);
  const body = page({
    language: languageOf(request),
    status: reply.status,
    message: messageOf(reply.body),
    // A link that has failed would fail again.
    path: pathname === "/account/auto_login" ? "/" : `${pathname}${search}`,
    // Elsewhere the reason is another one.
    mistakes: reply.status === 403 || reply.status === 404 ? proxyMistakesOf(request) : [],
  });
  const headers = {
    ...reply.headers,
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy,
    vary: "accept, accept-language, cookie",
  };
  return { ...reply, body, headers };
}

/** Browsers ask for HTML when they open an address; scripts and programs ask for JSON or anything. */
function wantsPage({ headers }: Request): boolean {
  const accept = headers.get("accept") ?? "";
  return accept.includes("text/html") && !accept.includes("application/json");
}

/** The text of an error: one line, or a line for each mistake in a form. */
function messageOf(body: string | null): string {
  const value: unknown = JSON.parse(body ?? "null");
  if (typeof value !== "object" || value === null) return "";
  if ("error" in value && typeof value.error === "string") return value.error;
  const fields = "errors" in value && typeof value.errors === "object" && value.errors ? value.errors : value;
  return Object.entries(fields)
    .map(([field, messages]) => `${field === "base" ? "" : `${field} `}${[messages].flat().join(", ")}`)
    .join("\n");
}

interface ErrorPage {
  readonly language: Language;
  readonly status: number;
  readonly message: string;
  /** Where to go after a sign-in. */
  readonly path: string;
  readonly mistakes: readonly ProxyMistake[];
}

function page({ language, status, message, path, mistakes }: ErrorPage): string {
  const words = errorWords[language];
  const title = words.titles[status] ?? (status < 500 ? words.refused : words.failed);
  // The usual refusal repeats the title.
  const told = status === 404 && message === "not found" ? words.nothingHere : ownOf(words.messages, message);
  const shown = told === undefined ? `<span lang="en">${escapeHtml(message)}</span>` : escapeHtml(told);
  const way =
    status === 401
      ? `<a href="/login?return_to=${escapeHtml(encodeURIComponent(path))}">${words.signIn}</a>`
      : `<a href="/">${words.start}</a>`;
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<p class="status">${status}</p>
<h1>${title}</h1>
<p class="message">${shown}</p>
${adviceOn(mistakes, words)}<p>${way}</p>
</main>
</body>
</html>
`;
}

/** For whoever has set up the proxy in front of the server. */
function adviceOn(mistakes: readonly ProxyMistake[], { proxy }: ErrorWords): string {
  if (mistakes.length === 0) return "";
  const items = mistakes.map((mistake) => `<li>${proxy[mistake]} <code>${remedies[mistake]}</code></li>`);
  return `<section class="proxy"><h2>${proxy.title}</h2><ul>${items.join("")}</ul><p>${proxy.more}</p></section>\n`;
}

const remedies: Readonly<Record<ProxyMistake, string>> = {
  host: "proxy_set_header Host $http_host;",
  proto: "proxy_set_header X-Forwarded-Proto $scheme;",
  untrusted: "TRUSTED_PROXIES",
};

const styleHash = hash("sha256", style, "base64");
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

function ownOf(of: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(of, key) ? of[key] : undefined;
}

/** What the pages of refusals say. The API's own messages are English; the few that people meet here are translated. */
export interface ErrorWords {
  /** By status. */
  readonly titles: Readonly<Record<string, string>>;
  /** Of any other status below 500, and above. */
  readonly refused: string;
  readonly failed: string;
  readonly nothingHere: string;
  readonly signIn: string;
  readonly start: string;
  readonly messages: Readonly<Record<string, string>>;
  /** About a proxy in front of the server that leaves out what it should pass on. */
  readonly proxy: Readonly<Record<ProxyMistake | "title" | "more", string>>;
}

export const errorWords: Readonly<Record<Language, ErrorWords>> = { en, pl, de };
