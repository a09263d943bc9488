/** Entries of what changes no record: refusals, exports, secrets shown. */
import type { Notice } from "platform";
import * as activityStore from "./store.ts";
import type { ActivityContext } from "./context.ts";

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
