/**
 * Requests to our own server, from the app's `fetch` and `XMLHttpRequest` and from `core.*`. The app token is added only to requests that
 * need it.
 */
import { errorOf, CoreError } from "./core-error.ts";
import { Original } from "./originals.ts";
import type { TakenData } from "./page-data.ts";
import { keepToken, type TokenKeeper } from "./token.ts";
import { authorizeXhr } from "./xhr.ts";

export type Fetch = (input: RequestInfo | URL, init?: RequestInit) => Promise<Response>;

export interface Transport {
  /** Replaces `window.fetch`. */
  readonly fetch: Fetch;
  /** `body`: a form, or what JSON can hold. Resolves with the JSON of the answer; rejects with a CoreError. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Reads JSON while the page waits; null without a token, or if there is no answer. */
  readNow(path: string): unknown;
}

export function createTransport({ token, paths, context }: TakenData, reload: () => boolean): Transport {
  const home = new Original.URL(location.href);
  const origin = Original.urlOrigin(home);
  const keeper = token && keepToken(token, `${origin}/core/apps/${context.app.id}/token.json`);

  const opens = (url: URL): boolean => {
    if (Original.urlOrigin(url) !== origin) return false;
    const path = Original.urlPath(url);
    for (let at = 0; at < paths.length; at++) if (Original.startsWith(path, paths[at] ?? " ")) return true;
    return false;
  };

  const appFetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const given = isRequest(input) ? input : `${input}`;
    if (!keeper) return Original.fetchAny(given, init);
    const address = typeof given === "string" ? given : Original.requestUrl(given);
    const url = new Original.URL(address, document.baseURI);
    if (!opens(url)) return Original.fetchAny(given, init);
    const request = new Original.Request(typeof given === "string" ? Original.urlHref(url) : given, init);
    // The app has set its own credential, which must not be replaced.
    if (Original.hasHeader(Original.requestHeaders(request), "authorization")) return Original.fetch(request);
    await keeper.fresh();
    return send(keeper, request);
  };

  // Without cookies, which the sandbox does not have, and without redirects, which would pass the token on.
  const send = (keeping: TokenKeeper, request: Request) => {
    const ours = new Original.Request(request, sendOptions);
    keeping.authorize(ours);
    return Original.fetch(ours);
  };

  const answerOf = async (method: string, path: string, body: string | FormData | undefined): Promise<Response> => {
    const url = new Original.URL(path, origin);
    // The browser names the type of a form itself.
    const headers = typeof body === "object" ? acceptsJson : jsonHeaders;
    const init = { method, headers, ...(body !== undefined && { body }) };
    if (!keeper || !opens(url)) return Original.fetchAny(path, init);
    await keeper.fresh();
    const response = await send(keeper, new Original.Request(path, init));
    // The token was refused: the machine was asleep, or the session has ended. Renew it, or else reload the page.
    if (Original.responseStatus(response) !== 401) return response;
    if (await keeper.renew()) return send(keeper, new Original.Request(path, init));
    // Nothing else happens to a page that is about to go.
    if (reload()) await new Promise<void>((resolve) => Original.setTimeout(resolve, 5000));
    return response;
  };

  const openedBy = (address: string): string | undefined => {
    const url = new Original.URL(address, document.baseURI);
    return opens(url) ? Original.urlHref(url) : undefined;
  };
  const readNow = (path: string): unknown => {
    if (!keeper) return null;
    const request = new Original.XMLHttpRequest();
    try {
      Original.xhrOpen(request, "GET", `${origin}${path}`, false);
      keeper.send(request, null);
      return Original.xhrStatus(request) === 200 ? Original.parse(Original.xhrText(request)) : null;
    } catch {
      return null;
    }
  };
  if (keeper) authorizeXhr(keeper, openedBy);

  return {
    fetch: appFetch,
    readNow,
    async call(method, path, body) {
      const sent = body === undefined || body instanceof FormData ? body : JSON.stringify(body);
      const response = await answerOf(method, path, sent).catch((cause: unknown) => {
        throw new CoreError(0, cause instanceof Error ? cause.message : String(cause));
      });
      const answer = parsed(await response.text());
      if (!response.ok) throw errorOf(response.status, answer);
      return answer;
    },
  };
}

const acceptsJson = { accept: "application/json" };
const jsonHeaders = { ...acceptsJson, "content-type": "application/json; charset=utf-8" };
const sendOptions: RequestInit = Object.assign(Object.create(null), { credentials: "omit", redirect: "error" });

/** Uses the getter of Request, which throws for anything else. The app could make `instanceof` lie. */
function isRequest(value: unknown): value is Request {
  try {
    Original.requestUrl(value as Request);
    return true;
  } catch {
    return false;
  }
}

function parsed(text: string): unknown {
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
