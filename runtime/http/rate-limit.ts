/**
 * Limits kept in this process's memory: so many a window.
 *
 *     const limiter = createLimiter({ limit: 100, windowSeconds: 60 });
 *     const { allowed, retryAfterSeconds } = limiter.take(address);
 */
import { createHash } from "node:crypto";

export interface Take {
  allowed: boolean;
  /** Zero when allowed; else whole seconds until the same take would be, if nobody else takes meanwhile. */
  retryAfterSeconds: number;
}

export interface Limiter {
  take(key: string, n?: number): Take;
  readonly size: number;
}

export interface LimiterOptions {
  limit: number;
  windowSeconds: number;
  /** Above this many keys the one unused for longest is forgotten. */
  maxKeys?: number;
  /** Milliseconds that never go back. */
  clock?: () => number;
}

interface Counter {
  window: number;
  current: number;
  previous: number;
}

/** Not the time of day: that may be set, and then a window would last for as long as it was set back. */
const monotonic = () => performance.now();

/** Shares of a window are fractions: without this a wait of exactly 20 s could come out as 21. */
const rounding = 1e-6;

/** A sliding window counter: the window before counts by the share of it that the last windowSeconds still cover. */
export function createLimiter(options: LimiterOptions): Limiter {
  const { limit, windowSeconds, maxKeys = 100_000, clock = monotonic } = options;
  const counters = recent<Counter>(maxKeys);

  return {
    take(key, n = 1) {
      const position = clock() / 1000 / windowSeconds;
      const window = Math.floor(position);
      const share = position - window;
      const counter = advance(counters.get(key), window);
      const used = counter.previous * (1 - share) + counter.current;
      const allowed = used + n <= limit + rounding;
      if (allowed) counter.current += n;
      counters.set(key, counter);
      return {
        allowed,
        retryAfterSeconds: allowed
          ? 0
          : Math.max(1, Math.ceil(windowsToWait(counter, share, n, limit) * windowSeconds - rounding)),
      };
    },
    get size() {
      return counters.size;
    },
  };
}

function advance(counter: Counter | undefined, window: number): Counter {
  // A clock that steps back stays in the window it had reached.
  if (counter && window <= counter.window) return counter;
  const previous = counter && counter.window === window - 1 ? counter.current : 0;
  return { window, current: 0, previous };
}

/** In windows, how long until `n` more fit: later in this one, or in the next, where `current` fades out. */
function windowsToWait({ current, previous }: Counter, share: number, n: number, limit: number): number {
  if (n > limit) return 2;
  if (current + n <= limit) return 1 - (limit - n - current) / previous - share;
  return 1 - share + (1 - (limit - n) / current);
}

/** A map that keeps the `max` keys used last. */
function recent<T>(max: number) {
  const entries = new Map<string, T>();
  return {
    get: (key: string) => entries.get(short(key)),
    set(key: string, value: T) {
      const name = short(key);
      entries.delete(name);
      entries.set(name, value);
      if (entries.size <= max) return;
      for (const oldest of entries.keys()) {
        entries.delete(oldest);
        break;
      }
    },
    get size() {
      return entries.size;
    },
  };
}

/** A key may come from a stranger's request: a long one is kept as its hash. */
function short(key: string): string {
  return key.length <= 200 ? key : createHash("sha256").update(key).digest("base64url");
}
