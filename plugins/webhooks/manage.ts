/** Changes of webhooks, each in one transaction; every process knows of it before the answer. No HTTP, no SQL. */
import { invalid, notFound, type BaseContext, type Model } from "platform";
import { urgedTopic } from "./fan-out.ts";
import { clearQueue } from "./health.ts";
import { newSecret } from "./sign.ts";
import type { WebhookRow, WebhookStore } from "./store.ts";
import { sealContext, type Subscriptions } from "./subscriptions.ts";
import { merged, tokenInfo, type WebhookFields } from "./webhook.ts";

export interface Managing {
  readonly ctx: Pick<BaseContext, "transaction" | "committed" | "secrets" | "enqueue" | "broadcast">;
  readonly store: WebhookStore;
  readonly subscriptions: Pick<Subscriptions, "forget">;
  readonly models: ReadonlyMap<string, Model>;
}

export type Management = ReturnType<typeof createManagement>;

/** While a secret is rotated both sign for so long. */
const overlapSeconds = 86_400;
const maxPerAccount = 1000;

export function createManagement({ ctx, store, subscriptions, models }: Managing) {
  const sealedToken = (id: number, token: string | null | undefined) =>
    token
      ? { apiToken: ctx.secrets.seal(token, sealContext(id, "api_token")), apiTokenInfo: tokenInfo(token) }
      : { apiToken: null, apiTokenInfo: null };

  return {
    async find(accountId: number, id: number): Promise<WebhookRow> {
      const row = await store.byId(accountId, id);
      if (!row) throw notFound();
      return row;
    },

    async create(accountId: number, given: WebhookFields): Promise<{ row: WebhookRow; secret: string }> {
      const input = merged(given, models);
      const secret = newSecret();
      const row = await ctx.transaction(async (tx) => {
        const { count, id } = await store.place(tx, accountId);
        if (count >= maxPerAccount) throw invalid({ base: [`an account may have at most ${maxPerAccount} webhooks`] });
        const signingSecret = ctx.secrets.seal(secret, sealContext(id, "signing"));
        return store.insert(tx, { ...input, ...sealedToken(id, given.api_token), id, accountId, signingSecret });
      });
      await ctx.committed(() => subscriptions.forget(accountId));
      return { row, secret };
    },

    async update(accountId: number, id: number, given: WebhookFields): Promise<WebhookRow> {
      const row = await ctx.transaction(async (tx) => {
        const before = await store.lock(tx, accountId, id);
        if (!before) throw notFound();
        const input = merged(given, models, before);
        const { apiToken, apiTokenInfo } = given.api_token === undefined ? before : sealedToken(id, given.api_token);
        const revived = input.active && !before.active;
        if (before.active && !input.active) await ctx.enqueue(clearQueue, { accountId, webhookId: id }, { tx });
        return store.update(tx, accountId, id, { ...input, apiToken, apiTokenInfo, revived });
      });
      if (!row) throw notFound();
      await ctx.committed(() => subscriptions.forget(accountId));
      if (row.active) ctx.broadcast.publish(urgedTopic, `${accountId}:${id}`);
      return row;
    },

    async remove(accountId: number, id: number): Promise<void> {
      await ctx.transaction(async (tx) => {
        if (!(await store.delete(tx, accountId, id))) throw notFound();
        await ctx.enqueue(clearQueue, { accountId, webhookId: id }, { tx });
      });
      await ctx.committed(() => subscriptions.forget(accountId));
    },

    /** A new secret; the one before signs beside it for a day. */
    async rotate(accountId: number, id: number): Promise<{ row: WebhookRow; secret: string }> {
      const secret = newSecret();
      const sealed = ctx.secrets.seal(secret, sealContext(id, "signing"));
      const row = await ctx.transaction((tx) => store.rotate(tx, accountId, id, sealed, overlapSeconds));
      if (!row) throw notFound();
      await ctx.committed(() => subscriptions.forget(accountId));
      return { row, secret };
    },
  };
}
