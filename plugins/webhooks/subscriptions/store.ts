/** The SQL of webhooks beside the usual statements; that of deliveries is in delivery-store.ts and queue-store.ts. */
import {
  newestJob,
  words,
  type ModelEvent,
  type NamedRecord,
  type Queryable,
  type Sql,
  type Tx,
  type Use,
} from "platform";
import type { Filter } from "./match.ts";
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

/** A step of a process that waits for an event. */
export interface WaitRow {
  readonly accountId: number;
  readonly processId: string;
  readonly stepKey: string;
  readonly flowCode: string;
  /** `made`: a process of the server may still take the account for one without waits. */
  readonly status: "made" | "open" | "come" | "expired";
  readonly sourceType: string;
  readonly kind: string;
  readonly filter: Filter;
  readonly changed: readonly string[] | null;
  readonly authors: readonly (number | null)[];
  readonly data: unknown;
  readonly expiresAt: Date;
}
const waitColumns =
  "account_id, process_id, step_key, flow_code, status, source_type, kind, filter, changed, authors, data, expires_at";

type WaitKey = Pick<WaitRow, "accountId" | "processId" | "stepKey">;

const isStep = (on: Queryable, { accountId, processId, stepKey }: WaitKey) =>
  on`account_id = ${accountId} and process_id = ${processId} and step_key = ${stepKey}`;

export async function findWait(sql: Sql, key: WaitKey): Promise<WaitRow | undefined> {
  const [row] = await sql<WaitRow[]>`select ${words(sql, waitColumns)} from flow_waits where ${isStep(sql, key)}`;
  return row;
}

export async function insertWait(
  sql: Sql,
  wait: Omit<WaitRow, "status" | "data"> & { readonly token: string },
): Promise<void> {
  const { filter, changed, authors, ...row } = wait;
  const json = (value: unknown) => sql`${value === null ? null : JSON.stringify(value)}::text::json`;
  await sql`
    insert into flow_waits (account_id, process_id, step_key, flow_code, source_type, kind, token, expires_at, filter,
      changed, authors)
    values (${row.accountId}, ${row.processId}, ${row.stepKey}, ${row.flowCode}, ${row.sourceType}, ${row.kind},
      ${row.token}, ${row.expiresAt}, ${json(filter)}, ${json(changed)}, ${json(authors)})
    on conflict do nothing`;
}

/** False if it has another status by now. Once it is open, events count that are written by later jobs. */
export async function markWait(
  on: Sql | Tx,
  key: WaitKey,
  [from, to]: readonly [WaitRow["status"], WaitRow["status"]],
  data: string | null = null,
): Promise<boolean> {
  const since = to === "open" ? on`(${newestJob(on)})` : on`after_job`;
  const { count } = await on`
    update flow_waits set status = ${to}, data = ${data}::text::json, after_job = ${since}
    where ${isStep(on, key)} and status = ${from}`;
  return count > 0;
}

/** Whether any step of the account waits. */
export async function anyWait(sql: Sql, accountId: number): Promise<boolean> {
  const rows = await sql`
    select from flow_waits where account_id = ${accountId} and status in ('made', 'open') and expires_at > now() limit 1`;
  return rows.length > 0;
}

/** Those that an event of this job may be for. */
export function waitsFor(sql: Sql, event: ModelEvent, tokens: readonly string[], jobId: number) {
  return sql<WaitRow[]>`
    select ${words(sql, waitColumns)} from flow_waits
    where account_id = ${event.accountId} and source_type = ${event.sourceType} and kind = ${event.kind}
      and token = any(${[...tokens]}::text[]) and status = 'open' and after_job < ${jobId} and expires_at > now()`;
}

/** Of a step that has failed, or of a process that has ended. */
export async function removeWaits(
  on: Queryable,
  accountId: number,
  processId: string,
  stepKey?: string,
): Promise<void> {
  const step = stepKey === undefined ? on`` : on`and step_key = ${stepKey}`;
  await on`delete from flow_waits where account_id = ${accountId} and process_id = ${processId} ${step}`;
}

/** Those of processes that ended without having been parked. */
export async function pruneWaits(sql: Sql, days: number): Promise<void> {
  await sql`delete from flow_waits where expires_at < now() - make_interval(days => ${days})`;
}
