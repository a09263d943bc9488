/**
 * Keeps the app token where the app cannot read it, and renews it. Only `authorize`, `send` and the renewal use the token;
 * originals.ts says what this code must not do.
 */
import { Original } from "./originals.ts";
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
