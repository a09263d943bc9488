/** Entries of what changes no record: refusals, exports, secrets shown. */
import type { BaseContext, Notice } from "platform";
import type { ActivityStore } from "./store.ts";

/** A program that is refused over and over must not fill the log. */
const perMinute = 30;

interface Needed {
  readonly ctx: Pick<BaseContext, "sql" | "limiter" | "log">;
  readonly activityStore: ActivityStore;
}

export function createNoting({ ctx, activityStore }: Needed) {
  const limit = ctx.limiter("activity.refusals", { limit: perMinute, windowSeconds: 60 });
  const add = async (notice: Notice) => {
    const { accountId, action, actor } = notice;
    const mayRepeat = action === "refused" || action === "sign-in refused";
    const who = `${accountId} ${action} ${actor?.user ?? actor?.ip ?? ""}`;
    if (mayRepeat && !(await limit.take(who)).allowed) return;
    await activityStore.add(ctx.sql, notice);
  };
  return (notice: Notice): void => {
    add(notice).catch((error: unknown) => ctx.log.error("activity was not noted", { error, action: notice.action }));
  };
}
