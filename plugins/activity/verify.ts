/** Checks the chains from end to end. */
import type { BaseContext } from "platform";
import { faultOf, headFault, type Seal, type Sign } from "./chain.ts";
import type { SealStore } from "./seal-store.ts";

const sealsAtOnce = 20;

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction">;
  readonly sealStore: SealStore;
  readonly sign: Sign;
}

export interface Verified {
  readonly accountId: number;
  readonly seals: number;
  readonly entries: number;
  /** What is wrong first; undefined if nothing is. */
  readonly fault: string | undefined;
}

export function createVerify({ ctx, sealStore, sign }: Needed) {
  const verifyAccount = (accountId: number) =>
    ctx.transaction(async (tx): Promise<Verified> => {
      // The sealer waits meanwhile.
      await sealStore.holdAll(tx);
      const head = await sealStore.head(tx, accountId);
      let before: Pick<Seal, "number" | "signature" | "upTo"> = {
        number: head?.firstNumber ?? 0,
        signature: head?.firstSignature ?? "",
        upTo: 0,
      };
      const done = { accountId, seals: 0, entries: 0 };
      for (;;) {
        const seals = await sealStore.seals(tx, accountId, before.number, sealsAtOnce);
        for (const seal of seals) {
          const entries = await sealStore.entries(tx, accountId, before.upTo, seal.upTo);
          const fault = faultOf(sign, accountId, before, seal, entries);
          if (fault) return { ...done, fault };
          done.seals++;
          done.entries += entries.length;
          before = seal;
        }
        if (seals.length < sealsAtOnce) break;
      }
      const sealedTo = await sealStore.upTo(tx);
      const [added] = await sealStore.entries(tx, accountId, before.upTo, sealedTo);
      if (!head && (added || before.number > 0)) return { ...done, fault: "the head of the chain was removed" };
      const fault = added ? `entry ${added.id} was added later` : undefined;
      return { ...done, fault: (head && headFault(sign, accountId, head, before)) ?? fault };
    });

  return async (): Promise<Verified[]> => {
    const all: Verified[] = [];
    for (const accountId of await sealStore.accounts()) all.push(await verifyAccount(accountId));
    return all;
  };
}
