import { expect, setSystemTime, test } from "bun:test";
import * as fc from "fast-check";
import { createBackoff, createLimiter } from "./rate-limit.ts";

function clockAt(seconds: number) {
  let now = seconds * 1000;
  return { read: () => now, advance: (by: number) => void (now += by * 1000) };
}

test("a key gets its limit in a window, and others are not touched by it", () => {
  const clock = clockAt(600);
  const limiter = createLimiter({ limit: 3, windowSeconds: 60, clock: clock.read });
  expect([1, 2, 3].map(() => limiter.take("a").remaining)).toEqual([2, 1, 0]);
  expect(limiter.take("a")).toEqual({ allowed: false, remaining: 0, retryAfterSeconds: 80 });
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
  expect(limiter.take("a", 5)).toEqual({ allowed: true, remaining: 0, retryAfterSeconds: 0 });
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

test("five failures are free, then each costs 1, 2, 4 … 60 seconds", () => {
  const clock = clockAt(0);
  const backoff = createBackoff({ clock: clock.read });
  const waits: number[] = [];
  for (let failure = 0; failure < 14; failure++) {
    expect(backoff.attempt("ann 10.0.0.1")).toBe(0);
    const wait = failure < 4 ? 0 : backoff.attempt("ann 10.0.0.1");
    waits.push(wait);
    clock.advance(wait);
  }
  expect(waits).toEqual([0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
});

test("a try while one has to wait is refused and costs nothing more", () => {
  const clock = clockAt(0);
  const backoff = createBackoff({ clock: clock.read });
  for (let i = 0; i < 7; i++) {
    backoff.attempt("k");
    clock.advance(i < 4 ? 0 : 60);
  }
  backoff.attempt("k");
  expect([backoff.attempt("k"), backoff.attempt("k"), backoff.attempt("k")]).toEqual([8, 8, 8]);
  clock.advance(7.5);
  expect(backoff.attempt("k")).toBe(1);
  clock.advance(0.5);
  expect(backoff.attempt("k")).toBe(0);
});

test("tries that all start before one has ended do not slip through", () => {
  const backoff = createBackoff({ clock: clockAt(0).read });
  const started = Array.from({ length: 1000 }, () => backoff.attempt("k")).filter((wait) => wait === 0);
  expect(started.length).toBe(5);
});

test("a success, or a long rest, forgets the failures", () => {
  const clock = clockAt(0);
  const backoff = createBackoff({ clock: clock.read, forgetSeconds: 100 });
  for (let i = 0; i < 5; i++) backoff.attempt("k");
  expect(backoff.attempt("k")).toBe(1);
  backoff.succeed("k");
  for (let i = 0; i < 5; i++) expect(backoff.attempt("k")).toBe(0);
  clock.advance(101);
  for (let i = 0; i < 5; i++) expect(backoff.attempt("k")).toBe(0);
  expect(backoff.attempt("k")).toBe(1);
});

test("the memory of failures is bounded", () => {
  const backoff = createBackoff({ maxKeys: 50, clock: clockAt(0).read });
  for (let i = 0; i < 1000; i++) backoff.attempt(`login ${i}`);
  expect(backoff.size).toBe(50);
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
