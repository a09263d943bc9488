/**
 * Keeps the app token where the app cannot read it, and renews it. Only `authorize` and `send` use it; see originals.ts
 * for what this code may not do.
 */
import { Original } from "./originals.ts";
import type { PageToken } from "./page-data.ts";

export interface TokenKeeper {
  /** Adds the token to a request that only we hold. */
  authorize(request: Request): void;
  /** Resolves when the token works for some time to come; false where it could not be renewed. */
  fresh(): Promise<boolean>;
  renew(): Promise<boolean>;
}

/** Two thirds of its life passed: time for another one. */
const renewAfter = 2 / 3;

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

  const send = () => {
    const request = new Original.XMLHttpRequest();
    const done = () => {
      const status = Original.xhrStatus(request);
      const text = status === 200 ? Original.xhrText(request) : "";
      // `window.event.target` is this request while the microtasks after this listener run: leave nothing in it.
      Original.xhrAbort(request);
      const renewed = text === "" ? undefined : (Original.parse(text) as { token: string; expires_in: number });
      if (renewed) {
        token = renewed.token;
        lifeSeconds = renewed.expires_in;
        receivedAt = Original.now();
        planRenewal();
      }
      settle(renewed !== undefined);
    };
    Original.listen(request, "loadend", done, onlyOnce);
    Original.xhrOpen(request, "POST", renewalUrl, true);
    Original.xhrSetHeader(request, "authorization", `Bearer ${token}`);
    Original.xhrSetHeader(request, "content-type", "application/json; charset=utf-8");
    Original.xhrSend(request, "{}");
  };

  const renew = () =>
    // What goes through this promise is whether it worked, never the token.
    new Promise<boolean>((resolve) => {
      if (waiting) {
        waiting[waiting.length] = resolve;
        return;
      }
      waiting = [resolve];
      send();
    });

  // A page that stays open keeps a token that works: an expired one cannot be renewed.
  const planRenewal = () => Original.setTimeout(() => void renew(), lifeSeconds * renewAfter * 1000);
  planRenewal();

  return {
    authorize(request) {
      Original.setHeader(Original.requestHeaders(request), "authorization", `Bearer ${token}`);
    },
    fresh: async () => Original.now() - receivedAt < lifeSeconds * 900 || renew(),
    renew,
  };
}

// Without a prototype, so that nothing is inherited from an `Object.prototype` of the app's making.
const onlyOnce = { __proto__: null, once: true } as const;
