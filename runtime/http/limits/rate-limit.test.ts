import { expect, setSystemTime, test } from "bun:test";
import * as fc from "fast-check";
import { createLimiter } from "./rate-limit.ts";

function clockAt(seconds: number) {
  let now = seconds * 1000;
  return { read: () => now, advance: (by: number) => void (now += by * 1000) };
}

test("a key gets its limit in a window, and others are not touched by it", () => {
  const clock = clockAt(600);
  const limiter = createLimiter({ limit: 3, windowSeconds: 60, clock: clock.read });
  expect([1, 2, 3].map(() => limiter.take("a").allowed)).toEqual([true, true, true]);
  expect(limiter.take("a")).toMatchObject({ allowed: false, retryAfterSeconds: 80 });
  expect(limiter.take("b").allowed).toBe(true);
});

test("the window before fades out instead of ending at once", () => {
  const clock = clockAt(600);
  const limiter = createLimiter({ limit: 10, windowSeconds: 60, clock: clock.read });
  expect(limiter.take("a", 10).allowed).toBe(true);
  clock.advance(60);
  expect(limiter.take("a").allowed).toBe(false);
  clock.advance(30);
  expect(limiter.take("a", 6).allowed).toBe(false);
  expect(limiter.take("a", 5)).toMatchObject({ allowed: true, retryAfterSeconds: 0 });
  clock.advance(120);
  expect(limiter.take("a", 10).allowed).toBe(true);
});

test("more than the whole limit is never allowed", () => {
  const limiter = createLimiter({ limit: 5, windowSeconds: 10, clock: clockAt(0).read });
  expect(limiter.take("a", 6).allowed).toBe(false);
  expect(limiter.take("a", 5).allowed).toBe(true);
});

test("no aligned window allows more than the limit, and who waits as told is let in", () => {
  const step = fc.record({ wait: fc.double({ min: 0, max: 25, noNaN: true }), n: fc.integer({ min: 1, max: 8 }) });
  fc.assert(
    fc.property(fc.integer({ min: 8, max: 20 }), fc.array(step, { maxLength: 60 }), (limit, steps) => {
      const clock = clockAt(1_000);
      const limiter = createLimiter({ limit, windowSeconds: 10, clock: clock.read });
      const allowedIn = new Map<number, number>();
      const take = (n: number) => {
        const result = limiter.take("k", n);
        const window = Math.floor(clock.read() / 10_000);
        if (result.allowed) allowedIn.set(window, (allowedIn.get(window) ?? 0) + n);
        return result;
      };
      for (const { wait, n } of steps) {
        clock.advance(wait);
        const first = take(n);
        if (first.allowed) continue;
        expect(first.retryAfterSeconds).toBeGreaterThanOrEqual(1);
        clock.advance(first.retryAfterSeconds);
        expect(take(n).allowed).toBe(true);
      }
      for (const sum of allowedIn.values()) expect(sum).toBeLessThanOrEqual(limit);
    }),
  );
});

test("memory is bounded: the key unused for longest is forgotten", () => {
  const limiter = createLimiter({ limit: 1, windowSeconds: 60, maxKeys: 3, clock: clockAt(0).read });
  for (const key of ["a", "b", "c"]) limiter.take(key);
  limiter.take("a");
  limiter.take("d");
  expect(limiter.size).toBe(3);
  expect(limiter.take("a").allowed).toBe(false);
  expect(limiter.take("b").allowed).toBe(true);
});

test("a long key is not kept as it stands, and still told from others", () => {
  const limiter = createLimiter({ limit: 1, windowSeconds: 60, clock: clockAt(0).read });
  const long = "x".repeat(100_000);
  expect(limiter.take(long).allowed).toBe(true);
  expect(limiter.take(long).allowed).toBe(false);
  expect(limiter.take(`${long}y`).allowed).toBe(true);
});

test("the time of day means nothing to a limit: no clock that is set makes anybody wait", () => {
  const limiter = createLimiter({ limit: 1, windowSeconds: 1 });
  const now = Date.now();
  setSystemTime(now + 86_400_000);
  try {
    expect(limiter.take("a").allowed).toBe(true);
    setSystemTime(now);
    const { allowed, retryAfterSeconds } = limiter.take("a");
    expect([allowed, retryAfterSeconds <= 2]).toEqual([false, true]);
  } finally {
    setSystemTime();
  }
});
