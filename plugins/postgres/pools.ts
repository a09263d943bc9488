/** A few connections for each connector, kept until it changes; the least recently used are closed first. */
import type { BaseContext } from "platform";
import type { DatabaseServer } from "./definition.ts";
import { createClient, QueryFault, type Client, type Query, type Rows, type RunOptions } from "./remote-store.ts";

export const poolLimits = { pools: 50, connections: 4, waiting: 100 };

interface Pool {
  /** The settings that the connections were made with. */
  readonly made: string;
  readonly server: DatabaseServer;
  readonly idle: Client[];
  readonly waiting: (() => void)[];
  busy: number;
}

export type Pools = ReturnType<typeof createPools>;

export function createPools(connect: BaseContext["connect"]) {
  // In the order of their last use.
  const pools = new Map<string, Pool>();

  const retire = (key: string, pool: Pool): void => {
    if (pools.get(key) === pool) pools.delete(key);
    for (const client of pool.idle.splice(0)) void client.close();
  };
  const poolOf = (key: string, server: DatabaseServer): Pool => {
    const made = JSON.stringify(server);
    const known = pools.get(key);
    if (known && known.made !== made) retire(key, known);
    const pool = known?.made === made ? known : { made, server, idle: [], waiting: [], busy: 0 };
    pools.delete(key);
    pools.set(key, pool);
    for (const [oldest, one] of pools) {
      if (pools.size <= poolLimits.pools) break;
      if (one.busy === 0) retire(oldest, one);
    }
    return pool;
  };
  /** Waits for one of the pool's places. */
  const enter = async (pool: Pool, { timeoutMs, signal }: RunOptions): Promise<void> => {
    signal?.throwIfAborted();
    if (pool.waiting.length >= poolLimits.waiting)
      throw new QueryFault(`no free connection: ${poolLimits.waiting} calls are waiting for one`);
    if (pool.busy >= poolLimits.connections) await turn(pool, timeoutMs, signal);
    else pool.busy += 1;
  };
  const leave = (pool: Pool): void => {
    const next = pool.waiting.shift();
    // The longest waiting call takes over this place.
    if (next) next();
    else pool.busy -= 1;
  };

  return {
    /** Rejects with a QueryFault or OutboundFault, or with the reason of the caller's own signal. */
    async run(key: string, server: DatabaseServer, query: Query, options: RunOptions): Promise<Rows> {
      const startedAt = performance.now();
      const pool = poolOf(key, server);
      await enter(pool, options);
      let client: Client | undefined;
      try {
        client = pool.idle.pop() ?? createClient(connect, pool.server);
        const timeoutMs = Math.max(1, options.timeoutMs - (performance.now() - startedAt));
        return await client.run(query, { ...options, timeoutMs });
      } finally {
        if (client && !client.isBroken() && pools.get(key) === pool) pool.idle.push(client);
        else void client?.close();
        leave(pool);
      }
    },
    /** How many connectors have connections, for tests. */
    size: () => pools.size,
    stop(): void {
      for (const [key, pool] of pools) retire(key, pool);
    },
  };
}

/** Waits until another call has ended, and takes its place. */
async function turn(pool: Pool, timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const leave = (reason: unknown) => {
    const at = pool.waiting.indexOf(resolve);
    if (at >= 0) pool.waiting.splice(at, 1);
    reject(reason);
  };
  const aborted = () => leave(signal?.reason);
  const late = () => leave(new QueryFault(`no free connection within ${Math.round(timeoutMs)} ms`));
  const timer = setTimeout(late, timeoutMs);
  signal?.addEventListener("abort", aborted);
  pool.waiting.push(resolve);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", aborted);
  }
}
