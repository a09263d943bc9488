import { definePlugin, setting } from "platform";
import { mail } from "../mail/api.ts";
import { tokens } from "../tokens/api.ts";
import { accounts } from "./api.ts";
import migration from "./migrations/001_accounts.sql" with { type: "text" };
import settingsMigration from "./migrations/002_settings.sql" with { type: "text" };
import signInHosts from "./migrations/003_sign_in_hosts.sql" with { type: "text" };
import preferencesMigration from "./migrations/004_preferences.sql" with { type: "text" };
import versions from "./migrations/005_versions.sql" with { type: "text" };
import { createAccess } from "./people/access.ts";
import { createAccountSettings } from "./people/account-settings.ts";
import { hostsOfAccounts } from "./people/account-store.ts";
import { brandSettings } from "./people/brand.ts";
import {
  accountCommands,
  accountCreate,
  foundAccount,
  hostRelease,
  localeOf,
  timezoneOf,
  userPassword,
} from "./people/commands.ts";
import type { Founder, PeopleContext } from "./people/context.ts";
import { meRoutes } from "./people/me-routes.ts";
import { privilegeRoutes, userRoutes } from "./people/routes.ts";
import { User } from "./people/person.ts";
import { passwordSettings } from "./people/rules.ts";
import { accountsService } from "./people/service.ts";
import { preferenceRoutes, settingRoutes } from "./people/setting-routes.ts";
import { allUnits, unitRoutes } from "./people/unit-routes.ts";
import { byTokenOwner } from "./people/user-store.ts";

/** Tenants and their people. behaviour B.1, B.2 and B.4. */
export default definePlugin({
  name: "accounts",
  // Who sends a request and what a mail is called are found out with accounts: both need this plugin.
  later: { mail, tokens },
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
  accountSettings: { ...passwordSettings, ...brandSettings },
  privileges: [
    { name: "users", doc: "manage people, teams, departments and groups", roles: ["admin"] },
    { name: "settings", doc: "change the account's settings", roles: ["admin", "manager"] },
  ],
  commands: [userPassword, accountCreate, hostRelease],
  models: [{ name: "Account::User", privilege: "users", sample: User.examples.one }],
  resources: [User, ...allUnits],
  activity: {
    accounts: { model: "Account::Account", quiet: ["settings_version"] },
    memberships: { model: "Account::Membership", account: { table: "users", column: "user_id" } },
    account_settings: { model: "Account::Setting" },
    account_sign_in_hosts: false,
    user_preferences: false,
  },
  checks: async ({ sql, hosts }) => {
    const names = (await hostsOfAccounts(sql)).map(({ host }) => host);
    return hosts("hosts of accounts", names);
  },

  setup(base) {
    const { config } = base;
    const founders: Founder[] = [];
    const access = createAccess(base, (on, id) => byTokenOwner(on, User.read, id));
    const ctx: PeopleContext = {
      ...base,
      access,
      settings: createAccountSettings(base, access.forgetAccount),
      founders,
      guesses: base.limiter("accounts.own-password", { limit: 10, windowSeconds: 300, exact: true }),
      addresses: base.limiter("passwords.emails", { limit: 10, windowSeconds: 3600, exact: true }),
    };
    return {
      routes: [
        ...userRoutes(ctx),
        ...unitRoutes(ctx),
        ...meRoutes(ctx),
        ...preferenceRoutes(ctx),
        ...settingRoutes(ctx),
        ...privilegeRoutes(ctx.plugins),
      ],
      commands: accountCommands(ctx),
      seed: (tx) =>
        foundAccount(ctx, tx, {
          account: { name: "Main", baseUrl: null, host: null, timezone: config.timezone, locale: config.locale },
          login: config.adminLogin,
          password: config.adminPassword,
          first: true,
        }),
      service: accountsService(ctx, (run) => founders.push(run)),
    };
  },
});
