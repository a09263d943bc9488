import { lostText, readAnchors } from "./anchors.ts";
import { faultOf, headFault, type Seal, type SealAnchor } from "./chain.ts";
import * as sealStore from "./seal-store.ts";
import type { ActivityContext } from "./context.ts";

type VerifyContext = Pick<ActivityContext, "anchor" | "sign" | "sql" | "transaction">;

const sealsAtOnce = 20;

export interface Verified {
  readonly accountId: number;
  readonly seals: number;
  readonly entries: number;
  readonly last: number;
  /** The first fault, if there is one. */
  readonly fault: string | undefined;
}

export async function verifyAll(ctx: VerifyContext, atLeast: (accountId: number) => number): Promise<Verified[]> {
  const anchors = await readAnchors(ctx);
  const ids = new Set([
    ...(await sealStore.existing(ctx.sql)),
    ...(await sealStore.accounts(ctx.sql)),
    ...anchors.keys(),
  ]);
  const all: Verified[] = [];
  for (const id of [...ids].toSorted((a, b) => a - b))
    all.push(await verifyAccount(ctx, id, anchors.get(id), atLeast(id)));
  return all;
}

function verifyAccount(ctx: VerifyContext, accountId: number, anchor: SealAnchor | undefined, atLeast: number) {
  return ctx.transaction(async (tx): Promise<Verified> => {
    // The sealer waits meanwhile.
    await sealStore.holdAll(tx);
    const head = await sealStore.headOf(tx, accountId);
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
        const fault = faultOf(ctx.sign, accountId, before, seal, entries);
        if (fault) return { ...done, fault };
        done.seals++;
        done.entries += entries.length;
        before = seal;
        done.last = seal.number;
      }
      if (seals.length < sealsAtOnce) break;
    }
    const sealedTo = await sealStore.sealedUpTo(tx);
    const [added] = await sealStore.entries(tx, accountId, before.upTo, sealedTo);
    if (!head && (added || before.number > 0)) return { ...done, fault: "the head of the chain was removed" };
    const fault =
      (head && headFault(ctx.sign, accountId, head, before)) ?? (added && `entry ${added.id} was added later`);
    if (fault) return { ...done, fault };
    if (anchor && !(await sealStore.holds(tx, accountId, anchor))) return { ...done, fault: lostText(anchor) };
    if (before.number < atLeast)
      return { ...done, fault: `the chain ends at seal ${before.number}, and had ${atLeast}: its end was removed` };
    const isEmpty = !head && !(await sealStore.hasUnsealed(tx, accountId));
    return { ...done, fault: isEmpty ? "there is no chain: its entries, seals and head are gone" : undefined };
  });
}
