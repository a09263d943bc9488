/**
 * Tells those who follow an event that it has happened. A durable handler is a job that is written in the transaction of the
 * change (the outbox), so it runs if and only if the change was committed, at least once; a listener is called in this
 * process after the commit, and is lost with the process.
 *
 *     events.on(recordCreated, "webhooks", async (record) => { … });
 *     await transaction(sql, async (tx) => {
 *       const record = await insertRecord(tx, body);
 *       await events.emit(recordCreated, record, tx);
 *     });
 */
import { type HandleOptions, type JobInfo } from "../jobs/job.ts";
import { causationOf, withCausation } from "../scope/causation.ts";
import { afterCommit, type Tx } from "../db/db.ts";
import type { Queue } from "../jobs/jobs.ts";
import type { Log } from "../system/log.ts";
import { job, type EventRef, type JobRef } from "../base/references.ts";

export interface EmitOptions {
  /** Written beside the jobs that follow. */
  readonly accountId?: number | undefined;
  /** As that of a job. */
  readonly share?: string | undefined;
  /** The jobs of each handler for one order key run one after another. */
  readonly orderKey?: string | undefined;
}

export interface EventHandleOptions<T> extends HandleOptions {
  /** Asked when the event is emitted: no job is written where it says no. */
  readonly when?: (payload: T) => boolean;
  /** This handler's jobs for one key run one after another; undefined leaves it to the emitter. */
  readonly orderKey?: (payload: T) => string | undefined;
}

export interface Events {
  /** Follows the event durably; `handlerId` names the job, so it must not change once events wait for it. */
  on<T>(
    ref: EventRef<T>,
    handlerId: string,
    run: (payload: T, job: JobInfo) => Promise<void>,
    options?: EventHandleOptions<T>,
  ): void;
  /** Calls `run` in this process after the commit. */
  listen<T>(ref: EventRef<T>, run: (payload: T) => void): void;
  /** Whether a durable handler would take this event: where none does, the change needs no transaction for it. */
  wanted<T>(ref: EventRef<T>, payload: T): boolean;
  emit<T>(ref: EventRef<T>, payload: T, tx?: Tx, options?: EmitOptions): Promise<void>;
}

/** Both are methods, so that followers of any payload fit: the event's ref has typed it where it was emitted. */
interface Follower {
  readonly jobName: string;
  when(payload: unknown): boolean;
  orderKey(payload: unknown): string | undefined;
}
interface Listener {
  run(payload: unknown): void;
}

/** The job by which this handler follows the event. */
export function eventJob<T>(ref: EventRef<T>, handlerId: string): JobRef<T> {
  return job<T>(`event:${ref.id}:${handlerId}`);
}

export function createEvents({ queue, log }: { queue: Queue; log: Log }): Events {
  const followers = new Map<string, Follower[]>();
  const listeners = new Map<string, Listener[]>();
  const willing = (eventId: string, payload: unknown) =>
    (followers.get(eventId) ?? []).filter((follower) => follower.when(payload));

  const tell = (eventId: string, payload: unknown) => {
    for (const listener of listeners.get(eventId) ?? []) {
      try {
        listener.run(payload);
      } catch (error) {
        log.error("a listener failed", { event: eventId, error });
      }
    }
  };

  return {
    on(ref, handlerId, run, { when = () => true, orderKey = () => undefined, ...options } = {}) {
      const handled = eventJob(ref, handlerId);
      queue.handle(handled, run, options);
      add<Follower>(followers, ref.id, { jobName: handled.id, when, orderKey });
    },
    listen: (ref, run) => add<Listener>(listeners, ref.id, { run }),
    wanted: (ref, payload) => willing(ref.id, payload).length > 0,
    async emit(ref, payload, tx, { accountId, share, orderKey } = {}) {
      // Also where nobody follows: a loop is a mistake before somebody does.
      const causation = causationOf(ref.id);
      const jobs = willing(ref.id, payload).map((follower) => ({
        name: follower.jobName,
        payload,
        causation,
        accountId,
        share,
        orderKey: follower.orderKey(payload) ?? orderKey,
      }));
      await queue.add(jobs, tx);
      if (!listeners.has(ref.id)) return;
      const tellAll = () => withCausation(causation, () => tell(ref.id, payload));
      if (tx) afterCommit(tx, tellAll);
      else tellAll();
    },
  };
}

function add<F>(map: Map<string, F[]>, key: string, one: F): void {
  map.set(key, [...(map.get(key) ?? []), one]);
}
