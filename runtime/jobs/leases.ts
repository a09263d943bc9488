/** The rows of a queue that this process has claimed. Their leases are extended until their ends are written. */
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
