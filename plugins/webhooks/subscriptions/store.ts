/** The SQL of webhooks beside the usual statements; that of deliveries is in delivery-store.ts and queue-store.ts. */
import { words, type NamedRecord, type Sql, type Tx, type Use } from "platform";
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
  { model, keys }: NamedRecord,
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

/** Notes since when it fails, or that it works again. False if that is known already. */
export async function noteFailing(sql: Sql, accountId: number, id: number, failing: boolean): Promise<boolean> {
  const result = failing
    ? await sql`
        update webhooks set failing_since = now()
        where account_id = ${accountId} and id = ${id} and failing_since is null`
    : await sql`
        update webhooks set failing_since = null
        where account_id = ${accountId} and id = ${id} and failing_since is not null`;
  return result.count > 0;
}

/** False if it is off already. */
export async function switchOffWebhook(tx: Tx, accountId: number, id: number, reason: string): Promise<boolean> {
  const result = await tx`
    update webhooks set active = false, disabled_reason = ${reason}, version = version + 1, updated_at = now()
    where account_id = ${accountId} and id = ${id} and active`;
  return result.count > 0;
}
