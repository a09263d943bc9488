/** Waits for the end of flow processes; the server process that ends one wakes the others. */
import type { BaseContext } from "platform";
import type { ProcessRow } from "./process-store.ts";
import type { ProcessViewStore } from "./process-view-store.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "broadcast" | "stopping">;
  readonly processViewStore: Pick<ProcessViewStore, "state">;
}

export interface WaitFor {
  readonly accountId: number;
  readonly id: string;
  readonly ms: number;
  /** It was started just now, in this server process: the first look at its row can wait. */
  readonly fresh?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Waiting {
  /** Tells every server process that this one has ended; after the commit. */
  tell(row: ProcessRow): void;
  /** The process once it has ended, or as it is after `ms`; undefined if it is unknown. */
  wait(process: WaitFor): Promise<ProcessRow | undefined>;
}

const topic = "flows.ended";
// A message may be lost while a server process is disconnected.
const backstopMs = 1000;

export function createWaiting({ ctx: { broadcast, stopping }, processViewStore }: Needed): Waiting {
  const waiters = new Map<string, Set<(row?: ProcessRow) => void>>();
  const wake = (id: string, row?: ProcessRow) => {
    for (const resolve of waiters.get(id) ?? []) resolve(row);
  };
  broadcast.on(topic, (id) => wake(id));

  return {
    tell(row) {
      wake(row.id, row);
      broadcast.publish(topic, row.id);
    },
    async wait({ accountId, id, ms, signal, fresh = false }) {
      const until = performance.now() + ms;
      for (let look = !fresh; ; look = true) {
        // Listening begins before the look at the row: an end in between is not missed.
        const next = listen(waiters, id);
        try {
          const endedSoon = look ? undefined : await next.within(Math.min(ms, backstopMs));
          if (endedSoon) return endedSoon;
          const row = await processViewStore.state(accountId, id);
          const left = until - performance.now();
          if (!row || row.status !== "pending" || left <= 0 || signal?.aborted || stopping.aborted) return row;
          const ended = await next.within(Math.min(left, backstopMs));
          if (ended) return ended;
        } finally {
          next.end();
        }
      }
    },
  };
}

function listen(waiters: Map<string, Set<(row?: ProcessRow) => void>>, id: string) {
  const { promise, resolve } = Promise.withResolvers<ProcessRow | undefined>();
  const set = waiters.get(id) ?? new Set();
  waiters.set(id, set.add(resolve));
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    within(ms: number): Promise<ProcessRow | undefined> {
      timer = setTimeout(resolve, ms);
      return promise;
    },
    end(): void {
      clearTimeout(timer);
      set.delete(resolve);
      if (set.size === 0 && waiters.get(id) === set) waiters.delete(id);
    },
  };
}
