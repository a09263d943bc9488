/** Decides who may change which person, and what people prove before they change their own credentials; writer.ts changes them. */
import { forbidden, invalid, mustMatch, notFound, tooMany, verifyPassword, type Caller, type Tx } from "platform";
import { ownerOf, stale } from "../factors/policy.ts";
import * as factorStore from "../factors/store.ts";
import type { NewPerson, PersonPatch } from "../api.ts";
import type { PeopleContext, Place } from "./context.ts";
import { beginChange, mayConfirm } from "./email-changes.ts";
import * as emailStore from "./email-store.ts";
import { mustNotExceed, mustReach } from "./rules.ts";
import { byId, passwordById, toApi, type UserRow } from "./user-store.ts";
import { changePerson, insertPerson, deletePerson, isEmail, mustBeFree } from "./writer.ts";

/** Runs in the same transaction. */
type Then = (person: UserRow, tx: Tx) => Promise<void>;

/** The fields that people may change in their own record. */
export interface OwnPatch {
  readonly name?: string;
  readonly email?: string | null;
  readonly password?: string;
  readonly current_password?: string;
  /** Null gives up an address that waits for its confirmation. */
  readonly pending_email?: null;
}

export function create(ctx: PeopleContext, caller: Caller, patch: NewPerson, also?: Then): Promise<UserRow> {
  const ofRole = ctx.access.privilegesOfRole;
  return insertPerson(ctx, caller.account.id, patch, (after) => mustNotExceed(caller, after, ofRole), also);
}

/** `expected` is the version that the caller has seen; undefined = any. */
export async function update(ctx: PeopleContext, caller: Caller, id: number, patch: PersonPatch, expected?: number) {
  const mustBeOwn = id === caller.user.id ? await rowCheck(ctx, caller) : undefined;
  const ofRole = ctx.access.privilegesOfRole;
  return changePerson(ctx, { accountId: caller.account.id, id }, patch, caller.tokenId, (before, after) => {
    mustReach(caller, before, ofRole);
    mustMatch(before, expected);
    mustNotExceed(caller, after, ofRole);
    mustBeOwn?.(before, patch);
  });
}

/** Another address counts only once it is confirmed; without one, the change is done at once. */
export async function updateSelf(ctx: PeopleContext, caller: Caller, given: OwnPatch, expected: number | undefined) {
  const { current_password, pending_email, email: typed, ...patch } = given;
  const place = { accountId: caller.account.id, id: caller.user.id };
  if (typed !== undefined || patch.password !== undefined) await mustReachSelf(ctx, caller);
  const email = await otherEmail(ctx, place, typed);
  if (email !== undefined) await mayChangeEmail(ctx, caller, current_password);
  if (patch.password !== undefined) await mayChangePassword(ctx, caller, current_password);
  if (email) await mayConfirm(ctx, caller, email);
  const direct = email === null ? { ...patch, email } : patch;
  const mayChange = (before: UserRow) => mustMatch(before, expected);
  return changePerson(ctx, place, direct, caller.tokenId, mayChange, async (row, tx) => {
    if (email) await mustBeFree(ctx, tx, row, email);
    if (email) await beginChange(ctx, caller, toApi(row), email, tx);
    else if (pending_email === null) await emailStore.remove(tx, place.accountId, place.id);
  });
}

/** For those who prove themselves in another way than by a token: the command line, a link in a mail. */
export function changeProved(
  ctx: PeopleContext,
  place: Place,
  patch: Pick<PersonPatch, "active" | "email" | "password">,
  authorize: Then = anybody,
): Promise<UserRow> {
  return changePerson(ctx, place, patch, null, (before, _, tx) => authorize(before, tx));
}

/** The account has a rule by which this person comes in. */
export function admit(ctx: PeopleContext, accountId: number, patch: NewPerson, also: Then): Promise<UserRow> {
  return insertPerson(ctx, accountId, patch, () => {}, also);
}

/** The account has a rule that decides this, whoever the person is. */
export function followRule(ctx: PeopleContext, place: Place, patch: Pick<PersonPatch, "role" | "team_ids">) {
  return changePerson(ctx, place, patch, null, () => {});
}

export function remove(ctx: PeopleContext, caller: Caller, id: number, expected?: number, also: Then = anybody) {
  return deletePerson(ctx, { accountId: caller.account.id, id }, async (before, tx) => {
    mustReach(caller, before, ctx.access.privilegesOfRole);
    mustMatch(before, expected);
    await also(before, tx);
  });
}

/** The address, if it is not the one in use; undefined = it stays. */
async function otherEmail({ sql }: PeopleContext, { accountId, id }: Place, given: string | null | undefined) {
  const email = given === undefined ? undefined : ((given?.trim() || null)?.normalize("NFC") ?? null);
  if (email === undefined) return undefined;
  if (email !== null && !isEmail(email)) throw invalid({ email: ["must be an e-mail address"] });
  const row = await byId(sql, accountId, id);
  if (!row) throw notFound();
  return email === row.email ? undefined : email;
}

const anybody: Then = async () => {};

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
  const hash = await passwordById(ctx.sql, account.id, user.id);
  if (!(await verifyPassword(password, hash))) throw invalid({ current_password: ["is wrong"] });
}

/** One's own row among the people: an administrator's word counts for others, here it takes a fresh sign-in. */
async function rowCheck(ctx: PeopleContext, caller: Caller) {
  const { isFresh } = await ctx.later.tokens.standingOf(caller);
  return (before: UserRow, patch: PersonPatch): void => {
    const { login = before.login, email = before.email, password } = patch;
    const hasOtherEmail = (email || null) !== before.email;
    if (login === before.login && !hasOtherEmail && password === undefined) return;
    if (hasOtherEmail && caller.user.role !== "admin") throw forbidden("change your own e-mail address at /account/me");
    if (!isFresh)
      throw forbidden(
        "your own login, e-mail address and password change here only within ten minutes after a sign-in",
      );
  };
}
