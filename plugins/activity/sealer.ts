/**
 * Chains entries a moment after they were written, so that those who write never wait for each other. It seals up to a
 * mark once every transaction has ended that ran when the mark was made: nothing can appear below it any more.
 */
import type { BaseContext, Log, Tx } from "platform";
import type { Sealing } from "./anchors.ts";
import { signHead, signSeal, type Sign } from "./chain.ts";
import type { Inbox } from "./inbox.ts";
import type { Mark, SealStore } from "./seal-store.ts";

const everyMs = 1_000;
/** What one transaction seals. */
const mostIds = 20_000;
/** A transaction that runs for long keeps entries unsealed: the log says so. */
const lateMs = 60_000;
const tellEveryMs = 3_600_000;

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction">;
  readonly log: Log;
  readonly sealStore: SealStore;
  readonly inbox: Inbox;
  readonly sign: Sign;
  /** Tells those who follow the log, in the transaction that seals. */
  readonly tell: (tx: Tx, accountId: number, ids: readonly number[]) => Promise<void>;
  /** Keeps what was sealed outside of the database. */
  readonly keep: (sealings: readonly Sealing[]) => Promise<void>;
}

export function createSealer({ ctx, log, sealStore, inbox, sign, tell, keep }: Needed) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> = Promise.resolve();
  let mark: (Mark & { readonly since: number }) | undefined;
  let sealedTo = -1;
  let isLate = false;
  const toldAt = new Map<number, number>();

  const sealTo = async (at: Mark): Promise<boolean> => {
    const sealings: Sealing[] = [];
    const isDone = await ctx.transaction(async (tx) => {
      sealings.length = 0;
      if (!(await sealStore.isSettled(tx, at))) return false;
      const after = await sealStore.hold(tx);
      if (after === undefined) return false;
      if (after >= at.id) return true;
      const upTo = Math.min(at.id, after + mostIds);
      for (const accountId of await sealStore.accounts(tx)) {
        const found = await sealStore.unsealed(tx, accountId, after, upTo);
        if (!found) continue;
        const head = await sealStore.head(tx, accountId);
        const number = (head?.number ?? 0) + 1;
        const seal = { number, upTo, ids: found.ids, digests: found.digests };
        const signature = signSeal(sign, accountId, head?.lastSignature ?? "", seal);
        await sealStore.addSeal(tx, accountId, { ...seal, signature });
        const first = { firstNumber: head?.firstNumber ?? 0, firstSignature: head?.firstSignature ?? "" };
        const next = { ...first, number, lastSignature: signature, upTo };
        await sealStore.saveHead(tx, accountId, { ...next, signature: signHead(sign, accountId, next) });
        await tell(tx, accountId, found.ids);
        sealings.push({ accountId, before: head, number, signature });
      }
      await sealStore.sealed(tx, upTo);
      return upTo === at.id;
    });
    if (sealings.length > 0) await told(sealings);
    return isDone;
  };
  /** The log of this process is another witness. */
  const told = async (sealings: readonly Sealing[]) => {
    for (const { accountId, number, signature } of sealings) {
      if (performance.now() - (toldAt.get(accountId) ?? -Infinity) < tellEveryMs) continue;
      toldAt.set(accountId, performance.now());
      log.info("the log of activity is sealed", { account: accountId, seal: number, signature });
    }
    await keep(sealings).catch((error: unknown) =>
      log.error("DATA_DIR does not take the last seals of the log of activity", { error }),
    );
  };

  const step = async () => {
    await inbox.emptyAll();
    if (!mark) {
      const id = await sealStore.lastId();
      if (id === sealedTo) return;
      mark = { ...(await sealStore.mark(id)), since: performance.now() };
    }
    const at = mark;
    if (await sealTo(at)) {
      sealedTo = at.id;
      mark = undefined;
      isLate = false;
    } else if (!isLate && performance.now() - at.since > lateMs) {
      isLate = true;
      log.warn("entries of activity wait for a long transaction before they are sealed");
    }
  };
  const run = () => {
    running = running
      .then(step)
      .catch((error: unknown) => log.warn("entries of activity were not sealed, trying again", { error }));
    return running;
  };
  const later = () => {
    timer = setTimeout(() => void run().then(() => timer && later()), everyMs);
    timer.unref();
  };
  return {
    /** Seals all that is committed, in the process that serves: only there does anybody follow the log. */
    async sealNow(): Promise<void> {
      if (!timer) return;
      await inbox.emptyAll();
      const id = await sealStore.lastId();
      while ((await sealStore.upTo()) < id) await run();
    },
    start: later,
    async stop(): Promise<void> {
      clearTimeout(timer);
      timer = undefined;
      await running;
    },
  };
}
