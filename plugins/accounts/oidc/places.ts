/** The addresses of a provider here, and the place of its secret. */
import type { Account } from "platform";

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

/** What a client secret is sealed for: it cannot be opened for another row. */
export function secretPlace(id: string | number): string {
  return `sign_in_providers.client_secret:${id}`;
}
