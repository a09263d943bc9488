/** Forgets entries that are older than their account keeps them, seal by seal: the chain then begins at the last one. */
import { setting } from "platform";
import { signHead } from "./chain.ts";
import * as sealStore from "./seal-store.ts";
import type { ActivityContext } from "./context.ts";

type Retaining = Pick<ActivityContext, "accounts" | "sign" | "sql" | "stopping" | "transaction">;

/** Only administrators change it: nobody else forgets what they did. */
export const accountSettings = {
  days: setting.adminOnly(
    setting.integer("activity_days", 365, "Days that the log of activity goes back", { min: 1, max: 36_500 }),
  ),
};

export async function forgetOld(ctx: Retaining): Promise<void> {
  for (const accountId of await sealStore.accounts(ctx.sql)) {
    const { days } = await ctx.accounts.settingsOf(accountId, accountSettings);
    while (!ctx.stopping.aborted && (await forgetSome(ctx, accountId, days)));
  }
}

/** False if nothing is left to forget. */
function forgetSome(ctx: Retaining, accountId: number, days: number) {
  return ctx.transaction(async (tx) => {
    // The sealer changes heads too.
    await sealStore.holdAll(tx);
    const head = await sealStore.headOf(tx, accountId);
    const last = await sealStore.lastBefore(tx, accountId, days);
    if (!head || !last) return false;
    await sealStore.forget(tx, accountId, last);
    const next = { ...head, firstNumber: last.number, firstSignature: last.signature };
    await sealStore.saveHead(tx, accountId, { ...next, signature: signHead(ctx.sign, accountId, next) });
    return true;
  });
}
