/** Fires crons when they are due: each due time once, whichever server process comes first. */
import { failpoint, type BaseContext, type Tx } from "platform";
import type { Flows } from "../flows/api.ts";
import { nextRun, toFire } from "./schedule.ts";
import type { CronRow, CronStore } from "./store.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "broadcast" | "log">;
  readonly store: CronStore;
  readonly flows: Flows;
  readonly clock?: () => Date;
}

const changed = "crons.changed";
// The timer looks at the clock at least so often, so that a clock that was set is noticed.
const maxSleepMs = 30_000;
// So many fire side by side.
const workers = 4;

export type Firing = ReturnType<typeof createFiring>;

export function createFiring({ ctx, store, flows, clock = () => new Date() }: Needed) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  let checking: Promise<void> | undefined;

  /** Starts the flow with this transaction; the reason where it cannot. */
  const start = async (cron: CronRow, tx: Tx): Promise<string | null> => {
    const input = { kind: "cron", cron_id: cron.id };
    const id = await flows.startFlow({ accountId: cron.accountId, code: cron.targetCode, input, tx });
    return id === undefined ? `there is no active flow "${cron.targetCode}"` : null;
  };
  /** False where none is due. */
  const fireOne = (): Promise<boolean> =>
    ctx.transaction(async (tx) => {
      const now = clock();
      const cron = await store.due(tx, now);
      if (!cron?.nextRunAt) return false;
      const at = toFire(cron, cron.nextRunAt, now);
      const after = { nextRunAt: nextRun(cron, at && at > now ? at : now), lastError: null };
      if (at && (await store.claim(tx, cron.id, at))) {
        const lastError = await start(cron, tx);
        await store.fired(tx, cron.id, { ...after, lastRunAt: now, lastError });
        if (lastError !== null) ctx.log.warn("a cron cannot start its flow", { cron_id: cron.id, error: lastError });
      } else await store.fired(tx, cron.id, { ...after, lastRunAt: null, lastError: cron.lastError });
      failpoint("crons.firing");
      return true;
    });
  const check = async (): Promise<void> => {
    clearTimeout(timer);
    try {
      const worker = async () => {
        while (!stopped && (await fireOne()));
      };
      await Promise.all(Array.from({ length: workers }, worker));
    } catch (error) {
      ctx.log.warn("firing crons failed, trying again", { error });
      return arm(1000);
    }
    const next = await store.nextDue().catch(() => undefined);
    arm(next ? Math.max(next.getTime() - clock().getTime(), 50) : maxSleepMs);
  };
  const arm = (ms: number) => {
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(() => void wake(), Math.min(ms, maxSleepMs));
  };
  const wake = (): Promise<void> => {
    checking = (checking ?? Promise.resolve()).then(check);
    return checking;
  };
  ctx.broadcast.on(changed, () => arm(0));

  return {
    start: () => arm(0),
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await checking;
    },
    /** After a cron was made or changed: it may be due sooner. */
    changed: () => ctx.broadcast.publish(changed, ""),
    /** Fires it now; its schedule stays as it is. Undefined where there is no active flow. */
    async now(cron: CronRow): Promise<string | undefined> {
      return ctx.transaction(async (tx) => {
        const input = { kind: "cron", cron_id: cron.id };
        const id = await flows.startFlow({ accountId: cron.accountId, code: cron.targetCode, input, tx });
        if (id === undefined) return undefined;
        await store.fired(tx, cron.id, { lastRunAt: clock(), nextRunAt: cron.nextRunAt, lastError: null });
        return id;
      });
    },
  };
}
