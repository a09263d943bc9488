/** Fires crons when they are due: each due time once, whichever server process comes first. */
import { failpoint, type BaseContext, type Tx } from "platform";
import type { Flows } from "../flows/api.ts";
import { nextRun, toFire } from "./schedule.ts";
import type { CronRow, CronStore } from "./store.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "log">;
  readonly store: CronStore;
  readonly flows: Pick<Flows, "startFlow">;
  readonly clock?: () => Date;
}

// So many fire side by side.
const workers = 4;

export type Firing = ReturnType<typeof createFiring>;

export function createFiring({ ctx, store, flows, clock = () => new Date() }: Needed) {
  const start = ({ id, accountId, targetCode }: CronRow, tx: Tx): Promise<string | undefined> =>
    flows.startFlow({ accountId, code: targetCode, input: { kind: "cron", cron_id: id }, tx });

  /** False where none is due. */
  const fireOne = async (): Promise<boolean> => {
    let cron: CronRow | undefined;
    try {
      const fired = await ctx.transaction(async (tx) => {
        cron = await store.due(tx, clock());
        if (!cron?.nextRunAt) return false;
        await fire(cron, cron.nextRunAt, tx);
        return true;
      });
      if (fired) failpoint("crons.fired");
      return fired;
    } catch (error) {
      if (!cron) throw error;
      // One that cannot be fired must not keep the others waiting for ever.
      ctx.log.error("a cron cannot be fired", { cron_id: cron.id, error });
      await store.skip(cron.id, nextRun(cron, clock()), "internal error");
      return true;
    }
  };
  const fire = async (cron: CronRow, dueAt: Date, tx: Tx): Promise<void> => {
    const now = clock();
    const nextRunAt = nextRun(cron, now);
    const at = toFire(cron, dueAt, now);
    if (!at || !(await store.claim(tx, cron.id, at)))
      return store.fired(tx, cron.id, { nextRunAt, lastRunAt: null, lastError: cron.lastError });
    const processId = await start(cron, tx);
    const lastError = processId === undefined ? `there is no active flow "${cron.targetCode}"` : null;
    await store.fired(tx, cron.id, { nextRunAt, lastRunAt: processId === undefined ? null : now, lastError });
    if (lastError !== null) ctx.log.warn("a cron cannot start its flow", { cron_id: cron.id, error: lastError });
    failpoint("crons.firing");
  };

  return {
    /** Fires all that are due, each in a transaction of its own. */
    async check(): Promise<void> {
      const worker = async () => {
        while (await fireOne());
      };
      await Promise.all(Array.from({ length: workers }, worker));
    },

    /** Fires it now; its schedule stays as it is. The process's id; undefined where there is no active flow. */
    async now(cron: CronRow): Promise<string | undefined> {
      return ctx.transaction(async (tx) => {
        const id = await start(cron, tx);
        if (id !== undefined) await store.ran(tx, cron.id, clock());
        return id;
      });
    },
  };
}
