/** The service `accounts` for other plugins; api.ts documents each part. No HTTP, no SQL. */
import { find, notFound, verifyPassword, type BaseContext, type Sql } from "platform";
import type { AccessTable } from "./access.ts";
import type { AccountSettings } from "./account-settings.ts";
import type { AccountStore } from "./account-store.ts";
import type { Accounts, OwnGuard, PasswordHook } from "../api.ts";
import type { AccountHook } from "./found.ts";
import type { People } from "./people.ts";
import type { OwnProof } from "./own.ts";
import type { LoginStore } from "./login-store.ts";
import { mustReach } from "./rules.ts";
import { units } from "./unit.ts";
import type { UnitStore } from "./unit-store.ts";
import { toApi, type UserStore } from "./user-store.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "baseUrl"> & { readonly sql: Sql };
  readonly access: AccessTable;
  readonly accountStore: AccountStore;
  readonly userStore: UserStore;
  readonly loginStore: LoginStore;
  readonly unitStore: UnitStore;
  readonly settings: Pick<AccountSettings, "of">;
  readonly accountHooks: AccountHook[];
  readonly passwordHooks: PasswordHook[];
  readonly ownProof: OwnProof;
  readonly ownGuards: OwnGuard[];
  readonly people: Pick<People, "admit" | "create" | "delete" | "followRule" | "changeProved">;
}

const mostAdministrators = 1_000;

export function createService(needed: Needed): Accounts {
  const { ctx, access, accountStore, userStore, loginStore, unitStore, settings, accountHooks, passwordHooks } = needed;
  const { people } = needed;
  const { accountForHost, isReservedHost, defaultAccount, accountById, isPrivilege } = access;
  return {
    async hosts() {
      const all = await accountStore.hosts();
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
    userIdOf: loginStore.idByLogin,
    unitsOf: unitStore.ofUser,
    onAccountCreated: (run) => void accountHooks.push(run),
    onPasswordChanged: (run) => void passwordHooks.push(run),
    standingBy: (standingOf) => void (needed.ownProof.standingOf = standingOf),
    confirmEmailsBy: (confirmation) => void (needed.ownProof.confirmation = confirmation),
    beforeOwnSignInData: (guard) => void needed.ownGuards.push(guard),

    async changeable(caller, userId) {
      const row = await userStore.byId(ctx.sql, caller.account.id, userId);
      if (!row) throw notFound();
      mustReach(caller, row, access.privilegesOfRole);
      return toApi(row);
    },

    async signedInAt(accountId, host) {
      if (!isHostName(host) || (await accountStore.isSignInHost(accountId, host))) return;
      await ctx.transaction(async (tx) => {
        await accountStore.holdHost(tx, host);
        await accountStore.addSignInHost(tx, accountId, host);
      });
    },

    async person(accountId, userId) {
      const row = await userStore.byId(ctx.sql, accountId, userId);
      return row && toApi(row);
    },

    async personByLogin(accountId, loginOrEmail) {
      const found = loginOrEmail.includes("\0") ? undefined : await loginStore.passwordByLogin(accountId, loginOrEmail);
      const row = found && (await userStore.byId(ctx.sql, accountId, found.id));
      return row && toApi(row);
    },

    createPerson: async (caller, fields, also) =>
      toApi(await people.create(caller, fields, (row, tx) => also(toApi(row), tx))),

    admitPerson: async (accountId, fields, also) =>
      toApi(await people.admit(accountId, fields, (row, tx) => also(toApi(row), tx))),

    followRule: async ({ accountId, userId: id }, { role, team_ids }) =>
      toApi(await people.followRule({ accountId, id }, { ...(role && { role }), ...(team_ids && { team_ids }) })),

    deletePerson: (caller, userId, also) => people.delete(caller, userId, undefined, (row, tx) => also(toApi(row), tx)),

    setPassword: async ({ accountId, userId: id }, { password, activate }, also) => {
      const patch = activate ? { password, active: true } : { password };
      return toApi(await people.changeProved({ accountId, id }, patch, (row, tx) => also(toApi(row), tx)));
    },

    setEmail: async ({ accountId, userId: id }, email, also) =>
      toApi(await people.changeProved({ accountId, id }, { email }, (row, tx) => also(toApi(row), tx))),

    endPassword: async ({ accountId, userId: id }, also) =>
      toApi(await people.changeProved({ accountId, id }, { password: null }, (row, tx) => also(toApi(row), tx))),

    activate: async ({ accountId, userId: id }, also) =>
      toApi(await people.changeProved({ accountId, id }, { active: true }, (row, tx) => also(toApi(row), tx))),

    async verifyPassword(accountId, loginOrEmail, password) {
      // PostgreSQL cannot even compare a text with NUL in it: nobody has such a login.
      const row = loginOrEmail.includes("\0") ? undefined : await loginStore.passwordByLogin(accountId, loginOrEmail);
      // Also if there is no such person, so that the answer takes the same time.
      const right = await verifyPassword(password, row?.passwordHash);
      return right && row?.active ? row.id : undefined;
    },

    hasPassword: async (accountId, userId) => ((await loginStore.passwordById(accountId, userId)) ?? null) !== null,

    async administrators(accountId) {
      const all = { limit: mostAdministrators, offset: 0 };
      return (await userStore.list(accountId, { role: "admin", active: true }, all)).rows.map(toApi);
    },

    async unitExists(accountId, kind, id, tx) {
      return (await find(units[kind], tx ?? ctx.sql, accountId, { id })) !== undefined;
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
