/** The plain port beside https: it answers authorities, and leads everybody else to https. */
import { plainHost } from "../../http/auth.ts";
import { pathOf } from "../../http/arrival.ts";

const challengePrefix = "/.well-known/acme-challenge/";
/** What an authority may use as a token (RFC 8555 8.3). */
const isToken = (text: string) => text.length <= 200 && /^[\w-]+$/.test(text);
const hostForm = /^[a-z0-9.-]{1,253}(:\d{1,5})?$|^\[[0-9a-f:.]{2,45}\](:\d{1,5})?$/;

export interface RedirectOptions {
  readonly challenge: (token: string) => Promise<string | undefined>;
  readonly httpsPort: () => number;
}

export function createRedirect({ challenge, httpsPort }: RedirectOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    const path = pathOf(request.url);
    if (path.startsWith(challengePrefix)) {
      const token = path.slice(challengePrefix.length);
      const text = isToken(token) ? await challenge(token) : undefined;
      return new Response(text ?? "there is no such challenge\n", { status: text === undefined ? 404 : 200, headers });
    }
    const host = plainHost(request.headers.get("host") ?? "");
    if (!hostForm.test(host)) return new Response("send a Host header\n", { status: 400, headers });
    const port = httpsPort() === 443 ? "" : `:${httpsPort()}`;
    // 308 keeps the method and the body; a browser keeps nothing, so that another server may follow on this port.
    const location = `https://${host.replace(/:\d+$/, "")}${port}${path.startsWith("/") ? path : "/"}`;
    return new Response(null, { status: 308, headers: { location, "cache-control": "no-store" } });
  };
}

const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };
