/** Sending mails to people, for other plugins: they register what a mail says, and send it in their own transaction. */
import { service, sha256, type Account, type Language, type Tx } from "platform";

export { languages, languageWords } from "./answers.ts";
export { mailTexts, textsIn } from "./texts.ts";

/** A value that a template may use as `{{ name }}`. */
export interface MailValue {
  readonly doc: string;
  /** For the preview, and for the check of an account's own words. */
  readonly example: string;
  /** Words without it would be of no use: the link of an invitation. */
  readonly needed?: true;
}

/** Liquid. In `html` every value is escaped. */
export interface MailTexts {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface MailTemplate {
  /** E.g. `password_reset`. */
  readonly code: string;
  readonly doc: string;
  /** In addition to `account.name` and `account.url`, which every mail has. */
  readonly values: Readonly<Record<string, MailValue>>;
  readonly texts: Readonly<Record<Language, MailTexts>>;
  /**
   * Makes the values when the mail is about to be sent, from those that it was queued with, which are then others.
   * Undefined: it must not be sent any more, e.g. because its receiver has lost a right.
   */
  readonly atSending?: (queued: QueuedValues) => Promise<Readonly<Record<string, string>> | undefined>;
}

export type QueuedValues = Pick<OutgoingMail, "accountId" | "to" | "values">;

export interface OutgoingMail {
  readonly accountId: number;
  /** One address. */
  readonly to: string;
  /** The code of a registered template. */
  readonly template: string;
  readonly values: Readonly<Record<string, string>>;
  /** Default: the account's, else English. */
  readonly language?: Language | undefined;
  /** After that it is not sent any more, because it would be of no use. */
  readonly expiresAt?: Date;
  /** A UUID of version 7 that the caller has made: a mail that has it already is not sent again. */
  readonly id?: string;
}

export interface Mail {
  /** Whether this account can send mails. */
  isSetUp(accountId: number): Promise<boolean>;
  /** Throws the 422 that says what to set up. */
  mustBeSetUp(accountId: number): Promise<void>;
  /**
   * Queues a mail and gives its id in the log: in the given transaction, so that it is sent if and only if that commits.
   * Throws a 422 if mail is not set up or `to` is no address.
   */
  send(mail: OutgoingMail, tx?: Tx): Promise<string>;
  /** The same for news that must stop nothing: where `send` throws that 422, nobody is told. */
  tell(mail: OutgoingMail, tx: Tx): Promise<void>;
  /** To be called in `setup`. */
  registerTemplate(template: MailTemplate): void;
}

/** `2026-01-31 10:00`, on the account's clocks: as mails say it. */
export function timeIn({ timezone }: Pick<Account, "timezone">): string {
  return new Intl.DateTimeFormat("sv", { dateStyle: "short", timeStyle: "short", timeZone: timezone }).format();
}

/** The same for the same key, which begins with a UUID whose time it takes over: the log is in the order of ids. */
export function mailId(key: string, at: number): string {
  const hash = sha256(`${key}:${at}`);
  return `${key.slice(0, 13)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`;
}

export const mail = service<Mail>("mail");
