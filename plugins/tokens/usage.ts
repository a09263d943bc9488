/**
 * Notes when tokens are used and writes that later, in batches, for each token at most once a minute. behaviour B.6.
 */
import type { Log } from "platform";
import type { IdentityStore } from "./store.ts";
import type { TokenRow } from "./token.ts";

export interface Usage {
  /** `client` is asked for its address only when that is written. */
  seen(token: TokenRow, now: number, client?: { readonly ip: string }): void;
  /** Milliseconds since the token's last use, as far as this process knows; late by a minute at most. */
  idleFor(token: TokenRow, now: number): number;
  /** Another process has seen it. */
  usedElsewhere(token: TokenRow, at: number): void;
  /** Writes what has been noted. */
  flush(): Promise<void>;
}

const everyMs = 60_000;
const writeAfterMs = 250;

export function createUsage(identityStore: Pick<IdentityStore, "touch">, log: Log): Usage {
  // Keyed by the cached row, so that entries disappear together with it.
  const noted = new WeakMap<TokenRow, number>();
  let waiting = new Map<number, string | null>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flush = async () => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.size === 0) return;
    const ids = [...waiting.keys()];
    const addresses = [...waiting.values()];
    waiting = new Map();
    try {
      await identityStore.touch(ids, new Date(), addresses);
    } catch (error) {
      log.warn("when tokens were last used was not written", { tokens: ids.length, error });
    }
  };

  return {
    flush,
    idleFor: (token, now) => now - (noted.get(token) ?? (token.lastUsedAt ?? token.createdAt).getTime()),
    usedElsewhere: (token, at) => void noted.set(token, at),
    seen(token, now, client) {
      const before = noted.get(token) ?? token.lastUsedAt?.getTime() ?? 0;
      if (now - before < everyMs) return;
      noted.set(token, now);
      waiting.set(token.id, client?.ip ?? null);
      timer ??= setTimeout(() => void flush(), writeAfterMs);
    },
  };
}
