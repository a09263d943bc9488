/**
 * Due times that a wrong clock has left behind. While it was ahead, crons were fired for times to come and their next due
 * time was set beyond those; when it is right again they would all be silent until then.
 */
import { nextRun } from "./schedule.ts";
import type { CronStore } from "./store.ts";

// The clock of another server that uses the same database may have been wrong unseen.
const lookAgainMs = 600_000;
const pageSize = 1000;

/** Looks at all due times at first, after the clock was set back, and now and then. */
export function createAlignment(store: Pick<CronStore, "page" | "moveNext" | "forgetFuture">) {
  let lastAt: Date | undefined;
  let lookedAt = -Infinity;

  return async (now: Date): Promise<void> => {
    const isRight = lastAt !== undefined && now >= lastAt;
    if (isRight && performance.now() - lookedAt < lookAgainMs) {
      lastAt = now;
      return;
    }
    await store.forgetFuture(now);
    for (let after = 0; ;) {
      const crons = await store.page(after, pageSize);
      for (const cron of crons) {
        const next = nextRun(cron, now);
        if (next && cron.nextRunAt && cron.nextRunAt > next) await store.moveNext(cron, next);
      }
      const last = crons.at(-1);
      if (!last || crons.length < pageSize) break;
      after = last.id;
    }
    lookedAt = performance.now();
    lastAt = now;
  };
}
