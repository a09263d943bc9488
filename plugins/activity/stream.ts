/** Sends entries to the webhooks on `Core::Activity` once they are sealed. */
import { activityCause, modelChanged, withCausation, type Tx } from "platform";
import { toApi } from "./store.ts";
import * as activityStore from "./store.ts";
import type { ActivityContext } from "./context.ts";

export const streamedModel = "Core::Activity";

/** What a filter may ask for, before the entries are read. */
const unknown = {
  action: undefined,
  model: undefined,
  record_id: undefined,
  name: undefined,
  actor: undefined,
  user_id: undefined,
  token_id: undefined,
};

export async function tellFollowers(
  ctx: ActivityContext,
  tx: Tx,
  accountId: number,
  ids: readonly number[],
): Promise<void> {
  const head = { accountId, sourceType: streamedModel, kind: "create" };
  if (!ctx.wanted(modelChanged, { ...head, id: 0, data: unknown })) return;
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const { rows, next } = await activityStore.toTell(ctx, tx, accountId, ids, { limit: ids.length, offset });
    for (const row of rows) {
      const data = { ...toApi(row), sealed: true };
      const cause = { id: `activity-${row.id}`, depth: 0, chain: [activityCause] };
      await withCausation(cause, () => ctx.changed({ ...head, id: row.id, data }, tx));
    }
    offset = next;
  }
}
