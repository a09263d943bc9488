/** Signing out at a provider, and by a provider. No HTTP, no SQL. */
import { filledIn, find, HttpError, randomToken, sha256, uuidv7 } from "platform";
import type { Account, Caller, Language } from "platform";
import type { PageLink } from "../sessions/api.ts";
import type { OidcContext } from "./context.ts";
import { logoutSeconds } from "./logout-token.ts";
import { PeerFault, type Proof } from "./peer.ts";
import { attemptSeconds, peerFacts, signedOutUriOf } from "./places.ts";
import { activeByCode, Provider, type ProviderRow } from "./provider.ts";
import { allWords } from "./refusal.ts";
import { addAttempt, addOrigin, endOrigins, originOfSession, takeAttempt, useLogout } from "./store.ts";

/** It is sent to the provider as a part of an address. */
const maxIdTokenChars = 4000;
/** Stands for a cookie's hash, which it never equals, in the state of a sign-out. */
const anyBrowser = "";

const tokenPlace = (id: string) => `sign_in_origins.id_token:${id}`;

/** Keeps what signing out will need. Returns the sign-in's `origin`. */
export async function noteOrigin(
  { secrets, sql }: OidcContext,
  { accountId, id: providerId, signOutThere }: ProviderRow,
  { issuer, subject, sid, idToken: given }: Proof,
): Promise<string> {
  const id = uuidv7();
  const idToken = signOutThere && given.length <= maxIdTokenChars ? secrets.seal(given, tokenPlace(id)) : null;
  await addOrigin(sql, { accountId, id, providerId, issuer, subject, sid, idToken });
  return id;
}

/** Returns, once the session has ended, where somebody goes to be signed out at the provider too. */
export async function leaving(ctx: OidcContext, { account, tokenId }: Caller) {
  const origin = await originOfSession(ctx.sql, account.id, tokenId);
  const provider = origin && (await find(Provider, ctx.sql, account.id, { id: origin.providerId }));
  // The ID token is nobody's but its issuer's.
  if (!provider?.active || !provider.signOutThere || provider.issuer !== origin?.issuer) return undefined;
  const { idToken: sealed, id } = origin;
  return async (language: Language): Promise<PageLink | undefined> => {
    const state = randomToken();
    const hint = sealed === null ? {} : { id_token_hint: ctx.secrets.open(sealed, tokenPlace(id)) };
    const back = signedOutUriOf(account, provider.code);
    const sent = { ...hint, post_logout_redirect_uri: back, state, ui_locales: language };
    const href = await ctx.oidc.signOutAddress(peerFacts(ctx, provider), sent);
    if (href === undefined) return undefined;
    await addAttempt(ctx.sql, attemptOf(account, provider, state), attemptSeconds);
    return { href, label: filledIn(allWords[language].signOutBy, { provider: provider.name }) };
  };
}

function attemptOf({ id: accountId }: Account, { id: providerId }: ProviderRow, state: string) {
  return { accountId, providerId, stateHash: sha256(state), browserHash: anyBrowser, purpose: "sign_out" } as const;
}

/** The provider that has sent somebody back after they signed out there; undefined if the state says nothing. */
export async function cameBack({ sql }: OidcContext, account: Account, code: string, state: string) {
  const provider = await activeByCode(sql, account.id, code);
  return provider && (await takeAttempt(sql, attemptOf(account, provider, state))) ? provider : undefined;
}

/** The provider says that somebody has signed out there. Throws 400, 404 or 502. */
export async function signOutBy(ctx: OidcContext, account: Account, code: string, token: string): Promise<void> {
  const provider = await activeByCode(ctx.sql, account.id, code);
  if (!provider) throw refused(404, "there is no such provider");
  const place = { accountId: account.id, providerId: provider.id };
  const logout = await ctx.oidc.logout(peerFacts(ctx, provider), token).catch((error: unknown) => {
    if (!(error instanceof PeerFault)) throw error;
    const { kind: fault, message } = error;
    ctx.log.warn("a logout token was refused", { accountId: account.id, provider: provider.id, fault, error: message });
    if (fault === "unreachable") throw refused(502, "the provider's keys cannot be read");
    throw refused(400, "the logout token is not valid");
  });
  await ctx.tokens.endSessions(account.id, async (tx) => {
    if (!(await useLogout(tx, place, sha256(logout.jti), 2 * logoutSeconds)))
      throw refused(400, "the logout token was used before");
    return endOrigins(tx, place, logout);
  });
}

function refused(status: number, error: string): HttpError {
  return new HttpError(status, { error }, { "cache-control": "no-store" });
}
