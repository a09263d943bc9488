/**
 * Makes the `XMLHttpRequest` of an app's page send the app token, like its `fetch`, where that opens something.
 * originals.ts says what this code must not do.
 */
import { Original } from "./originals.ts";
import type { TokenKeeper, XhrBody } from "./token.ts";

/** What `open` was given, for an address that the token opens. */
interface Opened {
  readonly method: string;
  readonly address: string;
  readonly isAsync: boolean;
  /** What the app has set. */
  readonly headers: Headers;
  isWaiting: boolean;
}

/** `openedBy`: the whole address, if the token opens it. */
export function authorizeXhr(keeper: TokenKeeper, openedBy: (address: string) => string | undefined): void {
  const requests = new WeakMap<XMLHttpRequest, Opened>();
  const openedOf = Original.weakGet<Opened>(requests);
  const note = Original.weakSet<Opened>(requests);
  const forget = Original.weakDelete<Opened>(requests);

  /** Opens it once more: with the headers that the app has set, and without cookies, which the sandbox does not have. */
  const sendNow = (request: XMLHttpRequest, { method, address, isAsync, headers }: Opened, body: XhrBody) => {
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
