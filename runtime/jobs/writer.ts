/**
 * Writes how work ended. What ends while a statement is under way goes into the next one together; a failed statement is
 * repeated until it succeeds.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../system/log.ts";

interface List {
  readonly size: () => number;
  readonly write: () => Promise<void>;
}

const maxBatch = 500;
const pauseAfterErrorMs = 500;

/** `what` is in the log. */
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
