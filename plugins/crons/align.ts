/**
 * Mends the due times that a wrong clock has left behind. While the clock was ahead, crons fired for times to come and
 * got a next due time beyond those. Once it is right again, they would all be silent until then.
 */
import { nextRun } from "./schedule.ts";
import type { CronStore } from "./store.ts";

// The clock of another server on the same database may have been wrong without anybody here noticing.
const lookAgainMs = 600_000;
const pageSize = 1000;

/** Looks at all due times on the first call, after the clock was set back, and every ten minutes. */
export function createAlignment(cronStore: Pick<CronStore, "page" | "moveNext" | "forgetFuture">) {
  let lastAt: Date | undefined;
  let lookedAt = -Infinity;

  return async (now: Date): Promise<void> => {
    const isRight = lastAt !== undefined && now >= lastAt;
    if (isRight && performance.now() - lookedAt < lookAgainMs) {
      lastAt = now;
      return;
    }
    await cronStore.forgetFuture(now);
    for (let after = 0; ;) {
      const crons = await cronStore.page(after, pageSize);
      for (const cron of crons) {
        const next = nextRun(cron, now);
        if (next && cron.nextRunAt && cron.nextRunAt > next) await cronStore.moveNext(cron, next);
      }
      const last = crons.at(-1);
      if (!last || crons.length < pageSize) break;
      after = last.id;
    }
    lookedAt = performance.now();
    lastAt = now;
  };
}
