/** What happens to items: no HTTP, no SQL. */
import { notFound, preconditionFailed, uuidv7, type BaseContext, type ModelEvent, type Tx } from "platform";
import * as itemStore from "./store.ts";
import type { ItemRow, ItemValues } from "./store.ts";

export interface Author {
  readonly accountId: number;
  readonly userId: number;
}

type Context = Pick<BaseContext, "transaction" | "changed">;

export function create(ctx: Context, { accountId, userId }: Author, { title, text }: WithoutNull): Promise<ItemRow> {
  return ctx.transaction(async (tx) => {
    const values = { id: uuidv7(), title, text: text ?? null, createdById: userId };
    const row = await itemStore.insert(tx, accountId, values);
    await ctx.changed(newsOf(accountId, "create", row), tx);
    return row;
  });
}

/**
 * Fields missing from `patch` stay as they are; null clears a field. `expected` is the version that `If-Match` names; 412
 * if the item has changed since.
 */
export function update(
  ctx: Context,
  accountId: number,
  id: string,
  patch: Partial<ItemValues>,
  expected?: number,
): Promise<ItemRow> {
  return ctx.transaction(async (tx) => {
    const row = await itemStore.save(tx, accountId, { ...(await lock(tx, accountId, id, expected)), ...patch });
    await ctx.changed(newsOf(accountId, "update", row), tx);
    return row;
  });
}

export function remove(ctx: Context, accountId: number, id: string, expected?: number): Promise<void> {
  return ctx.transaction(async (tx) => {
    const row = await lock(tx, accountId, id, expected);
    await itemStore.remove(tx, accountId, id);
    await ctx.changed(newsOf(accountId, "destroy", row), tx);
  });
}

async function lock(tx: Tx, accountId: number, id: string, expected?: number): Promise<ItemRow> {
  const row = await itemStore.lock(tx, accountId, id);
  if (!row) throw notFound();
  if (expected !== undefined && expected !== row.version) throw preconditionFailed();
  return row;
}

/** In a POST, null for an optional field counts as leaving it out. */
interface WithoutNull {
  readonly title: string;
  readonly text?: string | null;
}

export const itemModel = "SamplePlugin::Item";

/**
 * The one channel for news of an item, written in the transaction of the change. Webhooks, flows and handlers follow
 * it.
 */
function newsOf(accountId: number, kind: "create" | "update" | "destroy", row: ItemRow): ModelEvent {
  return { accountId, sourceType: itemModel, kind, id: row.id, data: toApi(row) };
}

export function countWords(text: string): number {
  return text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
}

/** The item as clients see it. */
export function toApi({ id, title, text, words, createdById, createdAt, updatedAt }: ItemRow) {
  return { id, title, text, words, created_by_id: createdById, created_at: createdAt, updated_at: updatedAt };
}
