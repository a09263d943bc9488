/** The way to a provider and back. No HTTP, no SQL. */
import { noticed, randomToken, sha256, type Account, type Language } from "platform";
import type { Invited } from "../passwords/api.ts";
import { personOf } from "./admission.ts";
import type { OidcContext } from "./context.ts";
import { PeerFault, type AuthorizationRequest } from "./peer.ts";
import { attemptSeconds, peerFacts, redirectUriOf } from "./places.ts";
import { activeByCode, type ProviderRow } from "./provider.ts";
import { Refusal } from "./refusal.ts";
import { noteOrigin } from "./sign-out.ts";
import { addAttempt, takeAttempt } from "./store.ts";

interface SignInAttempt {
  readonly account: Account;
  readonly code: string;
  /** The value of the browser's cookie. */
  readonly browser: string;
}

interface Start extends SignInAttempt {
  readonly returnTo: string;
  /** The provider should ask for credentials even if it knows the browser. */
  readonly again: boolean;
  readonly language: Language;
  /** The invitation that this sign-in takes up. */
  readonly invited: Invited | undefined;
}

interface SignedIn {
  readonly userId: number;
  readonly returnTo: string;
  readonly isSecond: boolean;
  readonly origin: string;
}

/** The address at the provider. Throws a Refusal. */
export async function beginSignIn(
  ctx: OidcContext,
  { returnTo, again, language, invited, ...going }: Start,
): Promise<string> {
  const provider = await found(ctx, going);
  const state = randomToken();
  const more = {
    scope: provider.scopes,
    ui_locales: language,
    ...(again && { prompt: "login" }),
    ...(invited && { login_hint: invited.email }),
  };
  const sent = sentBy(ctx, going, state);
  const address = await ctx.oidc.address(peerFacts(ctx, provider), sent, more).catch((error: unknown) => {
    throw refusalOf(ctx, provider, error);
  });
  const place = { accountId: provider.accountId, providerId: provider.id };
  const hashes = { stateHash: sha256(state), browserHash: sha256(going.browser) };
  await addAttempt(ctx.sql, { ...place, ...hashes, purpose: "sign_in" }, attemptSeconds, {
    returnTo,
    invitationHash: invited?.tokenHash ?? null,
  });
  return address;
}

/** The person who comes back with this answer. Throws a Refusal. */
export async function finishSignIn(
  ctx: OidcContext,
  { answer, ...going }: SignInAttempt & { readonly answer: URLSearchParams },
): Promise<SignedIn> {
  const provider = await found(ctx, going);
  const state = answer.get("state") ?? "";
  const taken = await takeAttempt(ctx.sql, {
    accountId: provider.accountId,
    providerId: provider.id,
    stateHash: sha256(state),
    browserHash: sha256(going.browser),
    purpose: "sign_in",
  });
  // Anybody may have sent the browser here: that is no refused sign-in.
  if (!taken) throw new Refusal("expired");
  try {
    const sent = sentBy(ctx, going, state);
    const proof = await ctx.oidc.proof(peerFacts(ctx, provider), sent, answer).catch((error: unknown) => {
      throw refusalOf(ctx, provider, error);
    });
    const userId = await personOf(ctx, going.account, provider, proof, taken.invitationHash);
    const origin = await noteOrigin(ctx, provider, proof);
    return { userId, returnTo: taken.returnTo, isSecond: provider.trustSecondFactor, origin };
  } catch (error) {
    if (error instanceof Refusal) await note(ctx, provider, error);
    throw error;
  }
}

/** Made from the state, so that they need not be stored. */
function sentBy({ secrets }: OidcContext, { account, code }: SignInAttempt, state: string): AuthorizationRequest {
  return {
    redirectUri: redirectUriOf(account, code),
    state,
    nonce: secrets.derive("oidc.nonce", state),
    verifier: secrets.derive("oidc.verifier", state),
  };
}

async function found({ sql }: OidcContext, { account, code }: SignInAttempt): Promise<ProviderRow> {
  const provider = await activeByCode(sql, account.id, code);
  if (!provider) throw new Refusal("gone");
  return provider;
}

/** The fault as a refusal; whoever runs the server reads the details in the log. */
function refusalOf({ log }: OidcContext, { id, accountId }: ProviderRow, error: unknown): unknown {
  if (!(error instanceof PeerFault)) return error;
  const { kind: fault, message } = error;
  log[fault === "declined" ? "info" : "warn"]("a sign-in by a provider failed", {
    accountId,
    provider: id,
    fault,
    error: message,
  });
  return new Refusal(fault, undefined, { cause: error });
}

async function note({ emit }: OidcContext, { accountId, id, name }: ProviderRow, { userId }: Refusal): Promise<void> {
  const whom =
    userId === undefined
      ? { model: "Account::SignInProvider", recordId: id, name }
      : { model: "Account::User", recordId: `${userId}` };
  await emit(noticed, { accountId, action: "sign-in refused", ...whom });
}
