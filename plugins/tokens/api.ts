/** What other plugins may know of tokens: issuing the ones that people do not make themselves, and ending them. */
import { service, type Caller, type Identify } from "platform";

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

export interface Tokens {
  /** Finds out who asks; also for a credential that does not stand in the usual headers. */
  readonly identify: Identify;
  /** A token for a person, with no regard to who asks for it. Undefined where there is no such person. */
  issue(token: NewToken): Promise<IssuedToken | undefined>;
  /**
   * Starts a session of this person. One that a `web_token` opens is narrowed as that is, ends with it and lasts no
   * longer. Undefined where the person or the `web_token` is gone.
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

/** Whether a text can be a token that we made: its checksum is right. */
export { isWellFormed as isWellFormedToken } from "./raw-token.ts";

export const tokens = service<Tokens>("tokens");
