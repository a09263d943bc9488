/** The service `accounts` for other plugins; api.ts documents each part. No HTTP, no SQL. */
import { erase, find, notFound, verifyPassword } from "platform";
import * as accountStore from "./account-store.ts";
import type { Accounts } from "../api.ts";
import type { Founder, PeopleContext } from "./context.ts";
import type { PersonPatch } from "./fields.ts";
import * as people from "./people.ts";
import { personOf, User, type PersonAt } from "./person.ts";
import { mailPreferences } from "./preferences.ts";
import { mustReach } from "./rules.ts";
import { units } from "./unit-routes.ts";
import * as userStore from "./user-store.ts";

export function accountsService(ctx: PeopleContext, addFounder: (run: Founder) => void): Accounts {
  const { access, settings, sql } = ctx;
  const { accountForHost, isReservedHost, defaultAccount, accountById, isPrivilege } = access;
  const changed = async (
    { accountId, userId: id }: { readonly accountId: number; readonly userId: number },
    given: PersonPatch,
    how: Pick<PersonAt, "beforehand" | "passwordHash"> = {},
  ) => personOf((await people.update({ ...people.unbound(ctx, accountId), ...how }, { id }, given)).after);
  /** PostgreSQL cannot even compare a text with NUL in it: nobody has such a login. */
  const byLogin = async (accountId: number, loginOrEmail: string) =>
    loginOrEmail.includes("\0") ? undefined : userStore.passwordByLogin(sql, accountId, loginOrEmail);
  return {
    async hosts() {
      const all = await accountStore.hostsOfAccounts(sql);
      if (ctx.baseUrl === "") return all;
      const { id: accountId } = await defaultAccount();
      return [...all, { host: new URL(ctx.baseUrl).hostname, accountId }];
    },
    accountForHost,
    isReservedHost,
    defaultAccount,
    accountById,
    isPrivilege,
    access: access.access,
    hasSeveral: accountStore.hasSeveral,
    holdHost: (host, tx) => accountStore.holdHost(tx, host),
    settingsOf: settings.of,
    userIdOf: (accountId, login) => userStore.idByLogin(sql, accountId, login),
    mailPreferences: (accountId, userIds) => mailPreferences(sql, accountId, userIds),
    unitsOf: (accountId, userId) => userStore.unitsOf(sql, accountId, userId),
    onAccountCreated: addFounder,

    async changeable(caller, userId) {
      const row = await find(User, sql, caller.account.id, { id: userId });
      if (!row) throw notFound();
      mustReach(caller, row, access.privilegesOfRole);
      return personOf(row);
    },

    async signedInAt(accountId, host) {
      if (!isHostName(host) || (await accountStore.isSignInHost(sql, accountId, host))) return;
      await ctx.transaction(async (tx) => {
        await accountStore.holdHost(tx, host);
        await accountStore.addSignInHost(tx, accountId, host);
      });
    },

    async person(accountId, userId) {
      const row = await find(User, sql, accountId, { id: userId });
      return row && personOf(row);
    },

    async personByLogin(accountId, loginOrEmail) {
      const found = await byLogin(accountId, loginOrEmail);
      const row = found && (await find(User, sql, accountId, { id: found.id }));
      return row && personOf(row);
    },

    createPerson: async (caller, fields, also) =>
      personOf(await people.create({ ...ctx, caller, afterwards: also }, fields)),
    admitPerson: async (accountId, fields, also) =>
      personOf(await people.create({ ...people.unbound(ctx, accountId), afterwards: also }, fields)),
    async deletePerson(caller, id, also) {
      await erase(User, { ...ctx, caller, beforehand: also }, { id });
    },

    followRule: (person, given) => changed(person, given),
    setPassword: (person, { password, activate }, beforehand) =>
      changed(person, { password, ...(activate && { active: true }) }, { beforehand }),
    setEmail: (person, email, beforehand) => changed(person, { email }, { beforehand }),
    endPassword: (person, beforehand) => changed(person, {}, { beforehand, passwordHash: null }),
    activate: (person, beforehand) => changed(person, { active: true }, { beforehand }),

    async verifyPassword(accountId, loginOrEmail, password) {
      const row = await byLogin(accountId, loginOrEmail);
      // Also if there is no such person, so that the answer takes the same time.
      const right = await verifyPassword(password, row?.passwordHash);
      return right && row?.active ? row.id : undefined;
    },

    hasPassword: async (accountId, id) => ((await find(User, sql, accountId, { id }))?.passwordHash ?? null) !== null,

    administrators: async (accountId) => (await userStore.activeAdmins(sql, User.read, accountId)).map(personOf),

    async unitExists(accountId, kind, id, tx) {
      return (await find(units[kind], tx ?? sql, accountId, { id })) !== undefined;
    },
  };
}

/**
 * Whether this can be a domain, with or without a port. Any other Host header that a client makes up is not worth a
 * row.
 */
export function isHostName(host: string): boolean {
  return host.length <= maxHostChars && /^[a-z0-9-]+(\.[a-z0-9-]+)+(:\d+)?$/.test(host);
}

const maxHostChars = 260;
