/** Who may change which person; writer.ts changes them. */
import { invalid, mustMatch, notFound, type Caller, type Tx } from "platform";
import type { NewPerson, PersonPatch } from "../api.ts";
import type { PeopleContext, Place } from "./context.ts";
import { beginChange, mayConfirm } from "./email-changes.ts";
import * as emailStore from "./email-store.ts";
import { mayChangeEmail, mayChangePassword, mustReachSelf, rowCheck } from "./own.ts";
import { mustNotExceed, mustReach } from "./rules.ts";
import { byId, toApi, type UserRow } from "./user-store.ts";
import { changePerson, createPerson, deletePerson, isEmail, mustBeFree } from "./writer.ts";

/** Runs in the same transaction. */
type Also = (person: UserRow, tx: Tx) => Promise<void>;

/** The fields that people may change in their own record. */
export interface OwnPatch {
  readonly name?: string;
  readonly email?: string | null;
  readonly password?: string;
  readonly current_password?: string;
  /** Null gives up an address that waits for its confirmation. */
  readonly pending_email?: null;
}

export function create(ctx: PeopleContext, caller: Caller, patch: NewPerson, also?: Also): Promise<UserRow> {
  const ofRole = ctx.access.privilegesOfRole;
  return createPerson(ctx, caller.account.id, patch, (after) => mustNotExceed(caller, after, ofRole), also);
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
  authorize: Also = anybody,
): Promise<UserRow> {
  return changePerson(ctx, place, patch, null, (before, _, tx) => authorize(before, tx));
}

/** The account has a rule by which this person comes in. */
export function admit(ctx: PeopleContext, accountId: number, patch: NewPerson, also: Also): Promise<UserRow> {
  return createPerson(ctx, accountId, patch, () => {}, also);
}

/** The account has a rule that decides this, whoever the person is. */
export function followRule(ctx: PeopleContext, place: Place, patch: Pick<PersonPatch, "role" | "team_ids">) {
  return changePerson(ctx, place, patch, null, () => {});
}

export function remove(ctx: PeopleContext, caller: Caller, id: number, expected?: number, also: Also = anybody) {
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

const anybody: Also = async () => {};
