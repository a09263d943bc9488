/** Inviting people by mail. No HTTP, no SQL. */
import { invalid, notFound, type Caller, type Language } from "platform";
import { parseAddress } from "../../smtp/api.ts";
import type { NewPerson, Person } from "../api.ts";
import type { PasswordsContext } from "./context.ts";
import { invite } from "./links.ts";
import * as linkStore from "./store.ts";
import type { LinkRow } from "./store.ts";

/** The fields of a request. Either an address, or somebody who is in the account already. */
interface InvitationInput extends Omit<NewPerson, "login" | "email" | "active" | "password"> {
  readonly user_id?: number;
  readonly email?: string;
  readonly login?: string;
  readonly language?: Language;
}

const days = 7;
const dayMs = 86_400_000;

/** Throws 422, 403 or 404. */
export async function makeInvitation(ctx: PasswordsContext, caller: Caller, input: InvitationInput) {
  const { accounts } = ctx;
  const { user_id: userId, email, language = null } = input;
  const accountId = caller.account.id;
  if ((userId === undefined) === (email === undefined))
    throw invalid({ email: [email === undefined ? "is required, or user_id" : "cannot be given with user_id"] });
  await ctx.mail.mustBeSetUp(accountId);
  if (userId !== undefined) {
    if (!(await accounts.person(accountId, userId))) throw invalid({ user_id: ["is nobody of this account"] });
    return again(ctx, caller, await accounts.changeable(caller, userId), language);
  }
  const given = email?.trim() ?? "";
  const known = await accounts.personByLogin(accountId, given);
  if (!known) return make(ctx, caller, given, input);
  const before = await linkStore.invitationOf(ctx.sql, accountId, known.id);
  if (!before?.isNew)
    throw invalid({ email: [`is that of ${known.login}, who is in the account already: invite them by user_id`] });
  return again(ctx, caller, await accounts.changeable(caller, known.id), language ?? before.language);
}

/** Sends a new link; the one before ends. */
export async function resendInvitation(ctx: PasswordsContext, caller: Caller, id: number): Promise<LinkRow> {
  const { userId, language } = await oneInvitation(ctx, caller, id);
  await ctx.mail.mustBeSetUp(caller.account.id);
  return again(ctx, caller, await ctx.accounts.changeable(caller, userId), language);
}

/** Ends the link; somebody who was made for it and never came in goes too. */
export async function revokeInvitation(ctx: PasswordsContext, caller: Caller, id: number): Promise<void> {
  const { userId, isNew } = await oneInvitation(ctx, caller, id);
  const accountId = caller.account.id;
  if (isNew)
    return ctx.accounts.deletePerson(caller, userId, async ({ active }, tx) => {
      if (active || !(await linkStore.invitation(tx, accountId, id))?.isNew) throw notFound();
    });
  await ctx.accounts.changeable(caller, userId);
  await ctx.transaction((tx) => linkStore.deleteInvitation(tx, accountId, userId));
}

export async function oneInvitation(ctx: PasswordsContext, caller: Caller, id: number): Promise<LinkRow> {
  const link = await linkStore.invitation(ctx.sql, caller.account.id, id);
  if (!link) throw notFound();
  return link;
}

async function again(
  ctx: PasswordsContext,
  caller: Caller,
  person: Person,
  language: Language | null,
): Promise<LinkRow> {
  const { email } = person;
  if (email === null) throw invalid({ user_id: ["is somebody without an e-mail address"] });
  const isNew = (await linkStore.invitationOf(ctx.sql, caller.account.id, person.id))?.isNew ?? false;
  if (!person.active && !isNew) throw invalid({ user_id: ["is somebody who is switched off"] });
  // A person who is new has an invitation, and its row says so.
  const sent = { ...inviting(caller, person, email, language), isNew: false };
  return ctx.transaction((tx) => invite(ctx, tx, sent));
}

async function make(ctx: PasswordsContext, caller: Caller, email: string, input: InvitationInput): Promise<LinkRow> {
  const { language = null, user_id: _, ...fields } = input;
  const fault = parseAddress(email)?.address === email ? undefined : "must be an e-mail address";
  if (fault !== undefined) throw invalid({ email: [fault] });
  let link: LinkRow | undefined;
  await ctx.accounts.createPerson(
    caller,
    { ...fields, login: input.login ?? email, name: input.name ?? email, email, active: false },
    async (made, tx) => {
      link = await invite(ctx, tx, { ...inviting(caller, made, email, language), isNew: true });
    },
  );
  if (!link) throw new Error("the invitation is made with the person");
  return link;
}

function inviting({ account, user }: Caller, person: Person, email: string, language: Language | null) {
  const inviter = { id: user.id, name: user.name || user.login };
  return { account, person, email, language, inviter, days, expiresAt: new Date(Date.now() + days * dayMs) };
}
