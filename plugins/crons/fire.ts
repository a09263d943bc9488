/** Fires due crons: each due time once, by whichever server process is first. */
import { databaseFault, failpoint, type BaseContext, type Tx } from "platform";
import type { Flows } from "../flows/api.ts";
import type { CronRow } from "./cron.ts";
import { lateMs, nextRun, toFire } from "./schedule.ts";
import * as cronStore from "./store.ts";

interface CronContext extends Pick<BaseContext, "sql" | "transaction" | "log" | "now"> {
  readonly flows: Pick<Flows, "startFlow">;
}

/** State of a server process between its checks. */
interface Memory {
  /** It has handled everything up to here: later due times were not missed, even if the database was away. */
  checkedTo: Date;
  /** Failures by the id of the cron. */
  readonly tries: Map<number, number>;
  lastAt: Date | undefined;
  alignedAt: number;
}

// This many crons are fired at once.
const workers = 4;
// A cron that fails for reasons of its own is tried this often, once a minute; then its due time is given up.
const maxTries = 5;
// A server without its database for longer than this counts as stopped.
const longestOutageMs = 3_600_000;
// The clock of another server on the same database may have been wrong without anybody here noticing.
const alignAgainMs = 600_000;
const pageSize = 1000;

/** The state of a process that begins now. */
export function newMemory({ now }: Pick<CronContext, "now">): Memory {
  const checkedTo = new Date(now().getTime() - lateMs);
  return { checkedTo, tries: new Map(), lastAt: undefined, alignedAt: -Infinity };
}

/** Fires all due crons, each in a transaction of its own. Throws if some have to be tried again soon. */
export async function fireDue(ctx: CronContext, memory: Memory): Promise<void> {
  const now = ctx.now();
  await align(ctx, memory, now);
  if (memory.checkedTo > now) memory.checkedTo = now; // the clock was set back
  const failed = new Set<number>();
  const worker = async () => {
    while (await fireOne(ctx, memory, failed));
  };
  await Promise.all(Array.from({ length: workers }, worker));
  if (failed.size > 0) throw new Error(`${failed.size} crons were not fired`);
  memory.checkedTo = now;
}

/** Fires it now, beside its schedule. Returns the process's id; undefined if its flow is gone or not active. */
export async function fireNow(ctx: CronContext, cron: CronRow, userId: number): Promise<string | undefined> {
  return ctx.transaction(async (tx) => {
    const id = await start(ctx, cron, tx, { user_id: userId });
    if (id !== undefined) await cronStore.ran(tx, cron, ctx.now());
    return id;
  });
}

function start({ flows }: CronContext, cron: CronRow, tx: Tx, by = {}): Promise<string | undefined> {
  const { id, accountId, name, targetCode } = cron;
  const starter = { kind: "cron", id: String(id), details: { name, ...by } } as const;
  return flows.startFlow({ accountId, code: targetCode, input: { kind: "cron", cron_id: id }, by: starter, tx });
}

/** False if no cron is due, except for those of `failed`. */
async function fireOne(ctx: CronContext, memory: Memory, failed: Set<number>): Promise<boolean> {
  const { tries } = memory;
  let cron: CronRow | undefined;
  try {
    const fired = await ctx.transaction(async (tx) => {
      cron = await cronStore.due(tx, ctx.now(), [...failed]);
      if (!cron?.nextRunAt) return false;
      await fire(ctx, memory, cron, cron.nextRunAt, tx);
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
    if (tried < maxTries) return true;
    ctx.log.error("a cron cannot be fired", { cron_id: cron.id, error });
    await cronStore.skip(ctx.sql, cron, nextRun(cron, ctx.now()), "internal error");
    tries.delete(cron.id);
    return true;
  }
}

async function fire(ctx: CronContext, { checkedTo }: Memory, cron: CronRow, dueAt: Date, tx: Tx): Promise<void> {
  const now = ctx.now();
  const since = new Date(Math.max(checkedTo.getTime(), now.getTime() - longestOutageMs));
  const at = toFire(cron, dueAt, now, since);
  // Times that are only late are fired one by one.
  const nextRunAt = nextRun(cron, at ?? now);
  if (!at || !(await cronStore.claim(tx, cron, at)))
    return cronStore.fired(tx, cron, { nextRunAt, lastRunAt: null, lastError: cron.lastError });
  const processId = await start(ctx, cron, tx);
  const lastError = processId === undefined ? `no active flow has the code "${cron.targetCode}"` : null;
  await cronStore.fired(tx, cron, { nextRunAt, lastRunAt: processId === undefined ? null : now, lastError });
  if (lastError !== null) ctx.log.warn("a cron cannot start its flow", { cron_id: cron.id, error: lastError });
  failpoint("crons.firing");
}

/**
 * Mends the due times that a wrong clock has left behind. While the clock was ahead, crons fired for times to come and
 * got a next due time beyond those: once it is right again, they would all be silent until then. Looks at all due times
 * on the first call, after the clock was set back, and every ten minutes.
 */
async function align({ sql }: CronContext, memory: Memory, now: Date): Promise<void> {
  const isRight = memory.lastAt !== undefined && now >= memory.lastAt;
  if (!isRight || performance.now() - memory.alignedAt >= alignAgainMs) {
    await cronStore.forgetFuture(sql, now);
    for (let after = 0; ;) {
      const crons = await cronStore.page(sql, after, pageSize);
      for (const cron of crons) {
        const next = nextRun(cron, now);
        if (next && cron.nextRunAt && cron.nextRunAt > next) await cronStore.moveNext(sql, cron, next);
      }
      const last = crons.at(-1);
      if (!last || crons.length < pageSize) break;
      after = last.id;
    }
    memory.alignedAt = performance.now();
  }
  memory.lastAt = now;
}
