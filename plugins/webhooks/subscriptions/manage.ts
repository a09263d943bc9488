/** Changes of webhooks, each in one transaction. Every process knows of a change before it is answered. No HTTP, no SQL. */
import { invalid, mustMatch, notFound, unknownNames, type BaseContext, type Caller, type Model } from "platform";
import type { Able, Rights } from "./rights.ts";
import { newSecret } from "./sign.ts";
import { clearQueue, urgedTopic } from "../signals.ts";
import type { WebhookInput, WebhookRow, WebhookStore } from "./store.ts";
import { sealContext, type Subscriptions } from "./subscriptions.ts";
import { merged, tokenInfo, type WebhookFields } from "./webhook.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "committed" | "secrets" | "enqueue" | "broadcast">;
  readonly webhookStore: WebhookStore;
  readonly subscriptions: Pick<Subscriptions, "forget">;
  readonly models: ReadonlyMap<string, Model>;
  readonly rights: Rights;
}

export type Management = ReturnType<typeof createManagement>;

/** After a rotation, both secrets sign for this long. */
const overlapSeconds = 86_400;
const maxPerAccount = 1000;

export function createManagement({ ctx, webhookStore, subscriptions, models, rights }: Needed) {
  const find = async (accountId: number, id: number): Promise<WebhookRow> => {
    const row = await webhookStore.byId(accountId, id);
    if (!row) throw notFound();
    return row;
  };

  /** Throws the 403 if the webhook carries more than the caller may see. */
  const findManaged = async (caller: Caller, id: number): Promise<WebhookRow> => {
    const row = await find(caller.account.id, id);
    rights.mustManage(caller, row, await rights.makerOf(row));
    return row;
  };

  /** Throws the 403 if the webhook is, or becomes, more than the caller may have. */
  const mustBeTheirs = (caller: Caller, before: WebhookRow, after: WebhookInput, maker: Able | undefined): void => {
    rights.mustManage(caller, before, maker);
    rights.mustFollow(caller, after.sourceType);
    rights.mustReach(caller, after, before);
  };

  return {
    find,
    findManaged,

    /** Names the keys of a saved filter that records of a known model never have: nothing would ever be sent. */
    hints({ sourceType, filter }: WebhookRow, given: WebhookFields): string[] {
      const model = models.get(sourceType);
      if (!model || model.anyKeys || (given.filter === undefined && given.source_type === undefined)) return [];
      const known = Object.keys(model.sample);
      return unknownNames(Object.keys(filter ?? {}), known, (name) => `filter: ${sourceType} has no "${name}"`);
    },

    async create(caller: Caller, given: WebhookFields): Promise<{ row: WebhookRow; secret: string }> {
      const accountId = caller.account.id;
      const input = merged(given, models);
      rights.mustFollow(caller, input.sourceType);
      rights.mustReach(caller, input);
      const secret = newSecret();
      const row = await ctx.transaction(async (tx) => {
        const { count, id } = await webhookStore.place(tx, accountId);
        if (count >= maxPerAccount) throw invalid({ base: [`an account may have at most ${maxPerAccount} webhooks`] });
        const signingSecret = ctx.secrets.seal(secret, sealContext(id, "signing"));
        return webhookStore.insert(tx, {
          ...input,
          ...sealedToken(ctx.secrets, id, given.api_token ?? null),
          id,
          accountId,
          createdById: caller.user.id,
          signingSecret,
        });
      });
      await ctx.committed(() => subscriptions.forget(accountId));
      return { row, secret };
    },

    /** `expected` is the version that the caller has seen; undefined = any. */
    async update(caller: Caller, id: number, given: WebhookFields, expected?: number): Promise<WebhookRow> {
      const accountId = caller.account.id;
      for (;;) {
        const seen = await find(accountId, id);
        // Asked before the transaction: inside it, this query would need a second connection, and none may be left.
        const maker = await rights.makerOf(seen);
        const row = await ctx.transaction(async (tx) => {
          const before = await webhookStore.lock(tx, accountId, id);
          if (!before) throw notFound();
          // Its maker has changed since: look again.
          if (before.createdById !== seen.createdById) return undefined;
          mustMatch(before, expected);
          const input = merged(given, models, before);
          const off = onlySwitchesOff(given);
          if (!off) mustBeTheirs(caller, before, input, maker);
          // The caller becomes its maker if it has none, or now follows another model.
          const stays = off || (maker !== undefined && input.sourceType === before.sourceType);
          const createdById = stays ? before.createdById : caller.user.id;
          const token = given.api_token === undefined ? before : sealedToken(ctx.secrets, id, given.api_token);
          const { apiToken, apiTokenInfo } = token;
          const revived = input.active && !before.active;
          if (before.active && !input.active) await ctx.enqueue(clearQueue, { accountId, webhookId: id }, { tx });
          return webhookStore.update(tx, accountId, id, { ...input, createdById, apiToken, apiTokenInfo, revived });
        });
        if (!row) continue;
        await ctx.committed(() => subscriptions.forget(accountId));
        if (row.active) ctx.broadcast.publish(urgedTopic, `${accountId}:${id}`);
        return row;
      }
    },

    async remove(accountId: number, id: number, expected?: number): Promise<void> {
      await ctx.transaction(async (tx) => {
        const before = await webhookStore.lock(tx, accountId, id);
        if (!before) throw notFound();
        mustMatch(before, expected);
        await webhookStore.delete(tx, accountId, id);
        await ctx.enqueue(clearQueue, { accountId, webhookId: id }, { tx });
      });
      await ctx.committed(() => subscriptions.forget(accountId));
    },

    /** A new secret; the previous one signs beside it for a day. */
    async rotate(caller: Caller, id: number): Promise<{ row: WebhookRow; secret: string }> {
      const { accountId } = await findManaged(caller, id);
      const secret = newSecret();
      const sealed = ctx.secrets.seal(secret, sealContext(id, "signing"));
      const row = await ctx.transaction((tx) => webhookStore.rotate(tx, accountId, id, sealed, overlapSeconds));
      if (!row) throw notFound();
      await ctx.committed(() => subscriptions.forget(accountId));
      return { row, secret };
    },
  };
}

/** Everybody who sees a webhook may switch it off: that can only limit damage. */
function onlySwitchesOff(given: WebhookFields): boolean {
  return given.active === false && Object.keys(given).length === 1;
}

function sealedToken(secrets: BaseContext["secrets"], id: number, token: string | null) {
  if (!token) return { apiToken: null, apiTokenInfo: null };
  return { apiToken: secrets.seal(token, sealContext(id, "api_token")), apiTokenInfo: tokenInfo(token) };
}
