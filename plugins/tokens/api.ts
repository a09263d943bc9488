/** What other plugins do with tokens: they issue those that people do not make themselves, and end them. */
import { service, type AppGrant, type Caller, type Identify } from "platform";

export interface IssuedToken {
  readonly id: number;
  /** Shown here and never again. */
  readonly token: string;
  readonly expiresAt: Date | null;
}

export interface NewToken {
  readonly accountId: number;
  readonly userId: number;
  readonly name?: string;
  readonly kind?: "web_token";
  /** Empty = all that the person may. */
  readonly privileges?: readonly string[];
  readonly expiresAt?: Date;
}

/** What the token of an app's page stands for, as it is now. */
export interface ForeignCredential {
  readonly accountId: number;
  /** The person who looks at the page, and the token that they came with; null = nobody. */
  readonly viewer: { readonly userId: number; readonly tokenId: number } | null;
  /** What of the viewer's privileges it keeps. */
  readonly privileges: readonly string[];
  readonly app: AppGrant;
}

export interface Tokens {
  /**
   * Finds out who asks; also for a credential that does not stand in the usual headers. Throws 401 for an app's token
   * that no longer works: whoever holds one must not be taken for nobody.
   */
  readonly identify: Identify;
  /**
   * From now on bearer tokens that begin with `prefix` are asked of `verify` (undefined = it does not work). One of a
   * viewer works only while their own token does, and never as a session.
   */
  acceptCredential(prefix: string, verify: (token: string) => Promise<ForeignCredential | undefined>): void;
  /** A token for a person, with no regard to who asks for it. Undefined if the person does not exist. */
  issue(token: NewToken): Promise<IssuedToken | undefined>;
  /**
   * Starts a session of this person. One that a `web_token` opens is narrowed as that is, ends with it and lasts no
   * longer; it opens one only. Undefined where the person or the `web_token` is gone, or it has opened one before.
   */
  startSession(of: {
    accountId: number;
    userId: number;
    openedBy?: number;
    seconds: number;
  }): Promise<IssuedToken | undefined>;
  /** Ends the session that this request carries; any other token goes on working. */
  endSession(caller: Caller): Promise<boolean>;
  /**
   * A token that can do what the caller can and lasts at most an hour, for a prompt rendered for a session. The same
   * one is given again while half of its hour is left.
   */
  temporaryToken(caller: Caller): Promise<string>;
}

export { holdsToken } from "./held-token.ts";

export const tokens = service<Tokens>("tokens");
