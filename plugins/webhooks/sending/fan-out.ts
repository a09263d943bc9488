/** An event becomes one delivery for each webhook that follows it. */
import { batched, currentCausation, failpoint, uuidv7, type BaseContext, type ModelEvent } from "platform";
import type { Webhooks } from "../context.ts";
import { dueTopic } from "../signals.ts";
import { refusal } from "../subscriptions/rights.ts";
import { following, type Hook } from "../subscriptions/subscriptions.ts";
import { switchOff } from "./health.ts";
import { insertDeliveries, promote, type NewDelivery } from "./queue-store.ts";

/** Writes deliveries, those of many changes in one statement. */
export function deliveryWriter({ sql, broadcast }: Pick<BaseContext, "sql" | "broadcast">): Webhooks["write"] {
  return batched(
    async (all: readonly (readonly NewDelivery[])[]) => {
      const rows = all.flat();
      for (const part of inParts(rows)) await insertDeliveries(sql, part);
      // Deliveries of one key see each other only after the commit.
      const ordered = rows.flatMap(({ webhookId, orderKey }) => (orderKey === null ? [] : [{ webhookId, orderKey }]));
      if (ordered.length > 0) await promote(sql, ordered);
      for (const place of new Set(rows.map(({ accountId, webhookId }) => `${accountId}:${webhookId}`)))
        broadcast.publish(dueTopic, place);
      return all.map(() => true);
    },
    { most: 200 },
  );
}

export async function fanOut(webhooks: Webhooks, change: ModelEvent, eventId: number): Promise<void> {
  const { accountId, sourceType, kind, id } = change;
  const hooks: Hook[] = [];
  for (const hook of await following(webhooks.subscriptions, change))
    if (await isAllowed(webhooks, hook, change)) hooks.push(hook);
  failpoint("webhooks.event-claimed");
  if (hooks.length === 0) return;
  const body = JSON.stringify(change.data);
  const messageId = `msg_${uuidv7().replaceAll("-", "")}`;
  const causation = currentCausation();
  await webhooks.write(
    hooks.map(({ row }) => ({
      accountId,
      webhookId: row.id,
      eventId,
      messageId,
      sourceType,
      kind,
      orderKey: row.ordered ? String(id) : null,
      body,
      causation,
    })),
  );
  failpoint("webhooks.deliveries-written");
}

/** Without the right to follow this model, the webhook is switched off. A record that it may not have is skipped. */
async function isAllowed(webhooks: Webhooks, hook: Hook, { sourceType, data }: ModelEvent): Promise<boolean> {
  const refused = await refusal(webhooks.rights, hook.row, sourceType, () => data);
  if (refused?.whole) await switchOff(webhooks, hook, refused.reason);
  return refused === undefined;
}

const mostRows = 1000;
const mostChars = 8_000_000;

/** A large record goes to many webhooks in several statements. */
function* inParts(rows: readonly NewDelivery[]): Generator<readonly NewDelivery[]> {
  let from = 0;
  let chars = 0;
  for (const [at, { body }] of rows.entries()) {
    if (at > from && (at - from === mostRows || chars + body.length > mostChars)) {
      yield rows.slice(from, at);
      from = at;
      chars = 0;
    }
    chars += body.length;
  }
  if (from < rows.length) yield rows.slice(from);
}
