/** What people do with a webhook beside the usual calls. No HTTP, no SQL. */
import { change, found, notFound, type ContextOf, type Caller, type Changed, type Ref } from "platform";
import type { fields, WebhookFields, WebhookRow } from "./fields.ts";
import { makerOf, mustManage } from "./rights.ts";
import { newSecret, sealContext } from "./sign.ts";
import { rotateSecret } from "./store.ts";
import { Outdated, Webhook, type WebhookAt } from "./webhook.ts";

export type Management = ContextOf<WebhookAt>;

/** After a rotation, both secrets sign for this long. */
const overlapSeconds = 86_400;

/** Throws the 403 if the webhook carries more than the caller may see. */
export async function findManaged(around: Management, caller: Caller, id: number): Promise<WebhookRow> {
  const row = await found(Webhook, { ...around, caller }, { id });
  mustManage(around.rights, caller, row, await makerOf(around.rights, row));
  return row;
}

/** The usual change. Its maker is looked up before it: in the transaction that would need a second connection. */
export async function changeWebhook(
  at: WebhookAt,
  ref: Ref<"integer">,
  given: WebhookFields,
  expected: (id: number) => number | undefined,
): Promise<{ [K in keyof Changed<typeof fields, "integer">]: WebhookRow }> {
  for (;;) {
    const seen = await found(Webhook, at, ref);
    const maker = { id: seen.createdById, able: await makerOf(at.rights, seen) };
    try {
      return await change(Webhook, { ...at, maker }, ref, given, expected);
    } catch (error) {
      if (!(error instanceof Outdated)) throw error;
    }
  }
}

/** A new secret; the previous one signs beside it for a day. */
export async function rotate(around: Management, caller: Caller, id: number): Promise<WebhookRow> {
  const { accountId } = await findManaged(around, caller, id);
  const sealed = around.secrets.seal(newSecret(), sealContext(id, "signing"));
  const row = await around.transaction((tx) => rotateSecret(tx, accountId, id, sealed, overlapSeconds));
  if (!row) throw notFound();
  await around.committed(() => around.forget(accountId));
  return row;
}

/** The signing secret in plain text, for the answers that show a new one. */
export function secretOf({ secrets }: Pick<WebhookAt, "secrets">, { id, signingSecret }: WebhookRow): string {
  return secrets.open(signingSecret, sealContext(id, "signing"));
}
