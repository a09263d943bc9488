import { definePlugin, setting, verifyPassword } from "platform";
import { createAccess } from "./access.ts";
import { createAccountSettings } from "./account-settings.ts";
import { createAccountStore } from "./account-store.ts";
import { accounts, type PasswordHook } from "./api.ts";
import { accountCommands, accountCreate, hostRelease, userPassword } from "./commands.ts";
import { foundAccount, localeOf, timezoneOf, type AccountHook } from "./found.ts";
import { meRoutes } from "./me-routes.ts";
import migration from "./migrations/001_accounts.sql" with { type: "text" };
import settingsMigration from "./migrations/002_settings.sql" with { type: "text" };
import signInHosts from "./migrations/003_sign_in_hosts.sql" with { type: "text" };
import { createPeople } from "./people.ts";
import { personExample, userRoutes } from "./routes.ts";
import { settingRoutes } from "./setting-routes.ts";
import { createSettingStore } from "./setting-store.ts";
import { unitRoutes } from "./unit-routes.ts";
import { createUnitStore } from "./unit-store.ts";
import { createUserStore, toApi } from "./user-store.ts";

/** Tenants and their people. behaviour B.1, B.2 and B.4. */
export default definePlugin({
  name: "accounts",
  provides: accounts,
  config: {
    adminLogin: setting.text("CORE_ADMIN_LOGIN", "admin", "Login of the first administrator"),
    adminPassword: setting.text("CORE_ADMIN_PASSWORD", "", "Their password; empty = generated and printed once"),
    timezone: setting.checked("CORE_TIMEZONE", "UTC", "Time zone of the first account", timezoneOf),
    locale: setting.checked("CORE_LOCALE", "en", "Locale of the first account", localeOf),
    baseUrl: setting.text("BASE_URL", "", "Public address of the first account, e.g. `https://core.example.com`"),
  },
  migrations: [
    { name: "001_accounts", sql: migration },
    { name: "002_settings", sql: settingsMigration },
    { name: "003_sign_in_hosts", sql: signInHosts },
  ],
  privileges: [
    { name: "users", doc: "manage people, teams, departments and groups", roles: ["admin"] },
    { name: "settings", doc: "change what plugins let each account decide", roles: ["admin", "manager"] },
  ],
  commands: [userPassword, accountCreate, hostRelease],
  models: [{ name: "Account::User", privilege: "users", sample: personExample }],

  setup(ctx) {
    const { sql, config } = ctx;
    const accountStore = createAccountStore(sql);
    const userStore = createUserStore(sql);
    const unitStore = createUnitStore(sql);
    const firstHost = config.baseUrl && URL.canParse(config.baseUrl) ? new URL(config.baseUrl).host : "";
    const access = createAccess({ ctx, accountStore, userStore, firstHost });
    const passwordHooks: PasswordHook[] = [];
    const hooks: AccountHook[] = [];
    const settings = createAccountSettings({ ctx, settingStore: createSettingStore(sql) });
    const people = createPeople({ ctx, access, accountStore, userStore, unitStore, passwordHooks });

    return {
      routes: [
        ...userRoutes(sql, userStore, people),
        ...unitRoutes({ ctx, store: unitStore, accountStore, table: access }),
        ...meRoutes(sql, userStore, people),
        ...settingRoutes(settings),
      ],
      commands: accountCommands({ ctx, accountStore, userStore, hooks, people, access }),
      seed: (tx) =>
        foundAccount(
          tx,
          { accountStore, userStore, hooks },
          {
            account: { name: "Main", baseUrl: null, host: null, timezone: config.timezone, locale: config.locale },
            login: config.adminLogin,
            password: config.adminPassword,
            first: true,
          },
        ),
      service: {
        accountForHost: access.accountForHost,
        isReservedHost: access.isReservedHost,
        holdHost: (host, tx) => accountStore.holdHost(tx, host),
        signedInAt: async (accountId, host) => {
          if (!isName(host) || (await accountStore.isSignInHost(accountId, host))) return;
          await ctx.transaction(async (tx) => {
            await accountStore.holdHost(tx, host);
            await accountStore.addSignInHost(tx, accountId, host);
          });
        },
        hasSeveral: accountStore.hasSeveral,
        defaultAccount: access.defaultAccount,
        accountById: access.accountById,
        access: access.access,
        isPrivilege: access.isPrivilege,
        settingsOf: settings.of,
        person: async (accountId, userId) => {
          const row = await userStore.byId(sql, accountId, userId);
          return row && toApi(row);
        },
        userIdOf: userStore.idByLogin,
        verifyPassword: async (accountId, loginOrEmail, password) => {
          // PostgreSQL cannot even compare such a text: it is nobody's.
          const row = loginOrEmail.includes("\0")
            ? undefined
            : await userStore.passwordByLogin(accountId, loginOrEmail);
          const right = await verifyPassword(password, row?.passwordHash);
          return right && row?.active ? row.id : undefined;
        },
        unitExists: async (accountId, kind, id) => (await unitStore.byId(accountId, kind, id)) !== undefined,
        unitsOf: unitStore.ofUser,
        onAccountCreated: (run) => void hooks.push(run),
        onPasswordChanged: (run) => void passwordHooks.push(run),
      },
    };
  },
});

/** Only what a domain could be called: what else a client writes into its Host header is not worth a row. */
function isName(host: string): boolean {
  return host.length <= 260 && /^[a-z0-9-]+(\.[a-z0-9-]+)+(:\d+)?$/.test(host);
}
