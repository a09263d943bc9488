/** Sends one delivery that this process holds, and has its outcome written down. No SQL. */
import { failpoint, type Log } from "platform";
import type { Attempt, Outcome } from "./attempt.ts";
import type { Held, Holding } from "./holding.ts";
import { answered } from "./lane.ts";
import type { ClaimedDelivery, Counted } from "./lease-store.ts";
import type { Settled, Settler } from "./settle.ts";
import type { Hook } from "../subscriptions/subscriptions.ts";

export interface SendingNeeded {
  readonly attempt: Attempt;
  readonly holding: Pick<Holding, "drop">;
  readonly settler: Pick<Settler, "settle" | "release">;
  readonly log: Log;
  /** The consequence of an attempt: the status, and the time of the next one. */
  readonly judge: (hook: Hook, delivery: ClaimedDelivery, outcome: Outcome) => Settled;
  /** Told after an attempt was written down. */
  readonly settled: (hook: Hook, outcome: Outcome) => Promise<void>;
  readonly isStopped: () => boolean;
}

export type Sending = ReturnType<typeof createSending>;

/** Resolves when the receiver has answered, not only when that is written. */
export function createSending({ attempt, holding, settler, log, judge, settled, isStopped }: SendingNeeded) {
  const finish = async (
    hook: Hook,
    delivery: ClaimedDelivery,
    outcome: Outcome,
    counted: Counted | null,
    mine: Held,
  ) => {
    const what = judge(hook, delivery, outcome);
    const written = await settler.settle(hook.row.accountId, delivery, what, outcome, counted);
    holding.drop(delivery.id, mine);
    if (written)
      await settled(hook, outcome).catch((error: unknown) => log.warn("a webhook's health was not noted", { error }));
  };

  return async (hook: Hook, delivery: ClaimedDelivery, mine: Held): Promise<void> => {
    const { lane, controller } = mine;
    const { webhookId, state } = lane;
    const counted = hook.row.rateLimit === null ? null : { accountId: hook.row.accountId, webhookId, slot: state.slot };
    try {
      const outcome = await attempt(hook, delivery, controller.signal);
      failpoint("webhooks.answered");
      mine.settling = true;
      lane.state = answered(lane.state, outcome, performance.now());
      void finish(hook, delivery, outcome, counted, mine);
    } catch {
      holding.drop(delivery.id); // the process stops, or another one has it now
      if (isStopped()) settler.release(delivery.id, counted);
    }
  };
}
