/**
 * Values by key that are read far more often than they change, kept right between processes: code that changes one
 * calls `invalidate` after the commit and answers when it resolves; then no process hands out the old value.
 *
 *     const prompts = createCache({ name: "prompts", max: 1000, broadcast, load: (code) => readPrompt(sql, code) });
 *     prompts.peek("greeting") ?? (await prompts.get("greeting"));
 */
import { putNewest } from "../base/values.ts";
import type { Broadcast } from "./broadcast.ts";

export interface Cache<V> {
  /** The value, loaded if it is not kept; concurrent callers share one load. */
  get(key: string): Promise<V | undefined>;
  /** The value if it is kept, at no cost. */
  peek(key: string): V | undefined;
  /** Forgets the key here at once and resolves when the other processes were told. */
  invalidate(key: string): Promise<void>;
  /** The same for every key. */
  clear(): Promise<void>;
}

export interface CacheOptions<V> {
  /** The same in every process, and unlike every other cache's. */
  readonly name: string;
  /** Values kept at most; those not asked for the longest go first. */
  readonly max: number;
  readonly broadcast: Broadcast;
  /** `undefined` means that there is nothing of this key; it is not kept. */
  readonly load: (key: string) => Promise<V | undefined>;
}

/** The key of something of an account: `7/greeting`. */
export function cacheKey(accountId: number, name: string): string {
  return `${accountId}/${name}`;
}

/** The two parts that `cacheKey` has put together; a name may hold slashes. */
export function parseCacheKey(key: string): { accountId: number; name: string } {
  const slash = key.indexOf("/");
  return { accountId: Number(key.slice(0, slash)), name: key.slice(slash + 1) };
}

/** A load under way. A stale one still answers those who wait for it, but nobody else, and it is not kept. */
interface Load<V> {
  promise: Promise<V | undefined>;
  stale: boolean;
}

export function createCache<V>({ name, max, broadcast, load }: CacheOptions<V>): Cache<V> {
  const values = new Map<string, V>();
  const loads = new Map<string, Load<V>>();

  const forget = (key: string) => {
    values.delete(key);
    markStale(loads.get(key));
    loads.delete(key);
  };
  const forgetAll = () => {
    values.clear();
    for (const running of loads.values()) markStale(running);
    loads.clear();
  };
  const peek = (key: string) => {
    if (!broadcast.healthy()) return undefined;
    const value = values.get(key);
    // The order of a Map is that of insertion: what is used moves to the young end.
    if (value !== undefined && values.size >= max) putNewest(values, key, value, max);
    return value;
  };
  const startLoad = (key: string): Promise<V | undefined> => {
    const running: Load<V> = { promise: load(key), stale: false };
    loads.set(key, running);
    running.promise = running.promise
      .then((value) => {
        if (!running.stale && value !== undefined) putNewest(values, key, value, max);
        return value;
      })
      .finally(() => {
        if (loads.get(key) === running) loads.delete(key);
      });
    return running.promise;
  };

  broadcast.on(`cache:${name}`, forget);
  broadcast.on(`cache:${name}:clear`, forgetAll);
  broadcast.onReset(forgetAll);

  return {
    peek,
    async get(key) {
      // Disconnected: a change would not reach us, so neither what is kept nor a load that began before this call.
      if (!broadcast.healthy()) return load(key);
      const value = peek(key);
      if (value !== undefined) return value;
      return loads.get(key)?.promise ?? startLoad(key);
    },
    invalidate(key) {
      broadcast.publish(`cache:${name}`, key);
      return broadcast.flush();
    },
    clear() {
      broadcast.publish(`cache:${name}:clear`, "");
      return broadcast.flush();
    },
  };
}

function markStale<V>(running: Load<V> | undefined): void {
  if (running) running.stale = true;
}
