/** Forgets entries that are older than their account keeps them, seal by seal: the chain then begins at the last one. */
import { setting, type BaseContext } from "platform";
import type { Accounts } from "../accounts/api.ts";
import { signHead, type Sign } from "./chain.ts";
import type { SealStore } from "./seal-store.ts";

/** Only administrators change it: nobody else forgets what they did. */
export const accountSettings = {
  days: setting.adminOnly(
    setting.integer("activity_days", 365, "Days that the log of activity goes back", { min: 1, max: 36_500 }),
  ),
};

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "stopping">;
  readonly accounts: Pick<Accounts, "settingsOf">;
  readonly sealStore: SealStore;
  readonly sign: Sign;
}

export function createRetention({ ctx, accounts, sealStore, sign }: Needed) {
  /** False if nothing is left to forget. */
  const forgetSome = (accountId: number, days: number) =>
    ctx.transaction(async (tx) => {
      // The sealer changes heads too.
      await sealStore.holdAll(tx);
      const head = await sealStore.head(tx, accountId);
      const last = await sealStore.lastBefore(tx, accountId, days);
      if (!head || !last) return false;
      await sealStore.forget(tx, accountId, last);
      const next = { ...head, firstNumber: last.number, firstSignature: last.signature };
      await sealStore.saveHead(tx, accountId, { ...next, signature: signHead(sign, accountId, next) });
      return true;
    });

  return async (): Promise<void> => {
    for (const accountId of await sealStore.accounts()) {
      const { days } = await accounts.settingsOf(accountId, accountSettings);
      while (!ctx.stopping.aborted && (await forgetSome(accountId, days)));
    }
  };
}
