/** Links in mails by which people set a password, or take up an invitation. No HTTP, no SQL. */
import { job, limitKey, randomToken, sha256, tooMany, ValidationError } from "platform";
import type { Account, Language, Tx } from "platform";
import { timeIn } from "../../mail/api.ts";
import { isSameAddress, type Person } from "../api.ts";
import * as emailStore from "../people/email-store.ts";
import type { Invited } from "./api.ts";
import type { PasswordsContext } from "./context.ts";
import * as linkStore from "./store.ts";
import type { LinkRow } from "./store.ts";

interface LinkMail {
  readonly account: Account;
  readonly person: Person;
  readonly email: string;
  readonly language: Language | null;
  readonly expiresAt: Date;
}

interface InvitationMail extends LinkMail {
  readonly isNew: boolean;
  readonly inviter: { readonly id: number; readonly name: string };
  readonly days: number;
}

/** A person who sets a password by a link. */
interface Setting {
  readonly account: Account;
  readonly token: string;
  readonly password: string;
  readonly ip: string;
}

const resetMinutes = 60;

/** 32 random bytes: nobody guesses it, and the database has only its hash. */
const newToken = () => randomToken(32);
export const isToken = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** The link does not work, or no longer. */
export class LinkEnded extends Error {
  override name = "LinkEnded";
}

/** The person of a link that works. */
export async function foundByToken(ctx: PasswordsContext, account: Account, token: string) {
  return isToken(token) ? foundByHash(ctx, account, sha256(token)) : undefined;
}

async function foundByHash({ accounts, sql }: PasswordsContext, account: Account, hash: string) {
  const link = await linkStore.byToken(sql, account.id, hash);
  const person = link && (await accounts.person(account.id, link.userId));
  return link && person && mayUse(link, person) ? { link, person } : undefined;
}

function mayUse({ isNew, email }: LinkRow, person: Person): boolean {
  return (person.active || isNew) && isSameAddress(person.email, email);
}

type Special = Pick<LinkRow, "purpose" | "isNew" | "invitedById"> & { values: Readonly<Record<string, string>> };

async function send({ mail }: PasswordsContext, tx: Tx, template: string, given: LinkMail & Special): Promise<LinkRow> {
  const { account, person, email, language, expiresAt, values, ...special } = given;
  const accountId = account.id;
  const token = newToken();
  const link = { accountId, userId: person.id, tokenHash: sha256(token), email, language, expiresAt, ...special };
  const row = await linkStore.insert(tx, link);
  const all = { name: person.name, login: person.login, link: `${account.baseUrl}/set_password?token=${token}` };
  const sent = { accountId, to: email, template, values: { ...all, ...values }, expiresAt };
  const mailId = await mail.send({ ...sent, ...(language && { language }) }, tx);
  await linkStore.mailed(tx, accountId, row.id, mailId);
  return { ...row, mailId };
}

/** Takes the place of an invitation that the person had. */
export function invite(
  ctx: PasswordsContext,
  tx: Tx,
  { inviter, days, isNew, ...sent }: InvitationMail,
): Promise<LinkRow> {
  const values = { inviter: inviter.name, days: `${days}` };
  return send(ctx, tx, "invitation", { ...sent, purpose: "invitation", isNew, invitedById: inviter.id, values });
}

/** Sets the password, and ends the link and the person's sessions. Throws LinkEnded, or the 422 of the password. */
export async function setPassword(ctx: PasswordsContext, { account, token, password, ip }: Setting): Promise<Person> {
  const { mail } = ctx;
  const { link } = (await foundByToken(ctx, account, token)) ?? {};
  if (!link) throw new LinkEnded();
  const { id: accountId } = account;
  const notifies = link.purpose === "reset" && (await mail.isSetUp(accountId));
  const place = { accountId, userId: link.userId };
  return ctx.accounts.setPassword(place, { password, activate: link.isNew }, async (person, tx) => {
    if (!mayUse(link, person) || !(await linkStore.use(tx, accountId, link.id, sha256(token)))) throw new LinkEnded();
    if (!notifies) return;
    const values = { name: person.name, login: person.login, address: ip, time: timeIn(account) };
    const notice = { accountId, to: link.email, template: "password_changed", values };
    await mail.send({ ...notice, ...(link.language && { language: link.language }) }, tx);
  });
}

interface Reset {
  readonly accountId: number;
  /** Sealed: people type passwords there by mistake. */
  readonly login: string;
  readonly language: Language;
}

export const resetAsked = job<Reset>("passwords.reset");

const resetPlace = "passwords.reset";
const minuteMs = 60_000;
/** Mails that a person may get in the time that a link works. */
const perPerson = 3;

/**
 * Does the same, in the same time, whoever is asked for: only a job looks whether there is such a person. Throws 429
 * after too many from one address.
 */
export async function requestReset(
  ctx: PasswordsContext,
  account: Account,
  ip: string,
  login: string,
  language: Language,
): Promise<void> {
  await ctx.mail.mustBeSetUp(account.id);
  const turn = await ctx.resets.take(`${account.id} ${limitKey(ip)}`);
  if (!turn.allowed) throw tooMany(turn.retryAfterSeconds);
  const reset = { accountId: account.id, login: ctx.secrets.seal(login, resetPlace), language };
  // In sequence, so that many requests at once are counted.
  await ctx.enqueue(resetAsked, reset, { accountId: account.id, orderKey: `${account.id}` });
}

/** The job. */
export async function sendReset(ctx: PasswordsContext, { accountId, login, language }: Reset): Promise<void> {
  const { accounts } = ctx;
  const account = await accounts.accountById(accountId);
  const person = account && (await accounts.personByLogin(accountId, ctx.secrets.open(login, resetPlace).trim()));
  if (!account || !person?.active || person.email === null) return;
  const lastsMs = resetMinutes * minuteMs;
  const expiresAt = new Date(Date.now() + lastsMs);
  const since = new Date(Date.now() - lastsMs);
  const sent = { account, person, email: person.email, language, expiresAt };
  const special = {
    purpose: "reset",
    isNew: false,
    invitedById: null,
    values: { minutes: `${resetMinutes}` },
  } as const;
  try {
    await ctx.transaction(async (tx) => {
      if ((await linkStore.resetsSince(tx, accountId, person.id, since)) >= perPerson) return;
      await send(ctx, tx, "password_reset", { ...sent, ...special });
    });
  } catch (error) {
    // Mail is no longer set up, or the person's address is none that mail can reach.
    if (!(error instanceof ValidationError)) throw error;
  }
}

type LinkMatch = Awaited<ReturnType<typeof foundByToken>>;

/** Nobody who is in the account already is taken over: a link for a new password, or to a known person, is for a password. */
function invitedBy(found: LinkMatch, tokenHash: string): Invited | undefined {
  if (!found?.link.isNew || found.person.active) return undefined;
  return { tokenHash, userId: found.person.id, email: found.link.email };
}

export async function invitationByToken(ctx: PasswordsContext, account: Account, token: string) {
  return invitedBy(await foundByToken(ctx, account, token), sha256(token));
}

export async function invitationByHash(ctx: PasswordsContext, account: Account, tokenHash: string) {
  return invitedBy(await foundByHash(ctx, account, tokenHash), tokenHash);
}

/** Uses an invitation up without a password, and switches its person on; false if it no longer works. */
export async function takeUp(
  ctx: PasswordsContext,
  account: Account,
  { tokenHash, userId }: Invited,
  also: (person: Person, tx: Tx) => Promise<void>,
): Promise<boolean> {
  const found = await foundByHash(ctx, account, tokenHash);
  if (!found || invitedBy(found, tokenHash)?.userId !== userId) return false;
  const { id: accountId } = account;
  try {
    await ctx.accounts.activate({ accountId, userId }, async (person, tx) => {
      const mayTake = !person.active && mayUse(found.link, person);
      if (!mayTake || !(await linkStore.use(tx, accountId, found.link.id, tokenHash))) throw new LinkEnded();
      await also(person, tx);
    });
    return true;
  } catch (error) {
    if (error instanceof LinkEnded) return false;
    throw error;
  }
}

/** A change of an address whose link works; somebody whose address is another one since must ask again. */
export async function waitingChange({ accounts, sql }: PasswordsContext, { id: accountId }: Account, token: string) {
  const change = isToken(token) ? await emailStore.byToken(sql, accountId, sha256(token)) : undefined;
  const person = change && (await accounts.person(accountId, change.userId));
  return person?.active && person.email === change?.emailBefore ? { person, change } : undefined;
}

/** Throws LinkEnded, or the 422 of an address that is another person's meanwhile. */
export async function confirmEmail(ctx: PasswordsContext, account: Account, token: string): Promise<void> {
  const { change } = (await waitingChange(ctx, account, token)) ?? {};
  if (!change) throw new LinkEnded();
  const { id: accountId } = account;
  await ctx.accounts.setEmail({ accountId, userId: change.userId }, change.email, async ({ id, active, email }, tx) => {
    const isSame = active && email === change.emailBefore;
    if (!isSame || !(await emailStore.use(tx, accountId, id, sha256(token)))) throw new LinkEnded();
  });
}
