/** Accounts and people, as other plugins see them. */
import { service, type Account, type ConfigOf, type Settings, type Static, type Tx, type User } from "platform";
import { User as PersonAnswer } from "./answers.ts";

export const unitKinds = ["team", "department", "group"] as const;
export type UnitKind = (typeof unitKinds)[number];

/** Who a person is and may be, without regard to any token. */
export interface Access {
  readonly account: Account;
  readonly user: User;
  readonly active: boolean;
  /** Those of the role and the person's own (behaviour B.4). */
  readonly privileges: ReadonlySet<string>;
}

/** A person as the API shows one. */
export const personAnswer = PersonAnswer;
export type Person = Static<typeof PersonAnswer>;

export interface Unit {
  readonly id: number;
  readonly kind: UnitKind;
  readonly name: string;
}

export interface NewAccount {
  readonly accountId: number;
  /** Its administrator. */
  readonly userId: number;
  /** Where it is reached; null = at `BASE_URL`. */
  readonly host: string | null;
  /** The one that an empty database is filled with. */
  readonly first: boolean;
}

export interface Accounts {
  /** The account of a Host header (with or without a port), or undefined if the host is nobody's. */
  accountForHost(host: string): Promise<Account | undefined>;
  /**
   * Whether no site may have this host, with whatever port: it is an account's or the installation's own, or people have
   * signed in there. Read as part of a transaction: without another connection.
   */
  isReservedHost(host: string, tx: Tx): Promise<boolean>;
  /** Nobody else takes this host, for a domain, an account or a sign-in, before the transaction ends. */
  holdHost(host: string, tx: Tx): Promise<void>;
  /** Before a sign-in is answered: its host is from then on no site's. */
  signedInAt(accountId: number, host: string): Promise<void>;
  /** Whether the installation has more than one account. */
  hasSeveral(tx: Tx): Promise<boolean>;
  /** The first account: that of a request whose host and credential name none. */
  defaultAccount(): Promise<Account>;
  accountById(accountId: number): Promise<Account | undefined>;
  /** Cached, and right again in every process before the answer to a change. */
  access(userId: number): Promise<Access | undefined>;
  person(accountId: number, userId: number): Promise<Person | undefined>;
  /** The id of the person with this login (letter case does not matter), or undefined. */
  userIdOf(accountId: number, login: string): Promise<number | undefined>;
  /**
   * The id of the active person with this login or e-mail address and this password, or undefined. It takes the same
   * time whether or not such a person exists.
   */
  verifyPassword(accountId: number, loginOrEmail: string, password: string): Promise<number | undefined>;
  unitExists(accountId: number, kind: UnitKind, id: number): Promise<boolean>;
  /** The teams, departments and groups that a person is in. */
  unitsOf(accountId: number, userId: number): Promise<readonly Unit[]>;
  /**
   * What this account has set of the `accountSettings` that a plugin declares, e.g.
   * `(await accounts.settingsOf(accountId, accountSettings)).maxItems`. Cached, and right again after a change.
   */
  settingsOf<S extends Settings>(accountId: number, settings: S): Promise<ConfigOf<S>>;
  /** Whether any plugin declares this privilege. */
  isPrivilege(name: string): boolean;
  /** Calls `run` in the transaction that makes an account: its lines are shown once, and what it throws refuses that. */
  onAccountCreated(run: (account: NewAccount, tx: Tx) => Promise<readonly string[]>): void;
  /**
   * Calls `run` in the transaction that changes a person's password, with the token that asked for it (null: a command).
   * What it gives back runs after the commit, before the answer.
   */
  onPasswordChanged(run: PasswordHook): void;
}

export type PasswordHook = (userId: number, byTokenId: number | null, tx: Tx) => Promise<() => Promise<void>>;

export const accounts = service<Accounts>("accounts");
