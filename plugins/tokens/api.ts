/** What other plugins do with tokens: they issue those that people do not make themselves, and end them. */
import { service, type AppGrant, type Caller, type Identify, type Page, type ReadPage, type Tx } from "platform";

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
  /** Empty = all privileges of the person. */
  readonly privileges?: readonly string[];
  readonly expiresAt?: Date;
}

/** What somebody lets an app do that signs in for them. `info` is shown in place of the token's text. */
export interface Connection {
  readonly name: string;
  readonly info: string;
  /** At least one: none would be all. */
  readonly privileges: readonly [string, ...string[]];
  /** By id or code, each up to a level; null = all of the person's. */
  readonly databases: Readonly<Record<string, string>> | null;
  readonly readOnly: boolean;
  readonly expiresAt: Date;
}

/** By what people tell their sessions apart. */
export interface SignedInFrom {
  readonly address: string;
  /** The user agent. */
  readonly browser: string | null;
}

export interface Session {
  readonly id: number;
  /** Null = unknown: started before this was kept. */
  readonly address: string | null;
  readonly browser: string | null;
  readonly lastUsedAt: Date | null;
  readonly createdAt: Date;
}

/** How the request's token came to be. */
export interface TokenOrigin {
  /** A sign-in, and no API token. */
  readonly isSession: boolean;
  /** A sign-in in person within the last ten minutes. */
  readonly isFresh: boolean;
  /** By an invitation: there is no password to prove oneself with. */
  readonly isInvited: boolean;
}

/** What the token of an app's page stands for at this moment. */
export interface ForeignCredential {
  readonly accountId: number;
  /** The person who looks at the page, and the token that they came with; null = nobody. */
  readonly viewer: { readonly userId: number; readonly tokenId: number } | null;
  /** The viewer's privileges that it keeps. */
  readonly privileges: readonly string[];
  readonly app: AppGrant;
}

export interface Tokens {
  /**
   * Finds out who sends a request, also by a credential from outside the usual headers. Throws 401 for an app's token
   * that has expired: its holder must not be treated as a visitor without a credential.
   */
  readonly identify: Identify;
  /** Whom a `web_token` or an invitation signs in at this host; null if it signs in nobody. */
  opener(host: string, token: string): Promise<Caller | null>;
  /**
   * From now on `verify` answers for bearer tokens that begin with `prefix` (undefined = invalid). A viewer's page
   * token works only while the viewer's own token does, and never as a session.
   */
  acceptCredential(prefix: string, verify: (token: string) => Promise<ForeignCredential | undefined>): void;
  /** Whether agents may delete with the caller's token over `/mcp`. */
  mayDeleteOverMcp(caller: Caller): Promise<boolean>;
  /** Whether this caller of `opener` came by an invitation. */
  isInvitation(caller: Caller): Promise<boolean>;
  /** A token for a person, without asking who wants it. Undefined if the person does not exist. */
  issue(token: NewToken): Promise<IssuedToken | undefined>;
  /**
   * Makes a token that is used by further texts alone. `also` runs in the same transaction. Throws 403 for whoever may
   * not make tokens, and 422 for what is beyond them or their own token.
   */
  connect(caller: Caller, token: Connection, also: (tokenId: number, tx: Tx) => Promise<void>): Promise<void>;
  /** A further text of a token, which works at most so many seconds. Undefined if the token does not work. */
  addText(tx: Tx, accountId: number, tokenId: number, seconds: number): Promise<IssuedToken | undefined>;
  /**
   * Starts a session of this person. A session that a `web_token` opens has the token's privileges and ends with it, at
   * the latest. Undefined if the person or the `web_token` is gone, or the `web_token` has already opened a session.
   */
  startSession(of: {
    accountId: number;
    userId: number;
    openedBy?: number;
    seconds: number;
    /** After so many seconds without a request it ends earlier; null = it does not. */
    idleSeconds?: number | null;
    from?: SignedInFrom;
    /** Runs in the same transaction; what it throws stops it. */
    also?: (sessionId: number, tx: Tx) => Promise<void>;
  }): Promise<IssuedToken | undefined>;
  /**
   * Whether the request's session began by a sign-in of the last ten minutes. A token is no session, and a `web_token`
   * signs in nobody in person; an invitation does.
   */
  isFresh(caller: Caller): Promise<boolean>;
  standingOf(caller: Caller): Promise<TokenOrigin>;
  /**
   * Ends the sessions of a person whose password changes, but the one of this token (null: none). The function that it
   * returns runs after the commit, before the answer.
   */
  passwordChanged(userId: number, byTokenId: number | null, tx: Tx): Promise<() => Promise<void>>;
  /** Ends the session of this request. A token that is not a session is left alone (false). */
  endSession(caller: Caller): Promise<boolean>;
  /** The caller's sessions, the newest first; a narrowed token sees only those that can do no more than it. */
  sessions(caller: Caller, page: Page): Promise<ReadPage<Session>>;
  /** Ends one of those; false if there is no such session. */
  endSessionById(caller: Caller, id: number): Promise<boolean>;
  /** Ends all of those but the one of this request. */
  endOtherSessions(caller: Caller): Promise<void>;
  /** Ends all sessions of a person. Ask `Accounts.changeable` first. */
  endSessionsOf(accountId: number, userId: number): Promise<void>;
  /** Switches off all API tokens of a person. What it gives is to be run after the commit, before the answer. */
  switchOff(accountId: number, userId: number, tx: Tx): Promise<() => Promise<void>>;
  /** Ends the sessions or other tokens that `idsIn` names, in its transaction. */
  endSessions(accountId: number, idsIn: (tx: Tx) => Promise<readonly number[]>): Promise<void>;
  /**
   * A token with the caller's rights that lasts at most an hour, for a prompt rendered in a session. The same token is
   * returned as long as half of its hour is left.
   */
  temporaryToken(caller: Caller): Promise<string>;
}

export { holdsToken } from "./raw-token.ts";

export const tokens = service<Tokens>("tokens");
