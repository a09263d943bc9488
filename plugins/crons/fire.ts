/** Fires due crons: each due time once, by whichever server process is first. */
import { databaseFault, failpoint, type BaseContext, type Tx } from "platform";
import type { Flows } from "../flows/api.ts";
import { createAlignment } from "./align.ts";
import { lateMs, nextRun, toFire } from "./schedule.ts";
import type { CronRow } from "./cron.ts";
import type { CronStore } from "./store.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "log" | "now">;
  readonly cronStore: CronStore;
  readonly flows: Pick<Flows, "startFlow">;
}

// This many crons are fired at once.
const workers = 4;
// A cron that fails for reasons of its own is tried this often, once a minute; then its due time is given up.
const maxTries = 5;
// A server without its database for longer than this counts as stopped.
const longestOutageMs = 3_600_000;

export type Firing = ReturnType<typeof createFiring>;

export function createFiring({ ctx, cronStore, flows }: Needed) {
  const clock = ctx.now;
  const start = ({ id, accountId, name, targetCode }: CronRow, tx: Tx, by = {}): Promise<string | undefined> => {
    const starter = { kind: "cron", id: String(id), details: { name, ...by } } as const;
    return flows.startFlow({ accountId, code: targetCode, input: { kind: "cron", cron_id: id }, by: starter, tx });
  };

  const align = createAlignment(cronStore);
  const tries = new Map<number, number>();
  /** This process has handled everything up to here: later due times were not missed, even if the database was away. */
  let checkedTo = new Date(clock().getTime() - lateMs);

  /** False if no cron is due, except for those of `failed`. */
  const fireOne = async (failed: Set<number>): Promise<boolean> => {
    let cron: CronRow | undefined;
    try {
      const fired = await ctx.transaction(async (tx) => {
        cron = await cronStore.due(tx, clock(), [...failed]);
        if (!cron?.nextRunAt) return false;
        await fire(cron, cron.nextRunAt, tx);
        return true;
      });
      if (fired) failpoint("crons.fired");
      if (cron) tries.delete(cron.id);
      return fired;
    } catch (error) {
      if (!cron) throw error;
      // It keeps its due time, and the others do not wait for it.
      if (failed.has(cron.id)) return true; // another worker has just tried it
      failed.add(cron.id);
      const tried = (tries.get(cron.id) ?? 0) + (databaseFault(error) === "unavailable" ? 0 : 1);
      tries.set(cron.id, tried);
      ctx.log.warn("a cron was not fired, trying again", { cron_id: cron.id, error });
      if (tried >= maxTries) await giveUp(cron, error);
      return true;
    }
  };
  const giveUp = async (cron: CronRow, error: unknown): Promise<void> => {
    ctx.log.error("a cron cannot be fired", { cron_id: cron.id, error });
    await cronStore.skip(cron, nextRun(cron, clock()), "internal error");
    tries.delete(cron.id);
  };
  const fire = async (cron: CronRow, dueAt: Date, tx: Tx): Promise<void> => {
    const now = clock();
    const since = new Date(Math.max(checkedTo.getTime(), now.getTime() - longestOutageMs));
    const at = toFire(cron, dueAt, now, since);
    // Times that are only late are fired one by one.
    const nextRunAt = nextRun(cron, at ?? now);
    if (!at || !(await cronStore.claim(tx, cron, at)))
      return cronStore.fired(tx, cron, { nextRunAt, lastRunAt: null, lastError: cron.lastError });
    const processId = await start(cron, tx);
    const lastError = processId === undefined ? `no active flow has the code "${cron.targetCode}"` : null;
    await cronStore.fired(tx, cron, { nextRunAt, lastRunAt: processId === undefined ? null : now, lastError });
    if (lastError !== null) ctx.log.warn("a cron cannot start its flow", { cron_id: cron.id, error: lastError });
    failpoint("crons.firing");
  };

  return {
    /** Fires all due crons, each in a transaction of its own. Throws if some have to be tried again soon. */
    async check(): Promise<void> {
      const now = clock();
      await align(now);
      if (checkedTo > now) checkedTo = now; // the clock was set back
      const failed = new Set<number>();
      const worker = async () => {
        while (await fireOne(failed));
      };
      await Promise.all(Array.from({ length: workers }, worker));
      if (failed.size > 0) throw new Error(`${failed.size} crons were not fired`);
      checkedTo = now;
    },

    /** Fires it now, beside its schedule. Returns the process's id; undefined if its flow is gone or not active. */
    async now(cron: CronRow, userId?: number): Promise<string | undefined> {
      return ctx.transaction(async (tx) => {
        const id = await start(cron, tx, userId === undefined ? {} : { user_id: userId });
        if (id !== undefined) await cronStore.ran(tx, cron, clock());
        return id;
      });
    },
  };
}
