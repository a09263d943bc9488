import { definePlugin } from "platform";
import { accounts } from "../accounts/api.ts";
import { tokens } from "../tokens/api.ts";
import { factors, type FactorKind } from "./api.ts";
import { createAuthenticator } from "./authenticator.ts";
import { factorCommands, resetFactors } from "./commands.ts";
import migration from "./migrations/001_factors.sql" with { type: "text" };
import { factorRoutes } from "./routes.ts";
import { createFactorStore } from "./store.ts";

/** What people prove themselves by besides the password. behaviour B.1. */
export default definePlugin({
  name: "factors",
  needs: { accounts, tokens },
  provides: factors,
  migrations: [{ name: "001_factors", sql: migration }],
  commands: [resetFactors],
  activity: {
    totp_factors: { model: "Account::Totp", quiet: ["last_step", "failures", "blocked_until"] },
    recovery_codes: { model: "Account::RecoveryCode" },
  },

  setup(ctx) {
    const factorStore = createFactorStore(ctx.sql);
    const authenticator = createAuthenticator({ ctx, factorStore, ...ctx.services });
    return {
      routes: factorRoutes({ ...ctx.services, authenticator, factorStore }),
      commands: factorCommands({ ...ctx.services, authenticator }),
      service: {
        async kindsOf(owner) {
          const { totpAt, recoveryCodes } = await factorStore.of(owner);
          const kinds: FactorKind[] = totpAt ? ["totp"] : [];
          return recoveryCodes > 0 ? [...kinds, "recovery_code"] : kinds;
        },
        isRequired: async () => false,
        checkCode: authenticator.checkCode,
        beginTotp: authenticator.begin,
        shownTotp: authenticator.shown,
        confirmTotp: authenticator.confirm,
      },
    };
  },
});
