/** The rows of a queue that this process has claimed: their leases are extended until their ends are written. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../system/log.ts";

export interface Lease<Row> {
  readonly row: Row;
  readonly seconds: number;
  /** Aborted when the lease is lost or the process stops. */
  readonly controller: AbortController;
  extendedAt: number;
  /** The work is over, and its end is being written. */
  isOver: boolean;
}

export type Leases<Row> = ReturnType<typeof createLeases<Row>>;

interface Options<Row> {
  /** What the rows are called in the log. */
  readonly what: string;
  readonly log: Log;
  /** Returns the leases that this process still has. */
  readonly extend: (leases: readonly Lease<Row>[]) => Promise<ReadonlySet<Lease<Row>>>;
  /** Another process has it: this one was silent for too long. */
  readonly lost?: (lease: Lease<Row>) => void;
}

export function createLeases<Row>({ what, log, extend, lost }: Options<Row>) {
  const held = new Set<Lease<Row>>();
  const open = () => [...held].filter(({ isOver }) => !isOver);
  return {
    hold(row: Row, seconds: number): Lease<Row> {
      const controller = new AbortController();
      const lease = { row, seconds, controller, extendedAt: performance.now(), isOver: false };
      held.add(lease);
      return lease;
    },
    drop: (lease: Lease<Row>): boolean => held.delete(lease),
    /** Those whose work is not over. */
    open,

    /** Extends leases after a third of their time, and aborts the work on rows that another process has taken. */
    async extend(): Promise<void> {
      const now = performance.now();
      const old = [...held].filter(({ extendedAt, seconds }) => now - extendedAt > (seconds * 1000) / 3);
      if (old.length === 0) return;
      try {
        const kept = await extend(old);
        for (const lease of old) {
          lease.extendedAt = now;
          if (kept.has(lease) || lease.isOver) continue;
          lost?.(lease);
          lease.controller.abort(new Error(`the lease of one of the ${what} was lost`));
        }
      } catch (error) {
        log.warn(`extending the leases of ${what} failed, trying again`, { error });
      }
    },

    /** Cuts off what is not over. */
    abort(): void {
      for (const { controller } of open()) controller.abort(new Error("the process stops"));
    },
  };
}

interface List {
  readonly size: () => number;
  readonly write: () => Promise<void>;
}

const maxBatch = 500;
const pauseAfterErrorMs = 500;

/**
 * Writes how work ended. What ends while a statement is under way goes into the next one together; a failed statement is
 * repeated until it succeeds. `what` is in the log.
 */
export function createWriter(what: string, log: Log) {
  const lists: List[] = [];
  let writing: Promise<void> | undefined;
  let stopping = false;
  const unwritten = () => lists.reduce((sum, { size }) => sum + size(), 0);

  const writeAll = async () => {
    // What ends in the same tick goes into the same batch.
    await new Promise(setImmediate);
    while (unwritten() > 0) {
      try {
        for (const list of lists) await list.write();
      } catch (error) {
        log.warn(`writing the ends of ${what} failed, trying again`, { error });
        // What is not written is done again when its lease expires.
        if (stopping) break;
        await sleep(pauseAfterErrorMs);
      }
    }
    writing = undefined;
  };

  return {
    unwritten,
    /** Adds a kind of ends, written after those of the kinds before; returns what takes them. */
    list<Row>(write: (rows: readonly Row[]) => Promise<void>): (...rows: readonly Row[]) => void {
      const rows: Row[] = [];
      lists.push({
        size: () => rows.length,
        async write() {
          const batch = rows.slice(0, maxBatch);
          if (batch.length === 0) return;
          await write(batch);
          // Only now: a failed batch is written again.
          rows.splice(0, batch.length);
        },
      });
      return (...more) => {
        rows.push(...more);
        if (more.length > 0) writing ??= writeAll();
      };
    },
    /** Resolves when everything that can be written is. */
    async stop(): Promise<void> {
      stopping = true;
      await writing;
    },
  };
}
