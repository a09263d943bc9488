/** Reads and writes requests of browsers that sign in: origins, ways back, cookies, headers, the device. */
import { answer, forbidden, fromSameOrigin, sessionCookieName, type RequestInput } from "platform";
import type { SignedInFrom } from "../../tokens/api.ts";

type Posted = Pick<RequestInput, "request" | "host" | "account">;

/** Another site must not sign its visitors in here as a person of its choice. */
export function refuseOtherOrigins(input: Posted): void {
  const mistake = originMistake(input);
  if (mistake !== undefined) throw forbidden(mistake);
}

const ownPages = "sign in on this server's own pages";

/**
 * Why a sign-in is refused, or undefined. Programs send neither header and are let in. If a proxy hides the requested
 * host, our own page looks like another site's, so the message names the header that is missing.
 */
export function originMistake({ request: { headers }, host, account }: Posted): string | undefined {
  const origin = headers.get("origin");
  const site = headers.get("sec-fetch-site");
  if ((origin === null && site === null) || fromSameOrigin(headers, host, account)) return undefined;
  const from = origin === null ? null : URL.parse(origin);
  if (!from || (site !== null && site !== "same-origin")) return ownPages;
  if (from.host === host) return `${ownPages}, by https: ${account.baseUrl}`;
  const seen = `${ownPages}: the page is at ${from.origin}, but the request says "Host: ${host}".`;
  if (headers.get("x-forwarded-host")?.toLowerCase() === from.host)
    return `${seen} The proxy's X-Forwarded-Host does not count: name the proxy's network in TRUSTED_PROXIES.`;
  return `${seen} A proxy in front of this server must pass the header Host on (nginx: proxy_set_header Host $http_host;), or set BASE_URL to ${from.origin}.`;
}

/**
 * Where to go after sign-in: a path of the same origin, else `/`. Anything that a browser would read as another host
 * (`//evil`, `/\evil`, a tab inside, `/.//evil`) is not such a path. behaviour B.1.
 */
export function safePath(given: string | null | undefined): string {
  if (!given || given.length > 2000 || !given.startsWith("/")) return "/";
  // No control characters, blanks or backslashes: browsers drop the first and read the last as a slash.
  if (/[^\x21-\x5b\x5d-\x7e\x80-\uffff]/.test(given) || !URL.canParse(given, base)) return "/";
  const { origin, pathname, search, hash } = new URL(given, base);
  return origin === base && !pathname.startsWith("//") ? pathname + search + hash : "/";
}

const base = "http://same.invalid";

/** The Set-Cookie of a session. `Secure` only if the client used https: otherwise a browser would drop it. */
export function sessionCookieOf(token: string, expiresAt: Date | null, secure: boolean, now = Date.now()): string {
  const seconds = expiresAt ? Math.max(0, Math.floor((expiresAt.getTime() - now) / 1000)) : 0;
  return `${sessionCookieName(secure)}=${token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}${secure ? "; Secure" : ""}`;
}

export function endedCookie(secure: boolean): string {
  return sessionCookieOf("", null, secure);
}

export type Headers = Readonly<Record<string, string>>;

/** The headers of a page with one style, by its hash. `more` is added to its policy. */
export function pageHeaders(styleHash: string, more = "img-src 'self'"): Headers {
  return {
    "content-security-policy": `default-src 'none'; style-src '${styleHash}'; ${more}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; report-uri /csp-report`,
    "cache-control": "no-store",
  };
}

const html = answer.text("text/html");

/** For the declaration of a route: it answers with pages. The runtime itself refuses some requests, with JSON. */
export function pageAnswers(...statuses: readonly number[]) {
  const schemas = (status: number) =>
    status === 200 ? html : [html, status === 422 ? answer.fieldErrors : answer.error];
  return {
    answers: Object.fromEntries(statuses.filter((one) => one !== 303).map((one) => [one, schemas(one)])),
    responses: Object.fromEntries(statuses.map((one) => [one, one === 303 ? null : "<!doctype html> …"])),
  };
}

const maxChars = 300;

export function signedInFrom({ request, ip }: Pick<RequestInput, "request" | "ip">): SignedInFrom {
  return { address: ip, browser: request.headers.get("user-agent")?.slice(0, maxChars) || null };
}

/** Names in a User-Agent: the special one comes before those that it also pretends to be. */
const browsers = { "Edg/": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari" };
const systems = {
  Android: "Android",
  iPhone: "iOS",
  iPad: "iPadOS",
  Windows: "Windows",
  "Mac OS X": "macOS",
  Linux: "Linux",
};

/** `Firefox, Linux`: by this people recognise a device. Of an unknown program its own words; null if it sent none. */
export function deviceOf(userAgent: string | null): string | null {
  const text = (userAgent ?? "").trim();
  const named = (names: Readonly<Record<string, string>>) =>
    Object.entries(names).find(([part]) => text.includes(part))?.[1];
  const words = [named(browsers), named(systems)].filter(Boolean);
  if (words.length > 0) return words.join(", ");
  return text === "" ? null : text.slice(0, 40);
}

/** As a Content-Security-Policy writes it. */
export async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `sha256-${new Uint8Array(digest).toBase64()}`;
}
