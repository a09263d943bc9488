/** Signing out at a provider, and by a provider. No HTTP, no SQL. */
import {
  filledIn,
  find,
  HttpError,
  randomToken,
  sha256,
  unauthorized,
  uuidv7,
  type Account,
  type BaseContext,
} from "platform";
import type { Leaving, Started } from "../sessions/api.ts";
import type { Tokens } from "../../tokens/api.ts";
import type { AttemptStore } from "./attempt-store.ts";
import { logoutSeconds } from "./logout-token.ts";
import type { OriginStore } from "./origin-store.ts";
import { PeerFault, type Peers, type Proof } from "./peer.ts";
import { signedOutUriOf } from "./places.ts";
import { Provider, type ProviderRow } from "./provider.ts";
import type { ProviderStore } from "./provider-store.ts";
import { attemptSeconds, peerFacts } from "./sign-in.ts";
import { allWords } from "./words.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "log" | "secrets" | "sql">;
  readonly tokens: Pick<Tokens, "endSessions">;
  readonly providerStore: Pick<ProviderStore, "activeByCode">;
  readonly originStore: OriginStore;
  readonly attemptStore: AttemptStore;
  readonly peers: Peers;
}

/** It is sent to the provider as a part of an address. */
const maxIdTokenChars = 4000;
/** Of a sign-out's state, in place of a cookie's hash, which it never equals. */
const anyBrowser = "";

export type SignOut = ReturnType<typeof createSignOut>;

export function createSignOut({ ctx, tokens, providerStore, originStore, attemptStore, peers }: Needed) {
  const tokenPlace = (id: string) => `sign_in_origins.id_token:${id}`;

  return {
    /** Keeps what signing out will need. Gives the sign-in's `origin`. */
    async note({ accountId, id: providerId, signOutThere }: ProviderRow, proof: Proof): Promise<string> {
      const id = uuidv7();
      const keeps = signOutThere && proof.idToken.length <= maxIdTokenChars;
      const idToken = keeps ? ctx.secrets.seal(proof.idToken, tokenPlace(id)) : null;
      const { issuer, subject, sid } = proof;
      await originStore.add({ accountId, id, providerId, issuer, subject, sid, idToken });
      return id;
    },

    /** Its session has started. */
    async started({ accountId, sessionId, origin }: Started, tx: Parameters<OriginStore["start"]>[0]): Promise<void> {
      if (!(await originStore.start(tx, accountId, origin, sessionId)))
        throw unauthorized("the provider has signed this person out");
    },

    /** Where somebody goes to be signed out at the provider too. */
    leaving: (async ({ account, tokenId }) => {
      const origin = await originStore.ofSession(account.id, tokenId);
      const provider = origin && (await find(Provider, ctx.sql, account.id, { id: origin.providerId }));
      // The ID token is nobody's but its issuer's.
      if (!provider?.active || !provider.signOutThere || provider.issuer !== origin?.issuer) return undefined;
      const { idToken: sealed, id } = origin;
      return async (language) => {
        const state = randomToken();
        const hint = sealed === null ? {} : { id_token_hint: ctx.secrets.open(sealed, tokenPlace(id)) };
        const back = signedOutUriOf(account, provider.code);
        const sent = { ...hint, post_logout_redirect_uri: back, state, ui_locales: language };
        const href = await peers.signOutAddress(peerFacts(ctx, provider), sent);
        if (href === undefined) return undefined;
        const place = { accountId: account.id, providerId: provider.id };
        const hashes = { stateHash: sha256(state), browserHash: anyBrowser };
        await attemptStore.add({ ...place, ...hashes, purpose: "sign_out" }, attemptSeconds);
        return { href, label: filledIn(allWords[language].signOutBy, { provider: provider.name }) };
      };
    }) satisfies Leaving,

    /** The provider that has sent somebody back after they signed out there; undefined if the state says nothing. */
    async cameBack(account: Account, code: string, state: string): Promise<ProviderRow | undefined> {
      const provider = await providerStore.activeByCode(account.id, code);
      if (!provider) return undefined;
      const place = { accountId: account.id, providerId: provider.id };
      const hashes = { stateHash: sha256(state), browserHash: anyBrowser };
      return (await attemptStore.take({ ...place, ...hashes, purpose: "sign_out" })) && provider;
    },

    /** The provider says that somebody has signed out there. Throws 400, 404 or 502. */
    async byProvider(account: Account, code: string, token: string): Promise<void> {
      const provider = await providerStore.activeByCode(account.id, code);
      if (!provider) throw refused(404, "there is no such provider");
      const logout = await peers.logout(peerFacts(ctx, provider), token).catch((error: unknown) => {
        if (!(error instanceof PeerFault)) throw error;
        const { kind: fault, message } = error;
        ctx.log.warn("a logout token was refused", {
          accountId: account.id,
          provider: provider.id,
          fault,
          error: message,
        });
        if (fault === "unreachable") throw refused(502, "the provider's keys cannot be read");
        throw refused(400, "the logout token is not valid");
      });
      const place = { accountId: account.id, providerId: provider.id };
      await tokens.endSessions(account.id, async (tx) => {
        if (!(await originStore.useLogout(tx, place, sha256(logout.jti), 2 * logoutSeconds)))
          throw refused(400, "the logout token was used before");
        return originStore.end(tx, place, logout);
      });
    },
  };
}

function refused(status: number, error: string): HttpError {
  return new HttpError(status, { error }, { "cache-control": "no-store" });
}
