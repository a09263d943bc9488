/** Checks the chains from end to end. */
import type { BaseContext } from "platform";
import { lostText, readAnchors } from "./anchors.ts";
import { faultOf, headFault, type Seal, type SealAnchor, type Sign } from "./chain.ts";
import type { SealStore } from "./seal-store.ts";

const sealsAtOnce = 20;

interface Needed {
  readonly ctx: Pick<BaseContext, "anchor" | "transaction">;
  readonly sealStore: SealStore;
  readonly sign: Sign;
}

export interface Verified {
  readonly accountId: number;
  readonly seals: number;
  readonly entries: number;
  /** The number of the last one. */
  readonly last: number;
  /** What is wrong first; undefined if nothing is. */
  readonly fault: string | undefined;
}

export function createVerify({ ctx, sealStore, sign }: Needed) {
  const verifyAccount = (accountId: number, anchor: SealAnchor | undefined, atLeast: number) =>
    ctx.transaction(async (tx): Promise<Verified> => {
      // The sealer waits meanwhile.
      await sealStore.holdAll(tx);
      const head = await sealStore.head(tx, accountId);
      let before: Pick<Seal, "number" | "signature" | "upTo"> = {
        number: head?.firstNumber ?? 0,
        signature: head?.firstSignature ?? "",
        upTo: 0,
      };
      const done = { accountId, seals: 0, entries: 0, last: before.number };
      for (;;) {
        const seals = await sealStore.seals(tx, accountId, before.number, sealsAtOnce);
        for (const seal of seals) {
          const entries = await sealStore.entries(tx, accountId, before.upTo, seal.upTo);
          const fault = faultOf(sign, accountId, before, seal, entries);
          if (fault) return { ...done, fault };
          done.seals++;
          done.entries += entries.length;
          before = seal;
          done.last = seal.number;
        }
        if (seals.length < sealsAtOnce) break;
      }
      const sealedTo = await sealStore.upTo(tx);
      const [added] = await sealStore.entries(tx, accountId, before.upTo, sealedTo);
      if (!head && (added || before.number > 0)) return { ...done, fault: "the head of the chain was removed" };
      const fault =
        (head && headFault(sign, accountId, head, before)) ?? (added && `entry ${added.id} was added later`);
      if (fault) return { ...done, fault };
      if (anchor && !(await sealStore.holds(tx, accountId, anchor))) return { ...done, fault: lostText(anchor) };
      if (before.number < atLeast)
        return { ...done, fault: `the chain ends at seal ${before.number}, and had ${atLeast}: its end was removed` };
      const isEmpty = !head && !(await sealStore.hasUnsealed(tx, accountId));
      return { ...done, fault: isEmpty ? "there is no chain: its entries, seals and head are gone" : undefined };
    });

  /** `atLeast`: the seal that the chain of an account must have got to. */
  return async (atLeast: (accountId: number) => number): Promise<Verified[]> => {
    const anchors = await readAnchors(ctx);
    const ids = new Set([...(await sealStore.existing()), ...(await sealStore.accounts()), ...anchors.keys()]);
    const all: Verified[] = [];
    for (const id of [...ids].toSorted((a, b) => a - b))
      all.push(await verifyAccount(id, anchors.get(id), atLeast(id)));
    return all;
  };
}
