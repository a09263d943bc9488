/** The way to a provider and back. No HTTP, no SQL. */
import { noticed, randomToken, sha256, type Account, type BaseContext, type Language } from "platform";
import type { Invited } from "../passwords/api.ts";
import type { Admission } from "./admission.ts";
import type { AttemptStore } from "./attempt-store.ts";
import { PeerFault, type PeerFacts, type Peers, type Proof, type Sent } from "./peer.ts";
import { redirectUriOf, secretPlace } from "./places.ts";
import type { ProviderRow } from "./provider.ts";
import type { ProviderStore } from "./provider-store.ts";
import { Refusal } from "./refusal.ts";

/** As long as somebody may take to sign in at the provider. */
export const attemptSeconds = 600;

interface Needed {
  readonly ctx: Pick<BaseContext, "emit" | "log" | "secrets">;
  readonly providerStore: Pick<ProviderStore, "activeByCode">;
  readonly attemptStore: AttemptStore;
  readonly admission: Admission;
  readonly peers: Peers;
  /** Keeps what signing out will need, and names it. */
  readonly originOf: (provider: ProviderRow, proof: Proof) => Promise<string>;
}

interface Going {
  readonly account: Account;
  readonly code: string;
  /** The value of the browser's cookie. */
  readonly browser: string;
}

interface Start extends Going {
  readonly returnTo: string;
  /** The provider should ask for credentials even if it knows the browser. */
  readonly again: boolean;
  readonly language: Language;
  /** What this sign-in takes up. */
  readonly invited: Invited | undefined;
}

export interface SignedIn {
  readonly userId: number;
  readonly returnTo: string;
  readonly isSecond: boolean;
  readonly origin: string;
}

export type ProviderSignIn = ReturnType<typeof createProviderSignIn>;

export function createProviderSignIn({ ctx, providerStore, attemptStore, admission, peers, originOf }: Needed) {
  /** Made from the state, so that they need not be stored. */
  const sentBy = (account: Account, code: string, state: string): Sent => ({
    redirectUri: redirectUriOf(account, code),
    state,
    nonce: ctx.secrets.derive("oidc.nonce", state),
    verifier: ctx.secrets.derive("oidc.verifier", state),
  });

  const found = async ({ account, code }: Going): Promise<ProviderRow> => {
    const provider = await providerStore.activeByCode(account.id, code);
    if (!provider) throw new Refusal("gone");
    return provider;
  };

  const factsOf = (row: ProviderRow): PeerFacts => peerFacts(ctx, row);

  /** The fault as a refusal; whoever runs the server reads the details in the log. */
  const refusalOf = ({ id, accountId }: ProviderRow, error: unknown): unknown => {
    if (!(error instanceof PeerFault)) return error;
    const level = error.kind === "declined" ? "info" : "warn";
    ctx.log[level]("a sign-in by a provider failed", {
      accountId,
      provider: id,
      fault: error.kind,
      error: error.message,
    });
    return new Refusal(error.kind, undefined, { cause: error });
  };

  const note = async ({ accountId, id, name }: ProviderRow, { userId }: Refusal): Promise<void> => {
    const whom =
      userId === undefined
        ? { model: "Account::SignInProvider", recordId: id, name }
        : { model: "Account::User", recordId: `${userId}` };
    await ctx.emit(noticed, { accountId, action: "sign-in refused", ...whom });
  };

  return {
    /** The address at the provider. Throws a Refusal. */
    async begin({ returnTo, again, language, invited, ...going }: Start): Promise<string> {
      const provider = await found(going);
      const state = randomToken();
      const more = {
        scope: provider.scopes,
        ui_locales: language,
        ...(again && { prompt: "login" }),
        ...(invited && { login_hint: invited.email }),
      };
      const sent = sentBy(going.account, going.code, state);
      const address = await peers.address(factsOf(provider), sent, more).catch((error: unknown) => {
        throw refusalOf(provider, error);
      });
      const place = { accountId: provider.accountId, providerId: provider.id };
      const hashes = { stateHash: sha256(state), browserHash: sha256(going.browser) };
      await attemptStore.add({ ...place, ...hashes, purpose: "sign_in" }, attemptSeconds, {
        returnTo,
        invitationHash: invited?.tokenHash ?? null,
      });
      return address;
    },

    /** Who comes back with this answer. Throws a Refusal. */
    async finish({ answer, ...going }: Going & { readonly answer: URLSearchParams }): Promise<SignedIn> {
      const provider = await found(going);
      const state = answer.get("state") ?? "";
      const taken = await attemptStore.take({
        accountId: provider.accountId,
        providerId: provider.id,
        stateHash: sha256(state),
        browserHash: sha256(going.browser),
        purpose: "sign_in",
      });
      // Anybody may have sent the browser here: that is no refused sign-in.
      if (!taken) throw new Refusal("expired");
      try {
        const sent = sentBy(going.account, going.code, state);
        const proof: Proof = await peers.proof(factsOf(provider), sent, answer).catch((error: unknown) => {
          throw refusalOf(provider, error);
        });
        const userId = await admission.personOf(going.account, provider, proof, taken.invitationHash);
        const origin = await originOf(provider, proof);
        return { userId, returnTo: taken.returnTo, isSecond: provider.trustSecondFactor, origin };
      } catch (error) {
        if (error instanceof Refusal) await note(provider, error);
        throw error;
      }
    },
  };
}

export function peerFacts({ secrets }: Pick<BaseContext, "secrets">, row: ProviderRow): PeerFacts {
  const { id, version, issuer, clientId, clientSecret: sealed } = row;
  const clientSecret = sealed === null ? null : secrets.open(sealed, secretPlace(id));
  return { key: `${id}:${version}`, issuer, clientId, clientSecret };
}
