/**
 * Requests to our own server, from the app's `fetch` and `XMLHttpRequest` and from `core.*`. The app token is added only to requests that
 * need it.
 */
import { Original, keepToken, type TokenKeeper, type XhrBody } from "./token.ts";
import type { TakenData } from "./page-data.ts";

export type Fetch = (input: RequestInfo | URL, init?: RequestInit) => Promise<Response>;

export interface Transport {
  /** Replaces `window.fetch`. */
  readonly fetch: Fetch;
  /** `body`: a form, or what JSON can hold. Resolves with the JSON of the answer; rejects with a CoreError. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Reads JSON while the page waits; null without a token, or if there is no answer. */
  readNow(path: string): unknown;
}

export function transportOf({ token, paths, context }: TakenData, reload: () => boolean): Transport {
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

// Makes the `XMLHttpRequest` of an app's page send the app token, like its `fetch`, where that opens something.
// token.ts says what this code must not do.

/** The arguments of `open`, for an address that the token opens. */
interface OpenedRequest {
  readonly method: string;
  readonly address: string;
  readonly isAsync: boolean;
  /** The headers that the app has set. */
  readonly headers: Headers;
  isWaiting: boolean;
}

/** `openedBy`: the whole address, if the token opens it. */
export function authorizeXhr(keeper: TokenKeeper, openedBy: (address: string) => string | undefined): void {
  const requests = new WeakMap<XMLHttpRequest, OpenedRequest>();
  const openedOf = Original.weakGet<OpenedRequest>(requests);
  const note = Original.weakSet<OpenedRequest>(requests);
  const forget = Original.weakDelete<OpenedRequest>(requests);

  /** Opens it once more: with the headers that the app has set, and without cookies, which the sandbox does not have. */
  const sendNow = (request: XMLHttpRequest, { method, address, isAsync, headers }: OpenedRequest, body: XhrBody) => {
    Original.xhrOpen(request, method, address, isAsync);
    Original.eachHeader(headers, (value, name) => Original.xhrSetHeader(request, name, value));
    Original.xhrSetCredentials(request, false);
    keeper.send(request, body);
  };

  Object.assign(XMLHttpRequest.prototype, {
    open(this: XMLHttpRequest, method: string, url: string | URL, isAsync = true, ...person: (string | null)[]) {
      const given = `${url}`;
      const address = openedBy(given);
      forget(this);
      Original.xhrOpen(this, method, address ?? given, isAsync, person[0], person[1]);
      if (address !== undefined)
        note(this, { method, address, isAsync, headers: new Original.Headers(), isWaiting: false });
    },

    setRequestHeader(this: XMLHttpRequest, name: string, value: string) {
      Original.xhrSetHeader(this, name, value);
      const opened = openedOf(this);
      if (opened) Original.addHeader(opened.headers, name, value);
    },

    send(this: XMLHttpRequest, body?: XhrBody) {
      const opened = openedOf(this);
      if (opened?.isWaiting) throw new Original.DOMException("it is being sent already", "InvalidStateError");
      // The app has set its own credential, which must not be replaced.
      if (!opened || Original.hasHeader(opened.headers, "authorization")) Original.xhrSend(this, body);
      else if (!opened.isAsync || keeper.isFresh()) sendNow(this, opened, body);
      else {
        opened.isWaiting = true;
        void keeper.fresh().then(() => {
          if (openedOf(this) !== opened || !opened.isWaiting) return;
          opened.isWaiting = false;
          sendNow(this, opened, body);
        });
      }
    },

    abort(this: XMLHttpRequest) {
      const opened = openedOf(this);
      if (opened) opened.isWaiting = false;
      Original.xhrAbort(this);
    },
  });
}

/** The error that a refused call rejects with. */
export class CoreError extends Error {
  /** The HTTP status; 0 if no answer came, 500 if an action's flow failed. */
  readonly status: number;
  /** Field name to messages, if the server refused fields (422). */
  readonly errors: Readonly<Record<string, readonly string[]>>;

  constructor(status: number, message: string, errors: Readonly<Record<string, readonly string[]>> = {}) {
    super(message);
    this.name = "CoreError";
    this.status = status;
    this.errors = errors;
  }
}

/** Reads the error from an answer's body: `{ error }`, `{ error, errors }`, or fields to messages. */
export function errorOf(status: number, body: unknown): CoreError {
  if (!isObject(body)) return new CoreError(status, `the server answered ${status}`);
  const fields = fieldErrors(isObject(body.errors) ? body.errors : body);
  const told = typeof body.error === "string" ? body.error : undefined;
  const first = Object.entries(fields)[0];
  const message = told ?? (first ? `${first[0]} ${first[1][0] ?? ""}` : `the server answered ${status}`);
  return new CoreError(status, message, fields);
}

function fieldErrors(value: Record<string, unknown>): Record<string, string[]> {
  const fields: Record<string, string[]> = {};
  for (const [field, messages] of Object.entries(value)) {
    if (Array.isArray(messages)) fields[field] = messages.map(String);
  }
  return fields;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
