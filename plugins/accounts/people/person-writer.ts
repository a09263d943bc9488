/**
 * Changes people: each change is one transaction with its event, and caches are right before the answer. It does not
 * decide who may: `authorize` does (people.ts), inside the transaction.
 */
import { hashPassword, invalid, notFound, type BaseContext, type Tx } from "platform";
import type { AccessTable } from "./access.ts";
import type { AccountStore } from "./account-store.ts";
import type { PasswordHook, Person } from "../api.ts";
import { createCheck, merged, unitFields } from "./person.ts";
import type { OwnProof } from "./own.ts";
import type { PasswordRules } from "./password-rules.ts";
import type { PersonPatch } from "./person-patch.ts";
import { isSameAddress, stopsBeingAdmin } from "./rules.ts";
import type { UnitStore } from "./unit-store.ts";
import { toApi, type UserInput, type UserRow, type UserStore } from "./user-store.ts";

export interface PersonWriterNeeded {
  readonly ctx: Pick<BaseContext, "transaction" | "changed">;
  readonly access: AccessTable;
  readonly accountStore: AccountStore;
  readonly userStore: UserStore;
  readonly unitStore: UnitStore;
  readonly passwordHooks: readonly PasswordHook[];
  readonly passwordRules: PasswordRules;
  readonly ownProof: OwnProof;
}

interface Place {
  readonly accountId: number;
  readonly id: number;
}

export function createPersonWriter(needed: PersonWriterNeeded) {
  const { ctx, access, accountStore, userStore, passwordHooks, passwordRules, ownProof } = needed;
  const check = createCheck(needed);

  const announce = (kind: string, accountId: number, person: Person, tx: Tx) =>
    ctx.changed({ accountId, sourceType: "Account::User", kind, id: person.id, data: { ...person } }, tx);

  const read = async (tx: Tx, { accountId, id }: Place): Promise<UserRow> => {
    const row = await userStore.byId(tx, accountId, id);
    if (!row) throw notFound();
    return row;
  };

  /** A list that the patch leaves out stays as it is. */
  const setUnits = async (tx: Tx, id: number, patch: PersonPatch, before?: UserRow) => {
    if (unitFields.every(([field]) => patch[field] === undefined)) return;
    const { team_ids = before?.teamIds, group_ids = before?.groupIds, department_ids = before?.departmentIds } = patch;
    await userStore.setUnits(tx, id, [...(team_ids ?? []), ...(group_ids ?? []), ...(department_ids ?? [])]);
  };

  const mustLeaveAdmin = async (tx: Tx, { accountId, id }: Place, field: string): Promise<void> => {
    if (!(await userStore.hasOtherAdmin(tx, accountId, id))) throw invalid({ [field]: [lastAdmin] });
  };

  const hashed = async (accountId: number, password: string | null | undefined) => {
    if (password === undefined || password === null) return password;
    await passwordRules.check(accountId, password);
    return hashPassword(password);
  };

  /** Whoever had an address hears where it went. */
  const tell = async (tx: Tx, { email }: UserRow, row: UserRow): Promise<void> => {
    if (email === null || isSameAddress(email, row.email)) return;
    await ownProof.confirmation.tell({ accountId: row.accountId, person: toApi(row), before: email }, tx);
  };

  return {
    /** Throws the 422 if another person could be meant by this address, as it would be if it were stored. */
    mustBeFree: (tx: Tx, row: UserRow, email: string): Promise<void> => {
      const change = { email };
      return check(tx, row.accountId, row.id, merged(row, change, undefined), change);
    },

    async create(
      accountId: number,
      patch: PersonPatch & { login: string },
      authorize: (after: UserInput) => void,
      also: (row: UserRow, tx: Tx) => Promise<void> = async () => {},
    ): Promise<UserRow> {
      const passwordHash = await hashed(accountId, patch.password);
      return ctx.transaction(async (tx) => {
        await accountStore.lock(tx, accountId);
        const input = merged({ login: patch.login, email: null, name: patch.login, ...newcomer }, patch, passwordHash);
        await check(tx, accountId, 0, input, patch);
        authorize(input);
        const id = await userStore.insert(tx, accountId, input);
        await setUnits(tx, id, patch);
        const row = await read(tx, { accountId, id });
        await announce("create", accountId, toApi(row), tx);
        await also(row, tx);
        return row;
      });
    },

    /** `byTokenId`: the token of the request; null = a command. */
    async change(
      place: Place,
      patch: PersonPatch,
      byTokenId: number | null,
      authorize: (before: UserRow, after: UserInput, tx: Tx) => Promise<void> | void,
      also: (row: UserRow, tx: Tx) => Promise<void> = async () => {},
    ): Promise<UserRow> {
      const { accountId, id } = place;
      const passwordHash = await hashed(accountId, patch.password);
      const changed = await ctx.transaction(async (tx) => {
        await accountStore.lock(tx, accountId);
        const before = await read(tx, place);
        const after = merged(before, patch, passwordHash);
        await authorize(before, after, tx);
        await check(tx, accountId, id, after, patch);
        if (stopsBeingAdmin(before, after)) await mustLeaveAdmin(tx, place, after.active ? "role" : "active");
        await userStore.update(tx, accountId, id, after);
        await setUnits(tx, id, patch, before);
        const hooks = passwordHash === undefined ? [] : passwordHooks;
        const finish = await Promise.all(hooks.map((run) => run(id, byTokenId, tx)));
        const row = await read(tx, place);
        await announce("update", accountId, toApi(row), tx);
        await tell(tx, before, row);
        await also(row, tx);
        return { row, finish };
      });
      await Promise.all([access.forgetPerson(id), ...changed.finish.map((run) => run())]);
      return changed.row;
    },

    async delete(place: Place, authorize: (before: UserRow, tx: Tx) => Promise<void> | void): Promise<void> {
      const { accountId, id } = place;
      await ctx.transaction(async (tx) => {
        await accountStore.lock(tx, accountId);
        const before = await read(tx, place);
        await authorize(before, tx);
        if (stopsBeingAdmin(before)) await mustLeaveAdmin(tx, place, "base");
        await userStore.delete(tx, accountId, id);
        await announce("destroy", accountId, toApi(before), tx);
      });
      await access.forgetPerson(id);
    },
  };
}

const lastAdmin = "this is the last active administrator";
const newcomer = { role: "user", active: true, privileges: [] } as const;
