import { expect, test } from "bun:test";
import { createByteCache } from "./kept-pages.ts";

const create = () => createByteCache<string>(100_000, (text) => text.length);
const text = (chars: number) => "x".repeat(chars);

test("what is kept never takes more than it may", () => {
  const cache = create();
  for (let index = 0; index < 1000; index++) {
    cache.put(`key ${index % 300}`, text(index % 7 === 0 ? 10_000 : 500));
    expect(cache.bytes).toBeLessThanOrEqual(100_000);
  }
  expect(cache.bytes).toBeGreaterThan(50_000);
});

test("what is too large to be kept is not", () => {
  const cache = create();
  cache.put("a", text(20_000));
  expect([cache.get("a"), cache.bytes]).toEqual([undefined, 0]);
});

test("what was asked for stays longer than what was not", () => {
  const cache = createByteCache<string>(20_000, (one) => one.length);
  cache.put("asked", text(1000));
  cache.put("other", text(1000));
  for (let index = 0; index < 30; index++) {
    cache.put(`further ${index}`, text(500));
    expect(cache.get("asked")).toBeDefined();
  }
  expect(cache.get("other")).toBeUndefined();
});

test("what is taken out leaves its room", () => {
  const cache = create();
  cache.put("a", text(100));
  cache.delete("a");
  cache.delete("a");
  expect([cache.get("a"), cache.bytes]).toEqual([undefined, 0]);
});

test("a key that is kept again counts once", () => {
  const cache = create();
  for (let index = 0; index < 50; index++) cache.put("a", text(1000));
  expect(cache.bytes).toBeLessThan(5000);
});
