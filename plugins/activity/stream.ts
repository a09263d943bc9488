/** Sends entries to the webhooks on `Core::Activity` once they are sealed. */
import { activityCause, modelChanged, withCausation, type BaseContext, type Tx } from "platform";
import { toApi, type ActivityStore } from "./store.ts";

export const streamedModel = "Core::Activity";

interface Needed {
  readonly ctx: Pick<BaseContext, "wanted" | "changed">;
  readonly activityStore: ActivityStore;
}

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

export function createStream({ ctx, activityStore }: Needed) {
  return async (tx: Tx, accountId: number, ids: readonly number[]): Promise<void> => {
    const head = { accountId, sourceType: streamedModel, kind: "create" };
    if (!ctx.wanted(modelChanged, { ...head, id: 0, data: unknown })) return;
    for (const row of await activityStore.toTell(tx, accountId, ids)) {
      const data = { ...toApi(row), sealed: true };
      const cause = { id: `activity-${row.id}`, depth: 0, chain: [activityCause] };
      await withCausation(cause, () => ctx.changed({ ...head, id: row.id, data }, tx));
    }
  };
}
