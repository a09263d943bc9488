import { definePlugin, setting } from "platform";
import { createAccess } from "./people/access.ts";
import { createAccountSettings } from "./people/account-settings.ts";
import { createAccountStore } from "./people/account-store.ts";
import { accounts, type OwnGuard, type PasswordHook } from "./api.ts";
import { accountCommands, accountCreate, hostRelease, userPassword } from "./people/commands.ts";
import { foundAccount, localeOf, timezoneOf, type AccountHook } from "./people/found.ts";
import { createLoginStore } from "./people/login-store.ts";
import { meRoutes } from "./people/me-routes.ts";
import migration from "./migrations/001_accounts.sql" with { type: "text" };
import settingsMigration from "./migrations/002_settings.sql" with { type: "text" };
import signInHosts from "./migrations/003_sign_in_hosts.sql" with { type: "text" };
import preferencesMigration from "./migrations/004_preferences.sql" with { type: "text" };
import versions from "./migrations/005_versions.sql" with { type: "text" };
import { nothingProved } from "./people/own.ts";
import { createPasswordRules } from "./people/password-rules.ts";
import { passwordSettings } from "./people/password-settings.ts";
import { createPeople } from "./people/people.ts";
import { privilegeRoutes } from "./people/privilege-routes.ts";
import { preferenceRoutes } from "./people/preference-routes.ts";
import { createPreferenceStore } from "./people/preference-store.ts";
import { personExample, userRoutes } from "./people/routes.ts";
import { createService } from "./people/service.ts";
import { settingRoutes } from "./people/setting-routes.ts";
import { createSettingStore } from "./people/setting-store.ts";
import { allUnits } from "./people/unit.ts";
import { unitRoutes } from "./people/unit-routes.ts";
import { createUnitStore } from "./people/unit-store.ts";
import { createUserStore } from "./people/user-store.ts";

/** Tenants and their people. behaviour B.1, B.2 and B.4. */
export default definePlugin({
  name: "accounts",
  provides: accounts,
  config: {
    adminLogin: setting.text("CORE_ADMIN_LOGIN", "admin", "Login of the first administrator"),
    adminPassword: setting.text("CORE_ADMIN_PASSWORD", "", "Their password; empty = generated and printed once"),
    timezone: setting.checked("CORE_TIMEZONE", "UTC", "Time zone of the first account", timezoneOf),
    locale: setting.checked("CORE_LOCALE", "en", "Locale of the first account", localeOf),
  },
  migrations: [
    { name: "001_accounts", sql: migration },
    { name: "002_settings", sql: settingsMigration },
    { name: "003_sign_in_hosts", sql: signInHosts },
    { name: "004_preferences", sql: preferencesMigration },
    { name: "005_versions", sql: versions },
  ],
  accountSettings: passwordSettings,
  privileges: [
    { name: "users", doc: "manage people, teams, departments and groups", roles: ["admin"] },
    { name: "settings", doc: "change the account's settings", roles: ["admin", "manager"] },
  ],
  commands: [userPassword, accountCreate, hostRelease],
  models: [{ name: "Account::User", privilege: "users", sample: personExample }],
  resources: allUnits,
  activity: {
    accounts: { model: "Account::Account", quiet: ["settings_version"] },
    users: { model: "Account::User", name: "login" },
    memberships: { model: "Account::Membership", account: { table: "users", column: "user_id" } },
    account_settings: { model: "Account::Setting" },
    account_sign_in_hosts: false,
    user_preferences: false,
  },
  checks: async ({ sql, hosts }) => {
    const rows = await createAccountStore(sql).hosts();
    return hosts(
      "hosts of accounts",
      rows.map(({ host }) => host),
    );
  },

  setup(ctx) {
    const { sql, config } = ctx;
    const accountStore = createAccountStore(sql);
    const userStore = createUserStore(sql);
    const loginStore = createLoginStore(ctx.sql);
    const unitStore = createUnitStore(sql);
    const access = createAccess({ ctx, accountStore, userStore });
    const passwordHooks: PasswordHook[] = [];
    const accountHooks: AccountHook[] = [];
    const settings = createAccountSettings({ ctx, settingStore: createSettingStore(sql) });
    const passwordRules = createPasswordRules({ ctx, settings });
    const ownGuards: OwnGuard[] = [];
    const ownProof = nothingProved();
    const parts = {
      ctx,
      passwordRules,
      ownGuards,
      ownProof,
      access,
      accountStore,
      userStore,
      loginStore,
      unitStore,
      accountHooks,
      passwordHooks,
    };
    const people = createPeople(parts);

    return {
      routes: [
        ...userRoutes({ sql, userStore, people }),
        ...unitRoutes({ ...ctx, unitStore, accountStore, accessTable: access }),
        ...meRoutes({ sql, userStore, people, ownProof }),
        ...preferenceRoutes({ ctx, preferenceStore: createPreferenceStore(sql) }),
        ...settingRoutes(settings),
        ...privilegeRoutes(ctx.plugins),
      ],
      commands: accountCommands({ ...parts, people }),
      seed: (tx) =>
        foundAccount(tx, parts, {
          account: { name: "Main", baseUrl: null, host: null, timezone: config.timezone, locale: config.locale },
          login: config.adminLogin,
          password: config.adminPassword,
          first: true,
        }),
      service: createService({ ...parts, settings, people }),
    };
  },
});
