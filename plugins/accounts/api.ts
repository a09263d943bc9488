/** Accounts and people, as other plugins see them. */
import { service } from "platform";
import type { Account, Caller, ConfigOf, Language, Settings, Tx, User } from "platform";
import type { NewPerson, Person, PersonPatch, UnitKind } from "./people/fields.ts";

export { brandSettings, standardBrand } from "./people/brand.ts";
export { originMistake, page, pageAnswers, sessions, type Sessions } from "./sessions/api.ts";
export { look } from "./people/look.ts";
export { isPlainlyWritten, isSameAddress, passwordSettings } from "./people/rules.ts";
export { unitKinds, type NewPerson, type Person, type PersonPatch, type UnitKind } from "./people/fields.ts";

/** A person and their rights, regardless of any token. */
export interface Access {
  readonly account: Account;
  readonly user: User;
  readonly active: boolean;
  /** The role's privileges and the person's own (behaviour B.4). */
  readonly privileges: ReadonlySet<string>;
}

export interface MailPreferences {
  /** Whether a comment that mentions them comes by mail too; default: yes. */
  readonly mentions?: boolean;
  /** Default: the account's. */
  readonly language?: Language;
}

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
  /** Whether it is the account that an empty database starts with. */
  readonly first: boolean;
}

export interface Accounts {
  /** The hosts of all accounts, without ports; that of `BASE_URL` belongs to the first one. */
  hosts(): Promise<readonly { readonly host: string; readonly accountId: number }[]>;
  /** The account of a Host header (with or without a port), or undefined if the host is nobody's. */
  accountForHost(host: string): Promise<Account | undefined>;
  /**
   * Whether no site may have this host, with any port: it belongs to an account or to the installation, or people have
   * signed in there. It reads in the given transaction and needs no further connection.
   */
  isReservedHost(host: string, tx: Tx): Promise<boolean>;
  /** Until the transaction ends, nobody else can take this host for a domain, an account or a sign-in. */
  holdHost(host: string, tx: Tx): Promise<void>;
  /** To be called before a sign-in is answered: from then on no site can have its host. */
  signedInAt(accountId: number, host: string): Promise<void>;
  /** Whether the installation has more than one account. */
  hasSeveral(tx: Tx): Promise<boolean>;
  /** The first account. It serves requests whose host and credential name no account. */
  defaultAccount(): Promise<Account>;
  accountById(accountId: number, tx?: Tx): Promise<Account | undefined>;
  /** Cached; every process has the new value before a change is answered. `tx`: what is not in memory is read in it. */
  access(userId: number, tx?: Tx): Promise<Access | undefined>;
  person(accountId: number, userId: number): Promise<Person | undefined>;
  /** The id of the person with this login (letter case does not matter), or undefined. */
  userIdOf(accountId: number, login: string): Promise<number | undefined>;
  /**
   * The id of the active person with this login or e-mail address and this password, or undefined. It takes the same
   * time whether or not such a person exists.
   */
  verifyPassword(accountId: number, loginOrEmail: string, password: string): Promise<number | undefined>;
  /** Whether the person can sign in by a password. */
  hasPassword(accountId: number, userId: number): Promise<boolean>;
  /**
   * The person, if the caller may change them; otherwise it throws 404 or 403. Whoever may change a person may also let
   * somebody sign in as them.
   */
  changeable(caller: Caller, userId: number): Promise<Person>;
  /** The person, active or not, with this login or e-mail address. */
  personByLogin(accountId: number, loginOrEmail: string): Promise<Person | undefined>;
  /**
   * Adds a person, if the caller may (422); `also` runs in the same transaction. `fields` as in `POST /account/users`.
   */
  createPerson(caller: Caller, fields: NewPerson, also: InTransaction): Promise<Person>;
  /** Adds a person whom a rule of the account lets in, and no caller. `also` runs in the same transaction. */
  admitPerson(accountId: number, fields: NewPerson, also: InTransaction): Promise<Person>;
  /** Changes what a rule of the account decides, and no caller. Throws 422 if it is the last administrator's role. */
  followRule(
    person: { readonly accountId: number; readonly userId: number },
    given: Pick<PersonPatch, "role" | "team_ids">,
  ): Promise<Person>;
  /** Deletes a person, if the caller may change them (404, 403) and `also` throws nothing, in the same transaction. */
  deletePerson(caller: Caller, userId: number, also: InTransaction): Promise<void>;
  /**
   * Sets the password of a person who has proved themselves by other means than a token, and switches them on if
   * `activate` is true; their sessions end. `also` runs first, in the same transaction: what it throws stops it.
   */
  setPassword(
    person: { readonly accountId: number; readonly userId: number },
    given: { readonly password: string; readonly activate: boolean },
    also: InTransaction,
  ): Promise<Person>;
  /** Gives a person the address that they have confirmed. `also` as in `setPassword`. */
  setEmail(
    person: { readonly accountId: number; readonly userId: number },
    email: string,
    also: InTransaction,
  ): Promise<Person>;
  /** Ends the password and the sessions of a person who signs in by other means from now on. `also` as in `setPassword`. */
  endPassword(person: { readonly accountId: number; readonly userId: number }, also: InTransaction): Promise<Person>;
  /**
   * Switches on a person who was invited and has proved themselves. `also` runs first, in the same transaction: what it
   * throws stops it.
   */
  activate(person: { readonly accountId: number; readonly userId: number }, also: InTransaction): Promise<Person>;
  /** The active administrators. */
  administrators(accountId: number): Promise<readonly Person[]>;
  /** `tx`: the transaction that the caller is in, which must not wait for another connection. */
  unitExists(accountId: number, kind: UnitKind, id: number, tx?: Tx): Promise<boolean>;
  /** The teams, departments and groups that a person is in. */
  unitsOf(accountId: number, userId: number): Promise<readonly Unit[]>;
  /**
   * This account's values of the `accountSettings` that a plugin declares, e.g.
   * `(await accounts.settingsOf(accountId, accountSettings)).maxItems`. Cached, and current after every change.
   */
  settingsOf<S extends Settings>(accountId: number, settings: S, tx?: Tx): Promise<ConfigOf<S>>;
  /** What these people want of mails; nothing of those who have not said it. */
  mailPreferences(accountId: number, userIds: readonly number[]): Promise<ReadonlyMap<number, MailPreferences>>;
  /** Whether any plugin declares this privilege. */
  isPrivilege(name: string): boolean;
  /**
   * Calls `run` in the transaction that creates an account. Its lines are shown once; if it throws, nothing is created.
   */
  onAccountCreated(run: (account: NewAccount, tx: Tx) => Promise<readonly string[]>): void;
}

export type InTransaction = (person: Person, tx: Tx) => Promise<void>;

export const accounts = service<Accounts>("accounts");
