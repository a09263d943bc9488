/** Inviting people by mail. No HTTP, no SQL. */
import { invalid, notFound, type BaseContext, type Caller, type Language, type Page } from "platform";
import type { Accounts, NewPerson, Person } from "../api.ts";
import type { Mail } from "../../mail/api.ts";
import { parseAddress } from "../../smtp/api.ts";
import type { Links } from "./links.ts";
import type { InvitationRow, LinkRow, LinkStore } from "./store.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "sql" | "transaction">;
  readonly accounts: Pick<Accounts, "changeable" | "createPerson" | "deletePerson" | "person" | "personByLogin">;
  readonly mail: Pick<Mail, "mustBeSetUp">;
  readonly linkStore: LinkStore;
  readonly links: Pick<Links, "invite">;
}

/** The fields of a request. Either an address, or somebody who is in the account already. */
export interface InvitationInput extends Omit<NewPerson, "login" | "email" | "active" | "password"> {
  readonly user_id?: number;
  readonly email?: string;
  readonly login?: string;
  readonly language?: Language;
}

export interface Invitation {
  readonly link: LinkRow;
  readonly person: Pick<Person, "id" | "login" | "name">;
}

export const days = 7;
const dayMs = 86_400_000;

export type Invitations = ReturnType<typeof createInvitations>;

export function createInvitations({ ctx, accounts, mail, linkStore, links }: Needed) {
  const inviting = ({ account, user }: Caller, person: Person, email: string, language: Language | null) => ({
    account,
    person,
    email,
    language,
    inviter: { id: user.id, name: user.name || user.login },
    days,
    expiresAt: new Date(Date.now() + days * dayMs),
  });

  const again = async (caller: Caller, person: Person, language: Language | null): Promise<Invitation> => {
    const { email } = person;
    if (email === null) throw invalid({ user_id: ["is somebody without an e-mail address"] });
    const isNew = (await linkStore.invitationOf(caller.account.id, person.id))?.isNew ?? false;
    if (!person.active && !isNew) throw invalid({ user_id: ["is somebody who is switched off"] });
    // A person who is new has an invitation, and its row says so.
    const sent = { ...inviting(caller, person, email, language), isNew: false };
    return { person, link: await ctx.transaction((tx) => links.invite(tx, sent)) };
  };

  const make = async (caller: Caller, email: string, input: InvitationInput): Promise<Invitation> => {
    const { language = null, user_id: _, ...fields } = input;
    const fault = parseAddress(email)?.address === email ? undefined : "must be an e-mail address";
    if (fault !== undefined) throw invalid({ email: [fault] });
    let link: LinkRow | undefined;
    const person = await accounts.createPerson(
      caller,
      { ...fields, login: input.login ?? email, name: input.name ?? email, email, active: false },
      async (made, tx) => {
        link = await links.invite(tx, { ...inviting(caller, made, email, language), isNew: true });
      },
    );
    if (!link) throw new Error("the invitation is made with the person");
    return { person, link };
  };

  return {
    /** Throws 422, 403 or 404. */
    async create(caller: Caller, input: InvitationInput): Promise<Invitation> {
      const { user_id: userId, email, language = null } = input;
      if ((userId === undefined) === (email === undefined))
        throw invalid({ email: [email === undefined ? "is required, or user_id" : "cannot be given with user_id"] });
      await mail.mustBeSetUp(caller.account.id);
      if (userId !== undefined) {
        if (!(await accounts.person(caller.account.id, userId)))
          throw invalid({ user_id: ["is nobody of this account"] });
        return again(caller, await accounts.changeable(caller, userId), language);
      }
      const given = email?.trim() ?? "";
      const known = await accounts.personByLogin(caller.account.id, given);
      if (!known) return make(caller, given, input);
      const before = await linkStore.invitationOf(caller.account.id, known.id);
      if (!before?.isNew)
        throw invalid({ email: [`is that of ${known.login}, who is in the account already: invite them by user_id`] });
      return again(caller, await accounts.changeable(caller, known.id), language ?? before.language);
    },

    /** Sends a new link; the one before ends. */
    async resend(caller: Caller, id: number): Promise<Invitation> {
      const { userId, language } = await one(caller, id);
      await mail.mustBeSetUp(caller.account.id);
      return again(caller, await accounts.changeable(caller, userId), language);
    },

    /** Ends the link; somebody who was made for it and never came in goes too. */
    async revoke(caller: Caller, id: number): Promise<void> {
      const { userId, isNew } = await one(caller, id);
      const accountId = caller.account.id;
      if (isNew)
        return accounts.deletePerson(caller, userId, async ({ active }, tx) => {
          if (active || !(await linkStore.invitation(tx, accountId, id))?.isNew) throw notFound();
        });
      await accounts.changeable(caller, userId);
      await ctx.transaction((tx) => linkStore.deleteInvitation(tx, accountId, userId));
    },

    one: async (caller: Caller, id: number): Promise<Invitation> => shown(await one(caller, id)),
    list: async ({ account }: Caller, page: Page) => {
      const read = await linkStore.invitations(account.id, page);
      return { ...read, rows: read.rows.map(shown) };
    },
  };

  async function one({ account }: Caller, id: number): Promise<InvitationRow> {
    const link = await linkStore.invitation(ctx.sql, account.id, id);
    if (!link) throw notFound();
    return link;
  }
}

function shown(link: InvitationRow): Invitation {
  return { link, person: { id: link.userId, login: link.login, name: link.name } };
}
