/**
 * Rate limits in this process's memory: a number of takes per window.
 *
 *     const limiter = createLimiter({ limit: 100, windowSeconds: 60 });
 *     const { allowed, retryAfterSeconds } = limiter.take(address);
 */
import { createHash } from "node:crypto";
import { putNewest } from "../../base/values.ts";

export interface LimitResult {
  allowed: boolean;
  /** Zero if allowed; otherwise whole seconds until the same take would be, if nobody else takes anything. */
  retryAfterSeconds: number;
  /** How many more would be allowed now. */
  remaining: number;
}

export type Limiter = ReturnType<typeof createLimiter>;

export interface LimiterOptions {
  limit: number;
  windowSeconds: number;
  /** Beyond this many keys, the least recently used one is forgotten. */
  maxKeys?: number;
  /** Milliseconds that never decrease. */
  clock?: () => number;
}

export interface Counter {
  window: number;
  current: number;
  previous: number;
}

/** Not the time of day: if that is set back, a window would last as much longer. */
const monotonic = () => performance.now();

/** Absorbs the rounding error of fractions: without it a wait of exactly 20 s could become 21. */
const rounding = 1e-6;

/** A sliding window counter: the previous window counts in proportion to its overlap with the last windowSeconds. */
export function createLimiter(options: LimiterOptions) {
  const { limit, windowSeconds, maxKeys = 100_000, clock = monotonic } = options;
  const counters = new Map<string, Counter>();
  const position = () => clock() / 1000 / windowSeconds;

  return {
    take(key: string, n = 1): LimitResult {
      const name = short(key);
      const { counter, take } = takeFrom(counters.get(name), n, { limit, windowSeconds, position: position() });
      putNewest(counters, name, counter, maxKeys);
      return take;
    },
    /** Counts use on another machine, even beyond the limit. */
    add(key: string, n: number): void {
      const name = short(key);
      const counter = advance(counters.get(name), Math.floor(position()));
      counter.current = Math.max(0, counter.current + n);
      putNewest(counters, name, counter, maxKeys);
    },
    get size(): number {
      return counters.size;
    },
  };
}

interface WindowPosition extends Pick<LimiterOptions, "limit" | "windowSeconds"> {
  /** The time in windows. */
  readonly position: number;
}

/** Takes `n` if they are allowed; the counter as it is then. A negative `n` gives back, but not of the window before. */
export function takeFrom(
  before: Counter | undefined,
  n: number,
  { limit, windowSeconds, position }: WindowPosition,
): { counter: Counter; take: LimitResult } {
  const window = Math.floor(position);
  const share = position - window;
  const counter = advance(before, window);
  const used = counter.previous * (1 - share) + counter.current;
  const allowed = n < 0 || used + n <= limit + rounding;
  if (allowed) counter.current = Math.max(0, counter.current + n);
  const remaining = Math.max(0, Math.floor(limit - used - (allowed ? n : 0) + rounding));
  const secondsToWait = () => Math.ceil(windowsToWait(counter, share, n, limit) * windowSeconds - rounding);
  return { counter, take: { allowed, remaining, retryAfterSeconds: allowed ? 0 : Math.max(1, secondsToWait()) } };
}

function advance(counter: Counter | undefined, window: number): Counter {
  // If the clock steps back, the counter stays in the window it had reached.
  if (counter && window <= counter.window) return counter;
  const previous = counter && counter.window === window - 1 ? counter.current : 0;
  return { window, current: 0, previous };
}

/** How many windows until `n` more fit: later in this one, or in the next one, while `current` fades out. */
function windowsToWait({ current, previous }: Counter, share: number, n: number, limit: number): number {
  if (n > limit) return 2;
  if (current + n <= limit) return 1 - (limit - n - current) / previous - share;
  return 1 - share + (1 - (limit - n) / current);
}

/** A key may come from an anonymous request, so a long one is stored as its hash. */
function short(key: string): string {
  return key.length <= 200 ? key : createHash("sha256").update(key).digest("base64url");
}

/** `Retry-After` in seconds, from a number or an HTTP date; null for anything else. */
export function parseRetryAfter(value: string | null, now = Date.now()): number | null {
  const text = value?.trim() ?? "";
  if (/^\d{1,10}$/.test(text)) return Number(text);
  // `Date.parse` accepts much; an HTTP date begins with the day of the week.
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? null : Math.max(0, (at - now) / 1000);
}
