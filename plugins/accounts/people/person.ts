/** A person: who may change whom, and what follows from a change. behaviour B.1 and B.4. */
import { filter, forbidden, invalid, resource, roles, toApi, Type } from "platform";
import type { AfterCommit, At, Author, Caller, Change, Changed, Mistakes, Tx } from "platform";
import { lock } from "./account-store.ts";
import type { PeopleContext, PersonRef } from "./context.ts";
import { tellBefore } from "./email-changes.ts";
import { fields, unitKinds, type Person, type PersonPatch, type UserDraft, type UserRow } from "./fields.ts";
import { isEmail, isPlainlyWritten, isSameAddress, mustNotExceed, mustReach, stopsBeingAdmin } from "./rules.ts";
import * as userStore from "./user-store.ts";

type PersonChange = Change<typeof fields, "integer">;
type AfterWrite = (person: Person, tx: Tx) => Promise<void>;

/** Nobody's rights count: a rule of the account, a command, or somebody who has proved themselves otherwise. */
interface Proven extends Author {
  readonly privileges: null;
  /** Its session goes on when the password changes. */
  readonly tokenId: number | null;
}

export interface PersonAt extends PeopleContext, At<Caller | Proven> {
  /** Of the password that is given. Null ends the one in use, undefined leaves it as it is. */
  readonly passwordHash?: string | null | undefined;
  /** Whether the caller has signed in within the last minutes. */
  readonly isFresh?: boolean;
  /** With the person before they are changed or deleted; what it throws stops that. */
  readonly beforehand?: AfterWrite;
  /** With the person as they are then. */
  readonly afterwards?: AfterWrite;
}

export const User = resource("user", {
  table: "users",
  path: "/account/users",
  id: "integer",
  privilege: "users",
  model: "Account::User",
  nameColumn: "login",
  missing: "there is no such person",
  events: true,
  authors: [],
  fields,
  filters: {
    q: filter.searching(["login", "email", "name"], "searches login, email and name; `*` and `%` are wildcards"),
    role: filter.exact(Type.String({ enum: [...roles], description: "exact value" })),
    active: filter.flagged(Type.Boolean({ description: "true or false" })),
    team_id: { doc: Type.Integer({ description: "members of this team" }), where: userStore.inUnit },
    department_id: { doc: Type.Integer({ description: "members of this department" }), where: userStore.inUnit },
    group_id: { doc: Type.Integer({ description: "members of this group" }), where: userStore.inUnit },
  },
  // Rules about several people (the last administrator, unique logins) hold when two change at once.
  begin: ({ caller }: PersonAt, tx) => lock(tx, caller.account.id),
  check,
  async mayErase(at, row, tx) {
    await at.beforehand?.(personOf(row), tx);
    if (at.caller.privileges !== null) mustReach(at.caller, row, at.access.privilegesOfRole);
    await mustLeaveAdmin(tx, row, undefined, "base");
  },
  elsewhere: (_, id, { teamIds, groupIds, departmentIds }, tx) =>
    userStore.setUnits(tx, id, [...teamIds, ...groupIds, ...departmentIds]),
  changed,
  committed: ({ access }, { before }) => before && access.forgetPerson(before.id),
  example: { id: 2 },
  request: ["login", "email", "name", "password"],
  change: { role: "manager", team_ids: [1] },
  docs: {
    list: { summary: "List people" },
    get: { summary: "One person" },
    create: {
      summary: "Add a person",
      description:
        "The default role is `user`. Without a password the person cannot sign in with one. Nobody can give a role or a " +
        "privilege that they, or their narrowed token, do not have (422).",
    },
    change: {
      summary: "Change a person",
      description:
        "A new password ends the person's sessions. The last active administrator cannot lose that role (422).",
    },
    delete: {
      summary: "Delete a person with their tokens",
      refusals: { 422: { base: ["this is the last active administrator"] } },
    },
  },
});

export const personOf = (row: UserRow): Person => toApi(User, row);

async function check(
  at: PersonAt,
  { tx, id, given, before, after }: PersonChange,
  wrong: Mistakes,
): Promise<UserDraft> {
  const { access, caller, passwordHash = before?.passwordHash ?? null } = at;
  const login = after.login.normalize("NFC");
  const email = after.email?.normalize("NFC") || null;
  const privileges = [...new Set(after.privileges)];
  const person = { ...after, login, email, name: after.name || login, privileges, passwordHash };
  if (before) await at.beforehand?.(personOf(before), tx);
  if (before && caller.privileges !== null) {
    mustReach(caller, before, access.privilegesOfRole);
    if (before.id === caller.user.id) mustBeFresh(caller, at.isFresh ?? false, before, given);
  }
  for (const name of given.privileges ?? [])
    if (!access.isPrivilege(name)) wrong.add("privileges", `${name} is not a privilege`);
  await checkUnits(tx, caller.account.id, given, wrong);
  await checkSignIn(tx, { accountId: caller.account.id, id }, person, given, wrong);
  wrong.check();
  if (caller.privileges !== null) mustNotExceed(caller, person, access.privilegesOfRole);
  if (before) await mustLeaveAdmin(tx, before, person, person.active ? "role" : "active");
  return person;
}

/** One's own row among the people: an administrator's word counts for others, here it takes a fresh sign-in. */
function mustBeFresh(caller: Caller, isFresh: boolean, before: UserRow, given: PersonPatch): void {
  const { login = before.login, email = before.email, password } = given;
  const hasOtherEmail = (email || null) !== before.email;
  if (login === before.login && !hasOtherEmail && password === undefined) return;
  if (hasOtherEmail && caller.user.role !== "admin") throw forbidden("change your own e-mail address at /account/me");
  if (!isFresh)
    throw forbidden("your own login, e-mail address and password change here only within ten minutes after a sign-in");
}

async function checkUnits(tx: Tx, accountId: number, given: PersonPatch, wrong: Mistakes): Promise<void> {
  for (const kind of unitKinds) {
    const ids = given[`${kind}_ids`] ?? [];
    const known = ids.length > 0 ? await userStore.knownUnits(tx, accountId, kind, ids) : new Set<number>();
    for (const unknown of ids.filter((unit) => !known.has(unit)))
      wrong.add(`${kind}_ids`, `there is no ${kind} ${unknown}`);
  }
}

/** Adds what makes another person's sign-in ambiguous, and what is no address or not plainly written. */
export async function checkSignIn(
  tx: Tx,
  ref: PersonRef,
  { login, email }: Pick<UserRow, "login" | "email">,
  given: Pick<PersonPatch, "login" | "email">,
  wrong: Mistakes,
): Promise<void> {
  if (given.email && !isEmail(given.email)) wrong.add("email", "must be an e-mail address");
  for (const field of ["login", "email"] as const)
    if (!isPlainlyWritten(given[field] ?? ""))
      wrong.add(field, "has characters that look like others, or that nobody sees");
  const clash = await userStore.clash(tx, ref, login, email);
  if (clash.login) wrong.add("login", "is another person's e-mail address");
  if (clash.email) wrong.add("email", "is another person's login");
  if (clash.taken) wrong.add("email", "is already taken");
}

async function mustLeaveAdmin(tx: Tx, before: UserRow, after: UserDraft | undefined, field: string): Promise<void> {
  if (stopsBeingAdmin(before, after) && !(await userStore.hasOtherAdmin(tx, before)))
    throw invalid({ [field]: ["this is the last active administrator"] });
}

/** Whenever a password is set, the sessions end, and so does what would let somebody in without it. */
async function changed(
  at: PersonAt,
  { before, after }: Changed<typeof fields, "integer">,
  tx: Tx,
): Promise<AfterCommit | undefined> {
  if (!after) return undefined;
  let finish: AfterCommit | undefined;
  if (before && at.passwordHash !== undefined) {
    finish = await at.later.tokens.passwordChanged(after.id, at.caller.tokenId, tx);
    await userStore.endProofs(tx, after);
  }
  if (before) await userStore.updateLinks(tx, after);
  if (before?.email && !isSameAddress(before.email, after.email)) await tellBefore(at, before.email, after, tx);
  await at.afterwards?.(personOf(after), tx);
  return finish;
}
