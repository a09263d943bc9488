/** Changes of people, each in one transaction, and the caches put right before the answer. */
import {
  hashPassword,
  invalid,
  notFound,
  tooMany,
  verifyPassword,
  type BaseContext,
  type Caller,
  type Tx,
} from "platform";
import type { AccessTable } from "./access.ts";
import type { AccountStore } from "./account-store.ts";
import type { PasswordHook, Person } from "./api.ts";
import { createCheck, merged, unitFields, type OwnChange, type PersonChange } from "./person.ts";
import { mustNotExceed, mustReach, stopsBeingAdmin } from "./rules.ts";
import type { UnitStore } from "./unit-store.ts";
import { toApi, type UserInput, type UserRow, type UserStore } from "./user-store.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "changed" | "limiter">;
  readonly access: AccessTable;
  readonly accountStore: AccountStore;
  readonly userStore: UserStore;
  readonly unitStore: UnitStore;
  readonly passwordHooks: readonly PasswordHook[];
}

export function createPeople(needed: Needed) {
  const { ctx, access, accountStore, userStore, passwordHooks } = needed;
  const { privilegesOfRole: ofRole } = access;
  const check = createCheck(needed);
  // Whoever found an open session must not find the password by it as well.
  const guesses = ctx.limiter("accounts.own-password", { limit: 10, windowSeconds: 300 });

  const announce = (kind: string, accountId: number, person: Person, tx: Tx) =>
    ctx.changed({ accountId, sourceType: "Account::User", kind, id: person.id, data: { ...person } }, tx);

  const read = async (tx: Tx, accountId: number, id: number): Promise<UserRow> => {
    const row = await userStore.byId(tx, accountId, id);
    if (!row) throw notFound();
    return row;
  };

  /** A list that the change leaves out stays as it is. */
  const setUnits = async (tx: Tx, id: number, change: PersonChange, before?: UserRow) => {
    if (unitFields.every(([field]) => change[field] === undefined)) return;
    const { team_ids = before?.teamIds, group_ids = before?.groupIds, department_ids = before?.departmentIds } = change;
    await userStore.setUnits(tx, id, [...(team_ids ?? []), ...(group_ids ?? []), ...(department_ids ?? [])]);
  };

  /** Runs the hooks of a new password; gives back what is to be done after the commit. */
  const passwordChanged = (id: number, byTokenId: number | null, tx: Tx) =>
    Promise.all(passwordHooks.map((run) => run(id, byTokenId, tx)));

  const create = async (caller: Caller, change: PersonChange & { login: string }): Promise<Person> => {
    const accountId = caller.account.id;
    const passwordHash = change.password === undefined ? undefined : await hashPassword(change.password);
    return ctx.transaction(async (tx) => {
      await accountStore.lock(tx, accountId);
      const input = merged({ login: change.login, email: null, name: change.login, ...newcomer }, change, passwordHash);
      await check(tx, accountId, 0, input, change);
      mustNotExceed(caller, input, ofRole);
      const id = await userStore.insert(tx, accountId, input);
      await setUnits(tx, id, change);
      const person = toApi(await read(tx, accountId, id));
      await announce("create", accountId, person, tx);
      return person;
    });
  };

  /** The change itself, by whomever; `authorize` gets the person before and after it. */
  const change = async (
    accountId: number,
    id: number,
    fields: PersonChange,
    byTokenId: number | null,
    authorize: (before: UserRow, after: UserInput) => void,
  ): Promise<Person> => {
    const passwordHash = fields.password === undefined ? undefined : await hashPassword(fields.password);
    const changed = await ctx.transaction(async (tx) => {
      await accountStore.lock(tx, accountId);
      const before = await read(tx, accountId, id);
      const after = merged(before, fields, passwordHash);
      authorize(before, after);
      await check(tx, accountId, id, after, fields);
      if (stopsBeingAdmin(before, after) && !(await userStore.hasOtherAdmin(tx, accountId, id))) {
        throw invalid({ [after.active ? "role" : "active"]: [lastAdmin] });
      }
      await userStore.update(tx, accountId, id, after);
      await setUnits(tx, id, fields, before);
      const finish = passwordHash === undefined ? [] : await passwordChanged(id, byTokenId, tx);
      const person = toApi(await read(tx, accountId, id));
      await announce("update", accountId, person, tx);
      return { person, finish };
    });
    await Promise.all([access.forgetPerson(id), ...changed.finish.map((run) => run())]);
    return changed.person;
  };

  /** Who signs in has a whole session: a narrowed token does not change by what its owner signs in. */
  const mustReachSelf = async (caller: Caller): Promise<void> => {
    const own = await access.access(caller.user.id);
    if (!own) throw notFound();
    mustReach(caller, { role: own.user.role, privileges: [...own.privileges] }, ofRole);
  };

  return {
    create,

    update: (caller: Caller, id: number, fields: PersonChange): Promise<Person> =>
      change(caller.account.id, id, fields, caller.tokenId, (before, after) => {
        mustReach(caller, before, ofRole);
        mustNotExceed(caller, after, ofRole);
      }),

    async updateSelf(caller: Caller, { current_password, ...fields }: OwnChange): Promise<Person> {
      const { account, user } = caller;
      if (fields.password !== undefined || fields.email !== undefined) await mustReachSelf(caller);
      if (fields.password !== undefined) {
        if (current_password === undefined) throw invalid({ current_password: ["is required for a new password"] });
        const guess = await guesses.take(`${user.id}`);
        if (!guess.allowed) throw tooMany(guess.retryAfterSeconds);
        const hash = await userStore.passwordById(account.id, user.id);
        if (!(await verifyPassword(current_password, hash))) throw invalid({ current_password: ["is wrong"] });
      }
      return change(account.id, user.id, fields, caller.tokenId, () => {});
    },

    /** From the command line, where nobody is above it. */
    setPassword: (accountId: number, id: number, password: string) =>
      change(accountId, id, { password }, null, () => {}),

    async delete(caller: Caller, id: number): Promise<void> {
      const accountId = caller.account.id;
      await ctx.transaction(async (tx) => {
        await accountStore.lock(tx, accountId);
        const before = await read(tx, accountId, id);
        mustReach(caller, before, ofRole);
        if (stopsBeingAdmin(before) && !(await userStore.hasOtherAdmin(tx, accountId, id)))
          throw invalid({ base: [lastAdmin] });
        await userStore.delete(tx, accountId, id);
        await announce("destroy", accountId, toApi(before), tx);
      });
      await access.forgetPerson(id);
    },
  };
}

export type People = ReturnType<typeof createPeople>;

const lastAdmin = "this is the last active administrator";
const newcomer = { role: "user", active: true, privileges: [] } as const;
