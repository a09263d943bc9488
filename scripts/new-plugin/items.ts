/** What happens to items: no HTTP, no SQL. */
import { notFound, preconditionFailed, uuidv7, type BaseContext } from "platform";
import { itemSaved } from "./api.ts";
import { toApi, type ItemInput, type ItemRow, type ItemStore } from "./store.ts";

type Kind = "create" | "update" | "destroy";

export type Items = ReturnType<typeof createItems>;

export function createItems(ctx: Pick<BaseContext, "transaction" | "changed" | "emit">, store: ItemStore) {
  return {
    create: (accountId: number, input: ItemInput): Promise<ItemRow> =>
      ctx.transaction(async (tx) => {
        const row = await store.insert(tx, accountId, uuidv7(), input);
        await ctx.changed(changeOf(accountId, "create", row), tx);
        await ctx.emit(itemSaved, { accountId, ...row }, tx);
        return row;
      }),

    /** 412 where `expected` is no longer the item's version. */
    update: (accountId: number, id: string, input: Partial<ItemInput>, expected?: number): Promise<ItemRow> =>
      ctx.transaction(async (tx) => {
        const row = await store.update(tx, accountId, id, input, expected);
        if (!row) throw (await store.byId(accountId, id)) ? preconditionFailed() : notFound();
        await ctx.changed(changeOf(accountId, "update", row), tx);
        await ctx.emit(itemSaved, { accountId, ...row }, tx);
        return row;
      }),

    remove: (accountId: number, id: string): Promise<void> =>
      ctx.transaction(async (tx) => {
        const row = await store.remove(tx, accountId, id);
        if (!row) throw notFound();
        await ctx.changed(changeOf(accountId, "destroy", row), tx);
      }),
  };
}

export function countWords(text: string): number {
  return text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
}

/** Webhooks and flows follow what is said here; it is written in the transaction of the change. */
function changeOf(accountId: number, kind: Kind, row: ItemRow) {
  return { accountId, sourceType: "SamplePlugin::Item", kind, id: row.id, data: toApi(row) };
}
