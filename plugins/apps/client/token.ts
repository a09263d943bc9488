/**
 * Keeps the app token where the app cannot read it, and renews it. Only `authorize`, `send` and the renewal use the token;
 * the comment of the originals below says what this code must not do.
 */
import type { PageToken } from "./page-data.ts";

export interface TokenKeeper {
  /** Adds the token to a request that the app has no reference to. */
  authorize(request: Request): void;
  isFresh(): boolean;
  /** Sends a request of the app's own with the token, which it cannot read there. */
  send(request: XMLHttpRequest, body: XhrBody): void;
  /** Resolves once the token will work for some time; false if it could not be renewed. */
  fresh(): Promise<boolean>;
  renew(): Promise<boolean>;
}

export type XhrBody = Document | XMLHttpRequestBodyInit | null | undefined;

/** The share of its lifetime after which a token is renewed. */
const renewAfter = 2 / 3;
/** A server that does not answer now is asked again. */
const retrySeconds = 30;

export function keepToken({ value, expires_in }: PageToken, renewalUrl: string): TokenKeeper {
  let token = value;
  let lifeSeconds = expires_in;
  let receivedAt = Original.now();
  let waiting: ((renewed: boolean) => void)[] | undefined;

  const settle = (renewed: boolean) => {
    const resolvers = waiting ?? [];
    waiting = undefined;
    for (let at = 0; at < resolvers.length; at++) resolvers[at]?.(renewed);
  };

  const askForAnother = () => {
    const request = new Original.XMLHttpRequest();
    const done = () => {
      const status = Original.xhrStatus(request);
      const text = status === 200 ? Original.xhrText(request) : "";
      // The microtasks after this listener can still read this request as `window.event.target`, so empty it.
      Original.xhrAbort(request);
      const renewed = text === "" ? undefined : (Original.parse(text) as { token: string; expires_in: number });
      if (renewed) {
        token = renewed.token;
        lifeSeconds = renewed.expires_in;
        receivedAt = Original.now();
        planRenewal(lifeSeconds * renewAfter);
      } else if (status === 0 || status === 429 || status >= 500) planRenewal(retrySeconds);
      settle(renewed !== undefined);
    };
    Original.listen(request, "loadend", done, onlyOnce);
    Original.xhrOpen(request, "POST", renewalUrl, true);
    Original.xhrSetHeader(request, "authorization", `Bearer ${token}`);
    Original.xhrSetHeader(request, "content-type", "application/json; charset=utf-8");
    Original.xhrSend(request, "{}");
  };

  const renew = () =>
    // This promise carries only whether it worked, never the token.
    new Promise<boolean>((resolve) => {
      if (waiting) {
        waiting[waiting.length] = resolve;
        return;
      }
      waiting = [resolve];
      askForAnother();
    });

  // An expired token cannot be renewed, so an open page renews its token in time.
  const planRenewal = (seconds: number) => Original.setTimeout(() => void renew(), seconds * 1000);
  planRenewal(lifeSeconds * renewAfter);

  const isFresh = () => Original.now() - receivedAt < lifeSeconds * 900;

  return {
    isFresh,
    send(request, body) {
      Original.xhrSetHeader(request, "authorization", `Bearer ${token}`);
      Original.xhrSend(request, body);
    },
    authorize(request) {
      Original.setHeader(Original.requestHeaders(request), "authorization", `Bearer ${token}`);
    },
    fresh: async () => isFresh() || renew(),
    renew,
  };
}

// Without a prototype, so that it inherits nothing that the app has put into `Object.prototype`.
const onlyOnce = { __proto__: null, once: true } as const;

/**
 * The browser's own functions, taken before any line of the app runs.
 *
 * The app shares this realm and may replace whatever it can reach: `fetch`, `Headers.prototype.set`, `Promise`,
 * `Object.prototype`. Code that touches the app token therefore calls these originals. It keeps the token only in
 * variables of a closure and in objects that the app can never reach. It never passes the token through a promise
 * (`await` looks up `Promise.prototype.constructor`), an iterator or an inherited property.
 */
const { apply } = Reflect;

/** `uncurry(Headers.prototype.set)(headers, name, value)` */
function uncurry<This, Args extends unknown[], Result>(original: (this: This, ...args: Args) => Result) {
  return (self: This, ...args: Args): Result => apply(original, self, args);
}

function getter<T extends object, K extends keyof T>(prototype: T, name: K): (self: T) => T[K] {
  const original = Object.getOwnPropertyDescriptor(prototype, name)?.get;
  if (!original) throw new Error(`no getter ${String(name)}`);
  return (self) => apply(original, self, []) as T[K]; // the getter of this very property
}

function setter<T extends object, K extends keyof T>(prototype: T, name: K): (self: T, value: T[K]) => void {
  const original = Object.getOwnPropertyDescriptor(prototype, name)?.set;
  if (!original) throw new Error(`no setter ${String(name)}`);
  return (self, value) => apply(original, self, [value]);
}

export const Original = {
  DOMException,
  Headers,
  Request,
  URL,
  XMLHttpRequest,
  Error,
  parse: JSON.parse,
  now: Date.now,
  fetch: (request: Request): Promise<Response> => apply(windowFetch, window, [request]),
  fetchAny: (input: RequestInfo, init: RequestInit | undefined): Promise<Response> =>
    apply(windowFetch, window, [input, init]),
  setTimeout: (run: () => void, ms: number): void => void apply(windowSetTimeout, window, [run, ms]),
  startsWith: uncurry(String.prototype.startsWith),
  addHeader: uncurry(Headers.prototype.append),
  eachHeader: uncurry(Headers.prototype.forEach),
  hasHeader: uncurry(Headers.prototype.has),
  setHeader: uncurry(Headers.prototype.set),
  requestUrl: getter(Request.prototype, "url"),
  requestHeaders: getter(Request.prototype, "headers"),
  urlOrigin: getter(URL.prototype, "origin"),
  urlPath: getter(URL.prototype, "pathname"),
  urlHref: getter(URL.prototype, "href"),
  responseStatus: getter(Response.prototype, "status"),
  listen: uncurry(EventTarget.prototype.addEventListener),
  xhrOpen: uncurry<XMLHttpRequest, Parameters<OpenXhr>, void>(XMLHttpRequest.prototype.open),
  xhrSetHeader: uncurry(XMLHttpRequest.prototype.setRequestHeader),
  xhrSetCredentials: setter(XMLHttpRequest.prototype, "withCredentials"),
  xhrSend: uncurry(XMLHttpRequest.prototype.send),
  xhrAbort: uncurry(XMLHttpRequest.prototype.abort),
  weakGet:
    <Value>(map: WeakMap<object, Value>) =>
    (key: object) =>
      apply(mapGet, map, [key]) as Value | undefined,
  weakSet:
    <Value>(map: WeakMap<object, Value>) =>
    (key: object, value: Value) =>
      void apply(mapSet, map, [key, value]),
  weakDelete:
    <Value>(map: WeakMap<object, Value>) =>
    (key: object) =>
      void apply(mapDelete, map, [key]),
  xhrStatus: getter(XMLHttpRequest.prototype, "status"),
  xhrText: getter(XMLHttpRequest.prototype, "responseText"),
} as const;

const { get: mapGet, set: mapSet, delete: mapDelete } = WeakMap.prototype;

type OpenXhr = (method: string, url: string, isAsync: boolean, user?: string | null, password?: string | null) => void;

const windowFetch = window.fetch;
const windowSetTimeout = window.setTimeout;
