/**
 * Changes people: each change is one transaction with its event, and caches are right before the answer. It does not
 * decide who may: `authorize` does (people.ts), inside the transaction.
 */
import { hashPassword, invalid, mistakes, notFound, type Tx } from "platform";
import { lock } from "./account-store.ts";
import type { NewPerson, Person, PersonPatch, UnitKind } from "../api.ts";
import type { PeopleContext, Place } from "./context.ts";
import { tellBefore } from "./email-changes.ts";
import { isPlainlyWritten, isSameAddress, passwordSettings, stopsBeingAdmin } from "./rules.ts";
import * as userStore from "./user-store.ts";
import { toApi, type UserInput, type UserRow } from "./user-store.ts";

type Then = (row: UserRow, tx: Tx) => Promise<void>;
const nothing: Then = async () => {};

export async function insertPerson(
  ctx: PeopleContext,
  accountId: number,
  patch: NewPerson,
  authorize: (after: UserInput) => void,
  also = nothing,
): Promise<UserRow> {
  const passwordHash = await hashed(ctx, accountId, patch.password);
  return ctx.transaction(async (tx) => {
    await lock(tx, accountId);
    const input = merged({ login: patch.login, email: null, name: patch.login, ...newcomer }, patch, passwordHash);
    await check(ctx, tx, { accountId, id: 0 }, input, patch);
    authorize(input);
    const id = await userStore.insert(tx, accountId, input);
    await setUnits(tx, id, patch);
    const row = await read(tx, { accountId, id });
    await announce(ctx, "create", row, tx);
    await also(row, tx);
    return row;
  });
}

/** `byTokenId`: the token of the request; null = a command. */
export async function changePerson(
  ctx: PeopleContext,
  place: Place,
  patch: PersonPatch,
  byTokenId: number | null,
  authorize: (before: UserRow, after: UserInput, tx: Tx) => Promise<void> | void,
  also = nothing,
): Promise<UserRow> {
  const { accountId, id } = place;
  const passwordHash = await hashed(ctx, accountId, patch.password);
  const changed = await ctx.transaction(async (tx) => {
    await lock(tx, accountId);
    const before = await read(tx, place);
    const after = merged(before, patch, passwordHash);
    await authorize(before, after, tx);
    await check(ctx, tx, place, after, patch);
    if (stopsBeingAdmin(before, after)) await mustLeaveAdmin(tx, place, after.active ? "role" : "active");
    await userStore.update(tx, accountId, id, after);
    await setUnits(tx, id, patch, before);
    const finish = passwordHash === undefined ? undefined : await endSignIns(ctx, tx, place, byTokenId);
    const row = await read(tx, place);
    await userStore.updateLinks(tx, row);
    await announce(ctx, "update", row, tx);
    if (before.email !== null && !isSameAddress(before.email, row.email)) await tellBefore(ctx, before.email, row, tx);
    await also(row, tx);
    return { row, finish };
  });
  await Promise.all([ctx.access.forgetPerson(id), changed.finish?.()]);
  return changed.row;
}

export async function deletePerson(
  ctx: PeopleContext,
  place: Place,
  authorize: (before: UserRow, tx: Tx) => Promise<void> | void,
): Promise<void> {
  const { accountId, id } = place;
  await ctx.transaction(async (tx) => {
    await lock(tx, accountId);
    const before = await read(tx, place);
    await authorize(before, tx);
    if (stopsBeingAdmin(before)) await mustLeaveAdmin(tx, place, "base");
    await userStore.remove(tx, accountId, id);
    await announce(ctx, "destroy", before, tx);
  });
  await ctx.access.forgetPerson(id);
}

/** Throws the 422 if another person could be meant by this address, as it would be if it were stored. */
export function mustBeFree(ctx: PeopleContext, tx: Tx, row: UserRow, email: string): Promise<void> {
  const change = { email };
  return check(ctx, tx, row, merged(row, change, undefined), change);
}

/**
 * However a password is set, the person's sessions end, and so does what would let somebody in without it. The function
 * that it returns runs after the commit, before the answer.
 */
async function endSignIns(ctx: PeopleContext, tx: Tx, place: Place, byTokenId: number | null) {
  const finish = await ctx.later.tokens.passwordChanged(place.id, byTokenId, tx);
  await userStore.endProofs(tx, place);
  return finish;
}

function announce({ changed }: PeopleContext, kind: string, row: UserRow, tx: Tx): Promise<void> {
  const person: Person = toApi(row);
  const { accountId, id } = row;
  return changed({ accountId, sourceType: "Account::User", kind, id, data: { ...person } }, tx);
}

async function read(tx: Tx, { accountId, id }: Place): Promise<UserRow> {
  const row = await userStore.byId(tx, accountId, id);
  if (!row) throw notFound();
  return row;
}

/** A list that the patch leaves out stays as it is. */
async function setUnits(tx: Tx, id: number, patch: PersonPatch, before?: UserRow): Promise<void> {
  if (unitFields.every(([field]) => patch[field] === undefined)) return;
  const { team_ids = before?.teamIds, group_ids = before?.groupIds, department_ids = before?.departmentIds } = patch;
  await userStore.setUnits(tx, id, [...(team_ids ?? []), ...(group_ids ?? []), ...(department_ids ?? [])]);
}

async function mustLeaveAdmin(tx: Tx, { accountId, id }: Place, field: string): Promise<void> {
  if (!(await userStore.hasOtherAdmin(tx, accountId, id))) throw invalid({ [field]: [lastAdmin] });
}

async function hashed(ctx: PeopleContext, accountId: number, password: string | null | undefined) {
  if (password === undefined || password === null) return password;
  await checkPassword(ctx, accountId, password);
  return hashPassword(password);
}

/** Throws the 422 if the account requires more of a password. */
async function checkPassword(ctx: PeopleContext, accountId: number, password: string): Promise<void> {
  const { minLength, breachedUrl } = await ctx.settings.of(accountId, passwordSettings);
  if (password.length < minLength) throw invalid({ password: [`must have at least ${minLength} characters`] });
  if (breachedUrl !== "" && (await isBreached(ctx, breachedUrl, password)))
    throw invalid({ password: ["is in a list of stolen passwords: choose another one"] });
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

/** The check that needs the database. It throws the 422 for the person with this id (0 = new) as changed. */
async function check(
  { access }: PeopleContext,
  tx: Tx,
  { accountId, id }: Place,
  person: UserInput,
  change: PersonPatch,
): Promise<void> {
  const wrong = mistakes();
  for (const name of change.privileges ?? []) {
    if (!access.isPrivilege(name)) wrong.add("privileges", `${name} is not a privilege`);
  }
  for (const [field, kind] of unitFields) {
    const ids = change[field] ?? [];
    const known = ids.length > 0 ? await userStore.knownUnits(tx, accountId, kind, ids) : new Set<number>();
    for (const unknown of ids.filter((unit) => !known.has(unit))) wrong.add(field, `there is no ${kind} ${unknown}`);
  }
  if (change.email && !isEmail(change.email)) wrong.add("email", "must be an e-mail address");
  for (const field of ["login", "email"] as const)
    if (!isPlainlyWritten(change[field] ?? ""))
      wrong.add(field, "has characters that look like others, or that nobody sees");
  const clash = await userStore.clash(tx, accountId, id, person.login, person.email);
  if (clash.login) wrong.add("login", "is another person's e-mail address");
  if (clash.email) wrong.add("email", "is another person's login");
  if (clash.taken) wrong.add("email", "is already taken");
  wrong.check();
}

const unitFields = [
  ["team_ids", "team"],
  ["group_ids", "group"],
  ["department_ids", "department"],
] as const satisfies readonly (readonly [keyof PersonPatch, UnitKind])[];

type Stored = Omit<UserInput, "passwordHash">;

export function merged(before: Stored, change: PersonPatch, passwordHash: string | null | undefined): UserInput {
  const { login = before.login, email = before.email, name = before.name, role = before.role } = change;
  const { active = before.active, privileges = before.privileges } = change;
  return {
    login: login.normalize("NFC"),
    email: email?.normalize("NFC") || null,
    name,
    role,
    active,
    privileges: [...new Set(privileges)],
    passwordHash,
  };
}

export function isEmail(value: string): boolean {
  return /^[^\s@]+@[^\s@]+$/.test(value);
}

const lastAdmin = "this is the last active administrator";
const newcomer = { role: "user", active: true, privileges: [] } as const;
