import { definePlugin } from "platform";
import { accounts } from "../api.ts";
import { tokens } from "../../tokens/api.ts";
import { factors, type FactorKind } from "./api.ts";
import { beginTotp, checkCode, confirmTotp, shownTotp } from "./authenticator.ts";
import { factorCommands, resetFactors } from "./commands.ts";
import type { FactorsContext } from "./context.ts";
import migration from "./migrations/001_factors.sql" with { type: "text" };
import passkeysMigration from "./migrations/002_passkeys.sql" with { type: "text" };
import accountKeys from "./migrations/003_account_keys.sql" with { type: "text" };
import { passkeyRoutes } from "./passkey-routes.ts";
import { passkeyOwner, removePasskeys, signInOptions } from "./passkeys.ts";
import { factorSettings, isRequired } from "./policy.ts";
import { factorRoutes } from "./routes.ts";
import { anyPasskeyIn, of, pruneChallenges } from "./store.ts";

/** Second factors: authenticator apps, passkeys and recovery codes. behaviour B.1. */
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

  setup(base) {
    const ctx: FactorsContext = { ...base, ...base.services };
    return {
      routes: [...factorRoutes(ctx), ...passkeyRoutes(ctx)],
      commands: factorCommands(ctx),
      schedules: [{ id: "factors.prune", cron: "37 * * * *", run: () => pruneChallenges(ctx.sql) }],
      service: {
        async kindsOf(owner) {
          const { totpAt, passkeys, recoveryCodes, hasAny } = await of(ctx.sql, owner);
          const has = { totp: totpAt !== null, passkey: passkeys > 0, recovery_code: hasAny && recoveryCodes > 0 };
          return kinds.filter((kind) => has[kind]);
        },
        isRequired: (owner) => isRequired(ctx, owner),
        checkCode: (owner, code) => checkCode(ctx, owner, code),
        beginTotp: (owner) => beginTotp(ctx, owner),
        shownTotp: (owner, setup) => shownTotp(ctx, owner, setup),
        confirmTotp: (owner, setup, code) => confirmTotp(ctx, owner, setup, code),
        endPasskeys: removePasskeys,
        hasPasskeys: (accountId) => anyPasskeyIn(ctx.sql, accountId),
        passkeyOptions: (account) => signInOptions(ctx, account),
        passkeyOwner: (account, assertion) => passkeyOwner(ctx, account, assertion),
      },
    };
  },
});

const kinds: readonly FactorKind[] = ["totp", "passkey", "recovery_code"];
