/**
 * What a proxy in front of the server does wrong, as far as a request shows it. A page that is refused says so, because
 * the reason is rarely where people look for it. It names headers and settings alone: no host, no address and no
 * account, which strangers might not know.
 */
import { isLocalHost } from "../door.ts";

/** `host`: it is not passed on. `proto`: that the client came by https is not. `untrusted`: what it says does not count. */
export type ProxyMistake = "host" | "proto" | "untrusted";

interface Arrived {
  readonly headers: Headers;
  /** The host that the request is for, as the server understands it. */
  readonly host: string;
  /** Whether the client is known to have come by https. */
  readonly secure: boolean;
  /** Whether the connection comes from a trusted proxy. */
  readonly proxied: boolean;
  /** BASE_URL, or "". */
  readonly baseUrl: string;
}

const marks = ["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "forwarded", "via"];

export function proxyMistakes({ headers, host, secure, proxied, baseUrl }: Arrived): ProxyMistake[] {
  const named = headers.get("x-forwarded-host")?.toLowerCase();
  const proto = headers.get("x-forwarded-proto");
  const isMarked = marks.some((name) => headers.has(name));
  // Public people ask for public names: a proxy that sends none has put in where it found the server.
  const isReplaced = isPrivate(host) && (isMarked || !isPrivate(URL.parse(baseUrl)?.host ?? "localhost"));
  const saysMore = (named !== undefined && named !== host) || (proto === "https" && !secure);
  const mistakes: ProxyMistake[] = !proxied && saysMore ? ["untrusted"] : [];
  if (isReplaced && named === undefined) mistakes.push("host");
  if (!secure && proto === null && isMarked && cameByHttps(headers, host, baseUrl)) mistakes.push("proto");
  return mistakes;
}

/** Names of machines and containers inside their own network. */
function isPrivate(host: string): boolean {
  return isLocalHost(host) || !host.includes(".");
}

function cameByHttps(headers: Headers, host: string, baseUrl: string): boolean {
  const from = URL.parse(headers.get("referer") ?? "");
  return baseUrl.startsWith("https:") || (from?.protocol === "https:" && from.host === host);
}
