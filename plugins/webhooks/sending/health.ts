/** The consequences of an attempt: when the delivery is retried, and when its webhook is switched off. behaviour B.8. */
import type { Webhooks } from "../context.ts";
import { clearQueue } from "../signals.ts";
import { noteFailing, switchOffWebhook } from "../subscriptions/store.ts";
import { forgetHooks, peekHook, type Hook } from "../subscriptions/subscriptions.ts";
import type { Outcome } from "./attempt.ts";
import type { ClaimedDelivery, Settlement } from "./queue-store.ts";

/** About 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h. */
export const standardWaits = "5,300,1800,7200,18000,36000,36000";
const maxRetryAfterSeconds = 86_400;
const switchOffAfterMs = 5 * 86_400_000;

/** Reads a list of seconds, e.g. `5,300,1800`. Throws an Error that says what is wrong. */
export function parseWaits(text: string): readonly number[] {
  const waits = text.split(",").map((part) => part.trim());
  if (waits.length <= 20 && waits.every((part) => /^\d{1,6}(\.\d{1,3})?$/.test(part))) return waits.map(Number);
  throw new Error("must be at most 20 numbers of seconds, separated by commas");
}

/**
 * Seconds until the next attempt after the `failures`th failure, or undefined after the last one. Up to a tenth more
 * or less, so that deliveries that failed together are not retried together; never sooner than the receiver asked.
 */
export function nextWait(
  waits: readonly number[],
  failures: number,
  retryAfterSeconds: number | null,
  random = Math.random(),
): number | undefined {
  const wait = waits[failures - 1];
  if (wait === undefined) return undefined;
  const asked = Math.min(retryAfterSeconds ?? 0, maxRetryAfterSeconds);
  return Math.max(wait * (0.9 + random / 5), asked * (1 + random / 50));
}

/** The status after an attempt, and the time of the next one. */
export function judge(
  waits: readonly number[],
  { attempts, attemptsBefore }: Pick<ClaimedDelivery, "attempts" | "attemptsBefore">,
  outcome: Outcome,
): Pick<Settlement, "status" | "delaySeconds"> {
  if (outcome.ok) return { status: "delivered", delaySeconds: 0 };
  const wait = outcome.gone ? undefined : nextWait(waits, attempts - attemptsBefore + 1, outcome.retryAfterSeconds);
  return wait === undefined ? { status: "failed", delaySeconds: 0 } : { status: "pending", delaySeconds: wait };
}

/** Notes how the webhook is, once an attempt is written down. */
export async function noteHealth(webhooks: Webhooks, hook: Hook, outcome: Outcome): Promise<void> {
  const { id, failingSince } = hook.row;
  if (!webhooks.noting.busy(id) && outcome.ok && failingSince === null) return;
  await webhooks.noting.run(id, () => note(webhooks, hook, outcome));
}

async function note(webhooks: Webhooks, sentBy: Hook, outcome: Outcome): Promise<void> {
  const { subscriptions, sql } = webhooks;
  const hook = peekHook(subscriptions, sentBy.row.accountId, sentBy.row.id) ?? sentBy;
  const { accountId, id, failingSince } = hook.row;
  if (outcome.gone) return switchOff(webhooks, hook, "the receiver answered 410 Gone");
  if (!outcome.ok && failingSince && outcome.attemptedAt.getTime() - failingSince.getTime() >= switchOffAfterMs)
    return switchOff(
      webhooks,
      hook,
      `nothing but failures since ${failingSince.toISOString()}; the last: ${outcome.error}`,
    );
  if (outcome.ok === (failingSince === null)) return;
  if (await noteFailing(sql, accountId, id, !outcome.ok)) await forgetHooks(webhooks, accountId);
}

export async function switchOff(webhooks: Webhooks, { row }: Hook, reason: string): Promise<void> {
  const { accountId, id } = row;
  const switched = await webhooks.transaction(async (tx) => {
    if (!(await switchOffWebhook(tx, accountId, id, reason))) return false;
    await webhooks.enqueue(clearQueue, { accountId, webhookId: id }, { tx });
    return true;
  });
  if (!switched) return;
  webhooks.log.warn("a webhook was switched off", { webhook: id, reason });
  await forgetHooks(webhooks, accountId);
}
