/** Changes people, and decides what they prove before they change their own credentials. */
import { change, create as insert, find, forbidden, hashPassword, invalid, mistakes } from "platform";
import { notFound, tooMany, verifyPassword } from "platform";
import type { Caller, Ref, Tx } from "platform";
import { ownerOf, stale } from "../factors/policy.ts";
import * as factorStore from "../factors/store.ts";
import type { PeopleContext, PersonRef } from "./context.ts";
import { beginChange, mayConfirm } from "./email-changes.ts";
import * as emailStore from "./email-store.ts";
import type { NewPerson, OwnPatch, PersonPatch, UserRow } from "./fields.ts";
import { checkSignIn, User, type PersonAt } from "./person.ts";
import { isEmail, mustReach, passwordSettings } from "./rules.ts";

/** The version that the caller has seen; undefined = any. */
type Expected = (id: number) => number | undefined;

/** What changes a person if nobody's rights count. */
export function unbound(ctx: PeopleContext, accountId: number): PersonAt {
  return { ...ctx, caller: { account: { id: accountId }, user: { id: null }, privileges: null, tokenId: null } };
}

export async function create(at: PersonAt, given: NewPerson): Promise<UserRow> {
  return insert(User, await withHash(at, given), given);
}

export async function update(at: PersonAt, ref: Ref<"integer">, given: PersonPatch, expected?: Expected) {
  const { caller } = at;
  const isOwn = caller.privileges !== null && "id" in ref && ref.id === caller.user.id;
  const isFresh = isOwn && (await at.later.tokens.standingOf(caller)).isFresh;
  return change(User, { ...(await withHash(at, given)), isFresh }, ref, given, expected);
}

/** Another address counts only once it is confirmed; without one, the change is done at once. */
export async function updateSelf(ctx: PeopleContext, caller: Caller, given: OwnPatch, expected: Expected) {
  const { current_password, pending_email, email: typed, ...patch } = given;
  const { account, user, tokenId } = caller;
  if (typed !== undefined || patch.password !== undefined) await mustReachSelf(ctx, caller);
  const email = await otherEmail(ctx, caller, typed);
  if (email !== undefined) await mayChangeEmail(ctx, caller, current_password);
  if (patch.password !== undefined) await mayChangePassword(ctx, caller, current_password);
  if (email) await mayConfirm(ctx, caller, email);
  const at: PersonAt = {
    ...ctx,
    caller: { account, user, privileges: null, tokenId },
    async afterwards(person, tx) {
      if (email) await mustBeFree(tx, { accountId: account.id, id: user.id }, person.login, email);
      if (email) await beginChange(ctx, caller, person, email, tx);
      else if (pending_email === null) await emailStore.remove(tx, account.id, user.id);
    },
  };
  const { after } = await update(at, { id: user.id }, email === null ? { ...patch, email } : patch, expected);
  return after;
}

/** Throws the 422 if another person could be meant by this address, as it would be if it were stored. */
async function mustBeFree(tx: Tx, ref: PersonRef, login: string, email: string): Promise<void> {
  const wrong = mistakes();
  await checkSignIn(tx, ref, { login, email }, { email }, wrong);
  wrong.check();
}

async function withHash(at: PersonAt, { password }: PersonPatch): Promise<PersonAt> {
  return password === undefined ? at : { ...at, passwordHash: await hashed(at, at.caller.account.id, password) };
}

/** The address, if it is not the one in use; undefined = it stays. */
async function otherEmail({ sql }: PeopleContext, { account, user }: Caller, given: string | null | undefined) {
  const email = given === undefined ? undefined : ((given?.trim() || null)?.normalize("NFC") ?? null);
  if (email === undefined) return undefined;
  if (email !== null && !isEmail(email)) throw invalid({ email: ["must be an e-mail address"] });
  const row = await find(User, sql, account.id, { id: user.id });
  if (!row) throw notFound();
  return email === row.email ? undefined : email;
}

/**
 * A sign-in gives a full session, so a narrowed token must not change what its owner signs in with. Whoever has a second
 * factor proves both anew; for all others the password that they must give is enough.
 */
async function mustReachSelf(ctx: PeopleContext, caller: Caller): Promise<void> {
  const own = await ctx.access.access(caller.user.id);
  if (!own) throw notFound();
  mustReach(caller, { role: own.user.role, privileges: [...own.privileges] }, ctx.access.privilegesOfRole);
  const { hasAny } = await factorStore.of(ctx.sql, ownerOf(caller));
  if (hasAny && !(await ctx.later.tokens.standingOf(caller)).isFresh) throw forbidden(stale);
}

/** The password in use, or an invitation, under which there is none. */
async function mayChangePassword(ctx: PeopleContext, caller: Caller, password: string | undefined) {
  if ((await ctx.later.tokens.standingOf(caller)).isInvited) return;
  if (password === undefined) throw invalid({ current_password: ["is required for a new password"] });
  await mustKnowPassword(ctx, caller, password);
}

/** A sign-in that is fresh, or one and the password. Never an API token: it may be stolen without anybody noticing. */
async function mayChangeEmail(ctx: PeopleContext, caller: Caller, password: string | undefined) {
  const { isSession, isFresh } = await ctx.later.tokens.standingOf(caller);
  if (!isSession) throw forbidden("an e-mail address is changed in a session: an API token is not enough");
  if (isFresh) return;
  if (password === undefined)
    throw invalid({
      current_password: ["is required for another e-mail address: your sign-in is older than ten minutes"],
    });
  await mustKnowPassword(ctx, caller, password);
}

/** Somebody who finds an open session must not be able to guess the password through it. */
async function mustKnowPassword(ctx: PeopleContext, { account, user }: Caller, password: string): Promise<void> {
  const guess = await ctx.guesses.take(`${user.id}`);
  if (!guess.allowed) throw tooMany(guess.retryAfterSeconds);
  const row = await find(User, ctx.sql, account.id, { id: user.id });
  if (!(await verifyPassword(password, row?.passwordHash))) throw invalid({ current_password: ["is wrong"] });
}

/** Throws the 422 if the account requires more of it. */
export async function hashed(ctx: PeopleContext, accountId: number, password: string): Promise<string> {
  const { minLength, breachedUrl } = await ctx.settings.of(accountId, passwordSettings);
  if (password.length < minLength) throw invalid({ password: [`must have at least ${minLength} characters`] });
  if (breachedUrl !== "" && (await isBreached(ctx, breachedUrl, password)))
    throw invalid({ password: ["is in a list of stolen passwords: choose another one"] });
  return hashPassword(password);
}

/** Only the first 5 of 40 digits of the hash are sent; the answer has the rest of all that begin so. */
async function isBreached(ctx: PeopleContext, url: string, password: string): Promise<boolean> {
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(password));
  const hash = new Uint8Array(digest).toHex().toUpperCase();
  try {
    const headers = { "add-padding": "true" };
    const answer = await ctx.fetch(`${url}${hash.slice(0, 5)}`, { headers, timeoutMs: 3000, maxBytes: 500_000 });
    if (answer.status !== 200) throw new Error(`status ${answer.status}`);
    // Lines of padding count 0.
    return answer
      .text()
      .split("\n")
      .some((line) => line.startsWith(`${hash.slice(5)}:`) && !/:0+\s*$/.test(line));
  } catch (error) {
    // A list that does not answer must not keep people from new passwords.
    ctx.log.warn("the list of breached passwords does not answer: a new password was not checked", { error });
    return false;
  }
}
