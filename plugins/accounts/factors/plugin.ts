import { definePlugin } from "platform";
import { accounts } from "../api.ts";
import { tokens } from "../../tokens/api.ts";
import { factors, type FactorKind } from "./api.ts";
import { createAuthenticator } from "./authenticator.ts";
import { factorCommands, resetFactors } from "./commands.ts";
import { freshOwner, ownerOf } from "./fresh.ts";
import migration from "./migrations/001_factors.sql" with { type: "text" };
import passkeysMigration from "./migrations/002_passkeys.sql" with { type: "text" };
import accountKeys from "./migrations/003_account_keys.sql" with { type: "text" };
import { passkeyRoutes } from "./passkey-routes.ts";
import { createPasskeyStore } from "./passkey-store.ts";
import { createPasskeys } from "./passkeys.ts";
import { createPolicy } from "./policy.ts";
import { factorSettings } from "./settings.ts";
import { factorRoutes } from "./routes.ts";
import { createFactorStore } from "./store.ts";

/** What people prove themselves by besides the password. behaviour B.1. */
export default definePlugin({
  name: "factors",
  needs: { accounts, tokens },
  provides: factors,
  migrations: [
    { name: "001_factors", sql: migration },
    { name: "002_passkeys", sql: passkeysMigration },
    { name: "003_account_keys", sql: accountKeys },
  ],
  accountSettings: factorSettings,
  commands: [resetFactors],
  activity: {
    totp_factors: { model: "Account::Totp", quiet: ["last_step", "failures", "blocked_until"] },
    recovery_codes: { model: "Account::RecoveryCode" },
    passkeys: { model: "Account::Passkey", quiet: ["counter", "last_used_at"] },
    passkey_challenges: false,
  },

  setup(ctx) {
    const factorStore = createFactorStore(ctx.sql);
    const authenticator = createAuthenticator({ ctx, factorStore, ...ctx.services });
    const passkeyStore = createPasskeyStore(ctx.sql);
    const passkeys = createPasskeys({ ctx, factorStore, passkeyStore, authenticator, ...ctx.services });
    const policy = createPolicy(ctx.services);
    ctx.services.accounts.beforeOwnSignInData(async (caller) => {
      // Whoever has a factor proves both anew; for all others the password that they must give is enough.
      if ((await factorStore.of(ownerOf(caller))).hasAny) await freshOwner(ctx.services.tokens, caller);
    });
    return {
      routes: [
        ...factorRoutes({ ...ctx.services, policy, authenticator, passkeys, factorStore, passkeyStore }),
        ...passkeyRoutes({ ...ctx.services, policy, factorStore, passkeys, passkeyStore }),
      ],
      commands: factorCommands({ ...ctx.services, authenticator, passkeys }),
      schedules: [{ id: "factors.prune", cron: "37 * * * *", run: passkeyStore.prune }],
      service: {
        async kindsOf(owner) {
          const { totpAt, passkeys: count, recoveryCodes, hasAny } = await factorStore.of(owner);
          const has = { totp: totpAt !== null, passkey: count > 0, recovery_code: hasAny && recoveryCodes > 0 };
          return kinds.filter((kind) => has[kind]);
        },
        isRequired: policy.isRequired,
        checkCode: authenticator.checkCode,
        beginTotp: authenticator.begin,
        shownTotp: authenticator.shown,
        confirmTotp: authenticator.confirm,
        endPasskeys: passkeys.endAll,
        hasPasskeys: passkeyStore.anyIn,
        passkeyOptions: passkeys.signInOptions,
        passkeyOwner: passkeys.personOf,
      },
    };
  },
});

const kinds: readonly FactorKind[] = ["totp", "passkey", "recovery_code"];
