/**
 * Chains entries a moment after they were written, so that those who write never wait for each other. It seals up to a
 * mark once every transaction has ended that ran when the mark was made: nothing can appear below it any more.
 */
import { activityCause, modelChanged, setting, withCausation, type Tx } from "platform";
import { moveAnchors, type SealResult } from "./anchors.ts";
import { signHead, signSeal } from "./chain.ts";
import type { ActivityContext } from "./context.ts";
import { emptyInboxes } from "./inbox.ts";
import type { Mark } from "./seal-store.ts";
import * as sealStore from "./seal-store.ts";
import { toApi } from "./store.ts";
import * as activityStore from "./store.ts";

const everyMs = 1_000;
/** Maximum number of entries sealed in one transaction. */
const mostIds = 20_000;
/** A transaction that runs for long keeps entries unsealed: the log says so. */
const lateMs = 60_000;
const tellEveryMs = 3_600_000;

export function createSealer(ctx: ActivityContext) {
  const { log } = ctx;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> = Promise.resolve();
  let mark: (Mark & { readonly since: number }) | undefined;
  let sealedTo = -1;
  let isLate = false;
  const toldAt = new Map<number, number>();

  const sealTo = async (at: Mark): Promise<boolean> => {
    const sealings: SealResult[] = [];
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
        const head = await sealStore.headOf(tx, accountId);
        const number = (head?.number ?? 0) + 1;
        const seal = { number, upTo, ids: found.ids, digests: found.digests };
        const signature = signSeal(ctx.sign, accountId, head?.lastSignature ?? "", seal);
        await sealStore.addSeal(tx, accountId, { ...seal, signature });
        const first = { firstNumber: head?.firstNumber ?? 0, firstSignature: head?.firstSignature ?? "" };
        const next = { ...first, number, lastSignature: signature, upTo };
        await sealStore.saveHead(tx, accountId, { ...next, signature: signHead(ctx.sign, accountId, next) });
        await tellFollowers(ctx, tx, accountId, found.ids);
        sealings.push({ accountId, before: head, number, signature });
      }
      await sealStore.sealed(tx, upTo);
      return upTo === at.id;
    });
    if (sealings.length > 0) await told(sealings);
    return isDone;
  };
  /** The log of this process is another witness. */
  const told = async (sealings: readonly SealResult[]) => {
    for (const { accountId, number, signature } of sealings) {
      if (performance.now() - (toldAt.get(accountId) ?? -Infinity) < tellEveryMs) continue;
      toldAt.set(accountId, performance.now());
      log.info("the log of activity is sealed", { account: accountId, seal: number, signature });
    }
    await moveAnchors(ctx, sealings).catch((error: unknown) =>
      log.error("DATA_DIR does not take the last seals of the log of activity", { error }),
    );
  };

  const step = async () => {
    await emptyInboxes(ctx);
    if (!mark) {
      const id = await sealStore.lastId(ctx.sql);
      if (id === sealedTo) return;
      mark = { ...(await sealStore.mark(ctx.sql, id)), since: performance.now() };
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
      await emptyInboxes(ctx);
      const id = await sealStore.lastId(ctx.sql);
      while ((await sealStore.sealedUpTo(ctx.sql)) < id) await run();
    },
    start: later,
    async stop(): Promise<void> {
      clearTimeout(timer);
      timer = undefined;
      await running;
    },
  };
}

type Retaining = Pick<ActivityContext, "accounts" | "sign" | "sql" | "stopping" | "transaction">;

// Forgetting: the chain then begins at the last seal that was forgotten.

/** Only administrators change it: nobody else forgets what they did. */
export const accountSettings = {
  days: setting.adminOnly(
    setting.integer("activity_days", 365, "Days that the log of activity goes back", { min: 1, max: 36_500 }),
  ),
};

/** Forgets entries that are older than their account keeps them, seal by seal. */
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

/** Sends entries to the webhooks on `Core::Activity` once they are sealed. */
export const streamedModel = "Core::Activity";

/** Fields of a filter, unknown before the entries are read. */
const unknown = {
  action: undefined,
  model: undefined,
  record_id: undefined,
  name: undefined,
  actor: undefined,
  user_id: undefined,
  token_id: undefined,
};

export async function tellFollowers(
  ctx: ActivityContext,
  tx: Tx,
  accountId: number,
  ids: readonly number[],
): Promise<void> {
  const head = { accountId, sourceType: streamedModel, kind: "create" };
  if (!ctx.wanted(modelChanged, { ...head, id: 0, data: unknown })) return;
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const { rows, next } = await activityStore.toTell(ctx, tx, accountId, ids, { limit: ids.length, offset });
    for (const row of rows) {
      const data = { ...toApi(row), sealed: true };
      const cause = { id: `activity-${row.id}`, depth: 0, chain: [activityCause] };
      await withCausation(cause, () => ctx.changed({ ...head, id: row.id, data }, tx));
    }
    offset = next;
  }
}
