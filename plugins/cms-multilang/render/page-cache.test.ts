import { expect, test } from "bun:test";
import { createPageCache, type PageEntry } from "./page-cache.ts";

const entry = (chars: number, expiresAt = Infinity): PageEntry => {
  return { reply: { status: 200, body: "x".repeat(chars), headers: {} }, expiresAt };
};

test("what is kept never takes more than it may", () => {
  const cache = createPageCache(100_000);
  for (let index = 0; index < 1000; index++) {
    cache.put(`key ${index % 300}`, entry(index % 7 === 0 ? 10_000 : 500));
    expect(cache.bytes).toBeLessThanOrEqual(100_000);
  }
  expect(cache.bytes).toBeGreaterThan(50_000);
});

test("what is too large to be kept is not", () => {
  const cache = createPageCache(100_000);
  cache.put("a", entry(20_000));
  expect([cache.get("a", 0), cache.bytes]).toEqual([undefined, 0]);
});

test("what was asked for stays longer than what was not", () => {
  const cache = createPageCache(20_000);
  cache.put("asked", entry(1000));
  cache.put("other", entry(1000));
  for (let index = 0; index < 30; index++) {
    cache.put(`further ${index}`, entry(500));
    expect(cache.get("asked", 0)).toBeDefined();
  }
  expect(cache.get("other", 0)).toBeUndefined();
});

test("what has expired is gone, and its room is free", () => {
  const cache = createPageCache(100_000);
  cache.put("a", entry(100, 1000));
  expect(cache.get("a", 999)).toBeDefined();
  expect(cache.get("a", 1000)).toBeUndefined();
  expect(cache.bytes).toBe(0);
});

test("a key that is kept again counts once", () => {
  const cache = createPageCache(100_000);
  for (let index = 0; index < 50; index++) cache.put("a", entry(1000));
  expect(cache.bytes).toBeLessThan(5000);
});
