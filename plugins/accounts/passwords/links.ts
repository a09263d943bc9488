/** Links in mails by which people set a password. No HTTP, no SQL. */
import { randomToken, sha256, type Account, type Language, type Tx } from "platform";
import { isSameAddress, type Accounts, type Person } from "../api.ts";
import { timeIn, type Mail } from "../../mail/api.ts";
import type { LinkRow, LinkStore } from "./store.ts";

interface Needed {
  readonly accounts: Pick<Accounts, "person" | "setPassword">;
  readonly mail: Pick<Mail, "send" | "isSetUp">;
  readonly linkStore: LinkStore;
}

interface Sent {
  readonly account: Account;
  readonly person: Person;
  readonly email: string;
  readonly language: Language | null;
  readonly expiresAt: Date;
}

export interface Inviting extends Sent {
  readonly isNew: boolean;
  readonly inviter: { readonly id: number; readonly name: string };
  readonly days: number;
}

/** Who sets a password by a link, and from where. */
export interface Setting {
  readonly account: Account;
  readonly token: string;
  readonly password: string;
  readonly ip: string;
}

export const resetMinutes = 60;

/** 32 random bytes: nobody guesses it, and the database has only its hash. */
const newToken = () => randomToken(32);
export const isToken = (text: string): boolean => /^[\w-]{43}$/.test(text);

export type Links = ReturnType<typeof createLinks>;

/** The link does not work, or no longer. */
export class LinkEnded extends Error {
  override name = "LinkEnded";
}

export function createLinks({ accounts, mail, linkStore }: Needed) {
  /** The person of a link that works. */
  const found = async (account: Account, token: string) =>
    isToken(token) ? foundByHash(account, sha256(token)) : undefined;

  const foundByHash = async (
    account: Account,
    hash: string,
  ): Promise<{ link: LinkRow; person: Person } | undefined> => {
    const link = await linkStore.byToken(account.id, hash);
    const person = link && (await accounts.person(account.id, link.userId));
    return link && person && mayUse(link, person) ? { link, person } : undefined;
  };

  const send = async (tx: Tx, template: string, given: Sent & Special): Promise<LinkRow> => {
    const { account, person, email, language, expiresAt, values, ...special } = given;
    const accountId = account.id;
    const token = newToken();
    const link = { accountId, userId: person.id, tokenHash: sha256(token), email, language, expiresAt, ...special };
    const row = await linkStore.insert(tx, link);
    const all = { name: person.name, login: person.login, link: `${account.baseUrl}/set_password?token=${token}` };
    const mailId = await mail.send(
      {
        accountId,
        to: email,
        template,
        values: { ...all, ...values },
        expiresAt,
        ...(language && { language }),
      },
      tx,
    );
    await linkStore.mailed(tx, accountId, row.id, mailId);
    return { ...row, mailId };
  };

  return {
    found,
    foundByHash,

    /** Takes the place of an invitation that the person had. */
    invite(tx: Tx, { inviter, days, isNew, ...sent }: Inviting): Promise<LinkRow> {
      const values = { inviter: inviter.name, days: `${days}` };
      return send(tx, "invitation", { ...sent, purpose: "invitation", isNew, invitedById: inviter.id, values });
    },

    sendReset: (tx: Tx, sent: Sent): Promise<LinkRow> =>
      send(tx, "password_reset", {
        ...sent,
        purpose: "reset",
        isNew: false,
        invitedById: null,
        values: { minutes: `${resetMinutes}` },
      }),

    /** Sets the password, and ends the link and the person's sessions. Throws LinkEnded, or the 422 of the password. */
    async setPassword({ account, token, password, ip }: Setting): Promise<Person> {
      const { link } = (await found(account, token)) ?? {};
      if (!link) throw new LinkEnded();
      const { id: accountId } = account;
      const notifies = link.purpose === "reset" && (await mail.isSetUp(accountId));
      return accounts.setPassword(
        { accountId, userId: link.userId },
        { password, activate: link.isNew },
        async (person, tx) => {
          if (!mayUse(link, person) || !(await linkStore.use(tx, accountId, link.id, sha256(token))))
            throw new LinkEnded();
          if (!notifies) return;
          const values = { name: person.name, login: person.login, address: ip, time: timeIn(account) };
          const notice = { accountId, to: link.email, template: "password_changed", values };
          await mail.send({ ...notice, ...(link.language && { language: link.language }) }, tx);
        },
      );
    },
  };
}

type Special = Pick<LinkRow, "purpose" | "isNew" | "invitedById"> & { values: Readonly<Record<string, string>> };

export function mayUse({ isNew, email }: LinkRow, person: Person): boolean {
  return (person.active || isNew) && isSameAddress(person.email, email);
}
