/** Makes entries of what transactions have written of their changes: every second, and before somebody reads the log. */
import { databaseFault, type Notice } from "platform";
import type { ActivityContext } from "./context.ts";
import * as inboxStore from "./inbox-store.ts";
import * as activityStore from "./store.ts";

type Emptying = Pick<ActivityContext, "sql" | "transaction">;

/** What is left then becomes entries a second later: a reader does not wait for the whole of a large import. */
const mostStatements = 200;

export async function emptyInbox(ctx: Emptying, accountId: number): Promise<void> {
  for (let n = 0; n < mostStatements && (await inboxStore.hasAny(ctx.sql, accountId)); n++) await take(ctx, accountId);
}

export async function emptyInboxes(ctx: Emptying): Promise<void> {
  for (const accountId of await inboxStore.accounts(ctx.sql)) await emptyInbox(ctx, accountId);
}

function take(ctx: Emptying, accountId: number) {
  return ctx
    .transaction((tx) => inboxStore.take(tx, accountId))
    .catch((error: unknown) => {
      const fault = databaseFault(error);
      if (fault !== "bad-input" && fault !== "out-of-range") throw error;
      return ctx.transaction((tx) => inboxStore.take(tx, accountId, true));
    });
}

/** Entries of what changes no record: refusals, exports, secrets shown. */
export function note(ctx: ActivityContext, notice: Notice): void {
  add(ctx, notice).catch((error: unknown) => ctx.log.error("activity was not noted", { error, action: notice.action }));
}

async function add(ctx: ActivityContext, notice: Notice) {
  const { accountId, action, actor } = notice;
  const mayRepeat = action === "refused" || action === "sign-in refused";
  const who = `${accountId} ${action} ${actor?.user ?? actor?.ip ?? ""}`;
  if (mayRepeat && !(await ctx.refusals.take(who)).allowed) return;
  await activityStore.add(ctx.sql, notice);
}
