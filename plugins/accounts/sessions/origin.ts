/** Another site must not sign its visitors in here as a person of its choice. */
import { forbidden, fromSameOrigin, type RequestInput } from "platform";

type Asked = Pick<RequestInput, "request" | "host" | "account">;

export function refuseOtherOrigins(input: Asked): void {
  const mistake = originMistake(input);
  if (mistake !== undefined) throw forbidden(mistake);
}

const ownPages = "sign in on this server's own pages";

/**
 * Why a sign-in is refused, or undefined. Programs send neither header and are let in. If a proxy hides the requested
 * host, our own page looks like another site's, so the message names the header that is missing.
 */
export function originMistake({ request: { headers }, host, account }: Asked): string | undefined {
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
