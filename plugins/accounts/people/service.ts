/** The service `accounts` for other plugins; api.ts documents each part. No HTTP, no SQL. */
import { find, notFound, verifyPassword } from "platform";
import * as accountStore from "./account-store.ts";
import type { Accounts } from "../api.ts";
import type { Founder, PeopleContext } from "./context.ts";
import * as people from "./people.ts";
import { mustReach } from "./rules.ts";
import { units } from "./unit-routes.ts";
import * as userStore from "./user-store.ts";
import { toApi } from "./user-store.ts";

const mostAdministrators = 1_000;

export function accountsService(ctx: PeopleContext, addFounder: (run: Founder) => void): Accounts {
  const { access, settings, sql } = ctx;
  const { accountForHost, isReservedHost, defaultAccount, accountById, isPrivilege } = access;
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
    unitsOf: (accountId, userId) => userStore.unitsOf(sql, accountId, userId),
    onAccountCreated: addFounder,

    async changeable(caller, userId) {
      const row = await userStore.byId(sql, caller.account.id, userId);
      if (!row) throw notFound();
      mustReach(caller, row, access.privilegesOfRole);
      return toApi(row);
    },

    async signedInAt(accountId, host) {
      if (!isHostName(host) || (await accountStore.isSignInHost(sql, accountId, host))) return;
      await ctx.transaction(async (tx) => {
        await accountStore.holdHost(tx, host);
        await accountStore.addSignInHost(tx, accountId, host);
      });
    },

    async person(accountId, userId) {
      const row = await userStore.byId(sql, accountId, userId);
      return row && toApi(row);
    },

    async personByLogin(accountId, loginOrEmail) {
      const found = loginOrEmail.includes("\0")
        ? undefined
        : await userStore.passwordByLogin(sql, accountId, loginOrEmail);
      const row = found && (await userStore.byId(sql, accountId, found.id));
      return row && toApi(row);
    },

    createPerson: async (caller, fields, also) =>
      toApi(await people.create(ctx, caller, fields, (row, tx) => also(toApi(row), tx))),

    admitPerson: async (accountId, fields, also) =>
      toApi(await people.admit(ctx, accountId, fields, (row, tx) => also(toApi(row), tx))),

    followRule: async ({ accountId, userId: id }, { role, team_ids }) =>
      toApi(await people.followRule(ctx, { accountId, id }, { ...(role && { role }), ...(team_ids && { team_ids }) })),

    deletePerson: (caller, userId, also) =>
      people.remove(ctx, caller, userId, undefined, (row, tx) => also(toApi(row), tx)),

    setPassword: async ({ accountId, userId: id }, { password, activate }, also) => {
      const patch = activate ? { password, active: true } : { password };
      return toApi(await people.changeProved(ctx, { accountId, id }, patch, (row, tx) => also(toApi(row), tx)));
    },

    setEmail: async ({ accountId, userId: id }, email, also) =>
      toApi(await people.changeProved(ctx, { accountId, id }, { email }, (row, tx) => also(toApi(row), tx))),

    endPassword: async ({ accountId, userId: id }, also) =>
      toApi(await people.changeProved(ctx, { accountId, id }, { password: null }, (row, tx) => also(toApi(row), tx))),

    activate: async ({ accountId, userId: id }, also) =>
      toApi(await people.changeProved(ctx, { accountId, id }, { active: true }, (row, tx) => also(toApi(row), tx))),

    async verifyPassword(accountId, loginOrEmail, password) {
      // PostgreSQL cannot even compare a text with NUL in it: nobody has such a login.
      const row = loginOrEmail.includes("\0")
        ? undefined
        : await userStore.passwordByLogin(sql, accountId, loginOrEmail);
      // Also if there is no such person, so that the answer takes the same time.
      const right = await verifyPassword(password, row?.passwordHash);
      return right && row?.active ? row.id : undefined;
    },

    hasPassword: async (accountId, userId) => ((await userStore.passwordById(sql, accountId, userId)) ?? null) !== null,

    async administrators(accountId) {
      const all = { limit: mostAdministrators, offset: 0 };
      return (await userStore.listed(sql, accountId, { role: "admin", active: true }, all)).rows.map(toApi);
    },

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
