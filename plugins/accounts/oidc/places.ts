/** A provider's addresses here, the place of its secret, and what is needed to talk to it. */
import type { Account, BaseContext } from "platform";

/** Where the provider sends people back: the account's own address, whatever the `Host` header says. */
export function redirectUriOf({ baseUrl }: Pick<Account, "baseUrl">, code: string): string {
  return new URL(`${baseUrl}/login/with/${code}/callback`).href;
}

/** Where the provider sends people back who have signed out there. */
export function signedOutUriOf(account: Pick<Account, "baseUrl">, code: string): string {
  return redirectUriOf(account, code).replace(/callback$/, "signed_out");
}

/** Where the provider says that somebody has signed out there. */
export function backchannelUriOf(account: Pick<Account, "baseUrl">, code: string): string {
  return redirectUriOf(account, code).replace(/callback$/, "backchannel_logout");
}

/** A client secret is sealed for its row: it cannot be opened for another one. */
export function secretPlace(id: string | number): string {
  return `sign_in_providers.client_secret:${id}`;
}

/** As long as somebody may take to sign in at the provider. */
export const attemptSeconds = 600;

/** The facts with which this server talks to a provider. */
export interface PeerFacts {
  /** Another version of a provider is another peer. */
  readonly key: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
}

interface Row {
  readonly id: string;
  readonly version: number;
  readonly issuer: string;
  readonly clientId: string;
  /** Sealed. */
  readonly clientSecret: string | null;
}

export function peerFacts({ secrets }: Pick<BaseContext, "secrets">, row: Row): PeerFacts {
  const { id, version, issuer, clientId, clientSecret: sealed } = row;
  const clientSecret = sealed === null ? null : secrets.open(sealed, secretPlace(id));
  return { key: `${id}:${version}`, issuer, clientId, clientSecret };
}
