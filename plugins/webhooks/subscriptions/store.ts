/** The SQL of webhooks beside the usual statements; that of deliveries is in delivery-store.ts and queue-store.ts. */
import { words, type Named, type Sql, type Tx, type Use } from "platform";
import type { WebhookRow } from "./fields.ts";
import { Webhook } from "./webhook.ts";

/** The active ones: only they send. */
export function activeWebhooks(sql: Sql, accountId: number) {
  return sql<WebhookRow[]>`
    select ${words(sql, Webhook.read)} from webhooks where account_id = ${accountId} and active order by id`;
}

/** Those whose target, or whose filter of records, is one of these. */
export async function webhooksNaming(
  sql: Sql,
  accountId: number,
  { model, keys }: Named,
  limit: number,
): Promise<readonly Use[]> {
  const kind = model === "Core::Flow" ? "flow" : "connector";
  const names = {
    "Core::Db": sql`source_type = 'Core::Record' and filter ->> 'db_code' = any(${keys})`,
    "Core::Flow": sql`target_kind = ${kind} and target_code = any(${keys})`,
    "Core::Connector": sql`target_kind = ${kind} and target_code = any(${keys})`,
  }[model];
  if (!names) return [];
  const rows = await sql<Pick<WebhookRow, "id" | "sourceType" | "kind" | "url">[]>`
    select id, source_type, kind, url from webhooks
    where account_id = ${accountId} and ${names} order by id limit ${limit}`;
  return rows.map(({ id, sourceType, kind: event, url }) => ({
    kind: "webhook",
    id,
    name: url ?? `${sourceType} ${event}`,
    path: `/account/webhooks/${id}.json`,
  }));
}

/** Held for writers of deliveries: nobody switches it off or deletes it until the transaction ends. */
export async function holdWebhook(tx: Tx, accountId: number, id: number): Promise<WebhookRow | undefined> {
  const [row] = await tx<WebhookRow[]>`
    select ${words(tx, Webhook.read)} from webhooks where account_id = ${accountId} and id = ${id} for share`;
  return row;
}

export async function rotateSecret(tx: Tx, accountId: number, id: number, secret: string, overlapSeconds: number) {
  const [row] = await tx<WebhookRow[]>`
    update webhooks set previous_secret = signing_secret, signing_secret = ${secret},
      previous_secret_until = now() + make_interval(secs => ${overlapSeconds}), version = version + 1,
      updated_at = now()
    where account_id = ${accountId} and id = ${id} returning ${words(tx, Webhook.read)}`;
  return row;
}
