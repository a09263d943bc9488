/** The consequences of an attempt: when the delivery is retried, and when its webhook is switched off. behaviour B.8. */
import { createTurnsByKey, type BaseContext } from "platform";
import type { HealthStore } from "./health-store.ts";
import type { Outcome } from "./attempt.ts";
import type { ClaimedDelivery } from "./lease-store.ts";
import { nextWait, switchOffAfterMs } from "./retry.ts";
import { clearQueue } from "../signals.ts";
import type { Settled } from "./settle.ts";
import type { Hook, Subscriptions } from "../subscriptions/subscriptions.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "enqueue" | "log">;
  readonly healthStore: HealthStore;
  readonly subscriptions: Pick<Subscriptions, "forget" | "peek">;
  readonly waits: readonly number[];
}

export function createHealth({ ctx, healthStore, subscriptions, waits }: Needed) {
  // Failures of one webhook that end together are noted one after another.
  const noting = createTurnsByKey<number>();

  const switchOff = async ({ row }: Hook, reason: string) => {
    const { accountId, id } = row;
    const switched = await ctx.transaction(async (tx) => {
      if (!(await healthStore.switchOff(tx, accountId, id, reason))) return false;
      await ctx.enqueue(clearQueue, { accountId, webhookId: id }, { tx });
      return true;
    });
    if (!switched) return;
    ctx.log.warn("a webhook was switched off", { webhook: id, reason });
    await subscriptions.forget(accountId);
  };
  const note = async (sentBy: Hook, outcome: Outcome) => {
    const hook = subscriptions.peek(sentBy.row.accountId, sentBy.row.id) ?? sentBy;
    const { accountId, id, failingSince } = hook.row;
    if (outcome.gone) return switchOff(hook, "the receiver answered 410 Gone");
    if (!outcome.ok && failingSince && outcome.attemptedAt.getTime() - failingSince.getTime() >= switchOffAfterMs)
      return switchOff(hook, `nothing but failures since ${failingSince.toISOString()}; the last: ${outcome.error}`);
    if (outcome.ok === (failingSince === null)) return;
    if (await healthStore.note(accountId, id, !outcome.ok)) await subscriptions.forget(accountId);
  };

  return {
    switchOff,

    judge(
      { attempts, attemptsBefore }: Pick<ClaimedDelivery, "attempts" | "attemptsBefore">,
      outcome: Outcome,
    ): Settled {
      if (outcome.ok) return { status: "delivered", delaySeconds: 0 };
      const wait = outcome.gone ? undefined : nextWait(waits, attempts - attemptsBefore + 1, outcome.retryAfterSeconds);
      return wait === undefined ? { status: "failed", delaySeconds: 0 } : { status: "pending", delaySeconds: wait };
    },

    async note(hook: Hook, outcome: Outcome): Promise<void> {
      const { id, failingSince } = hook.row;
      if (!noting.busy(id) && outcome.ok && failingSince === null) return;
      await noting.run(id, () => note(hook, outcome));
    },
  };
}
