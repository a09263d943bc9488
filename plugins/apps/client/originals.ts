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
