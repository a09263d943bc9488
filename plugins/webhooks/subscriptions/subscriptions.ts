/**
 * The active webhooks of each account, kept in memory: every change of any record asks whether somebody follows it. Every
 * process has the new ones before a change of a webhook is answered (`forgetHooks`).
 */
import type { BaseContext, Cache, ModelEvent } from "platform";
import { isChanged, mayMatch, matches } from "./match.ts";
import type { WebhookRow } from "./fields.ts";
import { importSecret, sealContext } from "./sign.ts";
import { activeWebhooks } from "./store.ts";

/** An active webhook, ready to send. */
export interface Hook {
  readonly row: WebhookRow;
  readonly apiToken: string | null;
  /** The secret, and while it is rotated the previous one with its end (Unix milliseconds). */
  readonly keys: readonly { readonly key: CryptoKey; readonly until: number }[];
  /** Why it cannot send: its secrets were sealed with another key. */
  readonly fault: string | null;
}

interface Hooks {
  readonly byId: ReadonlyMap<number, Hook>;
  readonly byEvent: ReadonlyMap<string, readonly Hook[]>;
}

type Event = Pick<ModelEvent, "accountId" | "sourceType" | "kind" | "data" | "changed">;

export type Subscriptions = Cache<Hooks>;

interface SubscribedContext extends Pick<BaseContext, "broadcast"> {
  readonly subscriptions: Subscriptions;
}

const accountsKept = 2000;
const readTopic = "webhooks.read";

/** By account. */
export function openSubscriptions(
  ctx: Pick<BaseContext, "sql" | "cache" | "secrets" | "log" | "broadcast">,
): Subscriptions {
  const cache = ctx.cache<Hooks>({
    name: "webhooks",
    max: accountsKept,
    load: async (accountId) => {
      const rows = await activeWebhooks(ctx.sql, Number(accountId));
      return indexed(await Promise.all(rows.map((row) => readied(ctx, row))));
    },
  });
  // Read at once, not on the next use: until then every change would count as followed.
  ctx.broadcast.on(readTopic, (accountId, fromOtherProcess) => {
    if (fromOtherProcess) void cache.get(accountId).catch(() => {}); // then the next change reads them
  });
  return cache;
}

/**
 * Whether a webhook may follow this change; yes if that is not known. Also asked before the write, with the part of
 * `data` that is known by then.
 */
export function isWanted(all: Subscriptions, { accountId, sourceType, kind, data, changed }: Event): boolean {
  const hooks = all.peek(`${accountId}`);
  if (!hooks) return true;
  const may = ({ row }: Hook) => isChanged(row.changed, changed) && mayMatch(row.filter, data);
  return hooks.byEvent.get(keyOf(sourceType, kind))?.some(may) ?? false;
}

/** Whether a webhook that keeps the order may follow this change; true if that is not known. */
export function isOrdered(all: Subscriptions, { accountId, sourceType, kind }: Event): boolean {
  const hooks = all.peek(`${accountId}`);
  if (!hooks) return true;
  return hooks.byEvent.get(keyOf(sourceType, kind))?.some(({ row }) => row.ordered) ?? false;
}

/** The webhooks that this change goes to. */
export async function following(all: Subscriptions, event: Event): Promise<Hook[]> {
  const { accountId, sourceType, kind, data, changed } = event;
  const { byEvent } = await hooksOf(all, accountId);
  return (byEvent.get(keyOf(sourceType, kind)) ?? []).filter(
    ({ row }) => isChanged(row.changed, changed) && matches(row.filter, data),
  );
}

/** Undefined if it is off or gone; null if it has to be loaded first. */
export function peekHook(all: Subscriptions, accountId: number, webhookId: number): Hook | undefined | null {
  const hooks = all.peek(`${accountId}`);
  return hooks ? hooks.byId.get(webhookId) : null;
}

export async function hookOf(all: Subscriptions, accountId: number, webhookId: number): Promise<Hook | undefined> {
  return (await hooksOf(all, accountId)).byId.get(webhookId);
}

/** Called after a change has committed. When it resolves, no process uses the old ones, and all read the new ones. */
export async function forgetHooks(ctx: SubscribedContext, accountId: number): Promise<void> {
  await ctx.subscriptions.invalidate(`${accountId}`);
  ctx.broadcast.publish(readTopic, `${accountId}`);
  await hooksOf(ctx.subscriptions, accountId);
}

async function hooksOf(all: Subscriptions, accountId: number): Promise<Hooks> {
  return (await all.get(`${accountId}`)) ?? indexed([]);
}

const keyOf = (sourceType: string, kind: string) => `${sourceType} ${kind}`;

function indexed(hooks: readonly Hook[]): Hooks {
  const byEvent = new Map<string, Hook[]>();
  for (const hook of hooks) {
    const key = keyOf(hook.row.sourceType, hook.row.kind);
    byEvent.set(key, [...(byEvent.get(key) ?? []), hook]);
  }
  return { byId: new Map(hooks.map((hook) => [hook.row.id, hook])), byEvent };
}

async function readied({ secrets, log }: Pick<BaseContext, "secrets" | "log">, row: WebhookRow): Promise<Hook> {
  const keyFor = async (sealed: string, until: number) => ({
    key: await importSecret(secrets.open(sealed, sealContext(row.id, "signing"))),
    until,
  });
  // A previous secret that does not open is ignored: it has been replaced, maybe for this very reason.
  const previousKey = async ({ previousSecret, previousSecretUntil: until }: WebhookRow) =>
    previousSecret && until ? keyFor(previousSecret, until.getTime()).catch(() => undefined) : undefined;
  try {
    const previous = await previousKey(row);
    const keys = [await keyFor(row.signingSecret, Infinity), ...(previous ? [previous] : [])];
    const apiToken = row.apiToken === null ? null : secrets.open(row.apiToken, sealContext(row.id, "api_token"));
    return { row, apiToken, keys, fault: null };
  } catch (error) {
    log.error("the secrets of a webhook cannot be opened", { webhook: row.id, error });
    return {
      row,
      apiToken: null,
      keys: [],
      fault:
        "its secrets cannot be opened (was SECRET_KEY changed?): rotate the signing secret, and set api_token again if it has one",
    };
  }
}
