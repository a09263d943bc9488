/** Lookups of the https listener: the certificate of a host, and the response to an authority's challenge. */
import type { Certificates, KeyPair } from "platform";
import { challengeContext, changedTopic, keyContext } from "./orders.ts";
import type { CertificateRow } from "./store.ts";
import * as certificateStore from "./store.ts";
import * as orders from "./orders.ts";
import { ownerOf, type CertificatesContext } from "./context.ts";

/** How long a first handshake waits for its certificate. */
const patienceMs = 25_000;

export function createKeyring(ctx: CertificatesContext): Certificates {
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  const forgetting: ((host: string) => void)[] = [];
  ctx.broadcast.on(changedTopic, (host) => {
    for (const forget of forgetting) forget(host);
    waiting.get(host)?.resolve();
    waiting.delete(host);
  });

  const pairOf = ({ host, chain, keySealed }: CertificateRow): KeyPair | undefined =>
    chain !== null && keySealed !== null ? { chain, key: ctx.secrets.open(keySealed, keyContext(host)) } : undefined;
  const isValid = ({ expiresAt }: CertificateRow) => expiresAt !== null && expiresAt > new Date();
  const stored = async (host: string) => {
    const row = await certificateStore.byHost(ctx.sql, host);
    return row && isValid(row) ? pairOf(row) : undefined;
  };
  /** Until this host's order has ended. */
  const ended = async (host: string): Promise<void> => {
    const known = waiting.get(host) ?? Promise.withResolvers<void>();
    waiting.set(host, known);
    const timer = setTimeout(known.resolve, patienceMs);
    await known.promise;
    clearTimeout(timer);
  };

  return {
    async find(host) {
      if (ownerOf(ctx, host) === undefined) return undefined;
      const found = await stored(host);
      if (found) return found;
      await orders.tend(ctx);
      const row = await certificateStore.byHost(ctx.sql, host);
      // An order has failed, and the next one is not due: the visitor need not wait.
      if (!row || row.tryAt > new Date()) return undefined;
      await orders.enqueueOrder(ctx, host);
      await ended(host);
      return stored(host);
    },

    async proof(host) {
      const sealed = await certificateStore.answerTo(ctx.sql, host);
      if (sealed === undefined) return undefined;
      const pair: KeyPair = JSON.parse(ctx.secrets.open(sealed, challengeContext(host)));
      return pair;
    },

    async challenge(token) {
      const sealed = await certificateStore.answerTo(ctx.sql, token);
      return sealed === undefined ? undefined : ctx.secrets.open(sealed, challengeContext(token));
    },

    onChange: (forget) => void forgetting.push(forget),
  };
}
