import { afterAll, beforeAll, expect, test } from "bun:test";
import { cutListening, startProcess, startTestDatabase, until, type TestDatabase } from "../../tests/job-fixtures.ts";
import type { Broadcast } from "./broadcast.ts";
import { cacheKey, createCache, parseCacheKey } from "./cache.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database.stop());

/** A source whose loads end when the test says so. */
function slowSource() {
  const loads: { key: string; end: (value: string | undefined) => void }[] = [];
  const load = (key: string) => {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    loads.push({ key, end: resolve });
    return promise;
  };
  return { loads, load };
}

/** One process alone, without a database. */
function lonely(healthy = () => true) {
  const resets: (() => void)[] = [];
  const listeners = new Map<string, (payload: string, fromOtherProcess: boolean) => void>();
  const broadcast: Broadcast = {
    publish: (topic, payload) => listeners.get(topic)?.(payload, false),
    on: (topic, run) => {
      listeners.set(topic, run);
      return () => {};
    },
    onReset: (run) => {
      resets.push(run);
      return () => {};
    },
    flush: async () => {},
    hearsItself: async () => true,
    healthy,
    start: async () => {},
    stop: async () => {},
  };
  return { broadcast, reset: () => resets.forEach((run) => run()) };
}

test("concurrent callers share one load, and the value is kept", async () => {
  const { loads, load } = slowSource();
  const cache = createCache({ name: "c", max: 10, ...lonely(), load });
  const both = Promise.all([cache.get("k"), cache.get("k")]);
  loads[0]?.end("v");
  expect(await both).toEqual(["v", "v"]);
  expect(cache.peek("k")).toBe("v");
  expect(await cache.get("k")).toBe("v");
  expect(loads).toHaveLength(1);
});

test("what was read before an invalidation is not kept, and nobody who asks after it gets it", async () => {
  const { loads, load } = slowSource();
  const cache = createCache({ name: "c", max: 10, ...lonely(), load });
  const before = cache.get("k");
  await cache.invalidate("k");
  const after = cache.get("k");
  loads[1]?.end("new");
  expect(await after).toBe("new");
  loads[0]?.end("old");
  expect(await before).toBe("old");
  expect(cache.peek("k")).toBe("new");
});

test("neither a failed load nor a missing value is kept", async () => {
  let calls = 0;
  const load = async () => {
    if (++calls === 1) throw new Error("no database");
    return undefined;
  };
  const cache = createCache({ name: "c", max: 10, ...lonely(), load });
  expect(await cache.get("k").catch(String)).toBe("Error: no database");
  expect(await cache.get("k")).toBeUndefined();
  expect(await cache.get("k")).toBeUndefined();
  expect(calls).toBe(3);
});

test("what was not asked for the longest goes first", async () => {
  const cache = createCache({ name: "c", max: 2, ...lonely(), load: async (key) => key });
  await cache.get("a");
  await cache.get("b");
  await cache.get("a");
  await cache.get("c");
  expect([cache.peek("a"), cache.peek("b"), cache.peek("c")]).toEqual(["a", undefined, "c"]);
});

test("while nothing is heard of changes, every get loads", async () => {
  let healthy = true;
  let value = 1;
  const { broadcast, reset } = lonely(() => healthy);
  const cache = createCache({ name: "c", max: 2, broadcast, load: async () => value++ });
  expect(await cache.get("k")).toBe(1);
  healthy = false;
  expect(cache.peek("k")).toBeUndefined();
  expect([await cache.get("k"), await cache.get("k")]).toEqual([2, 3]);
  healthy = true;
  reset();
  expect([await cache.get("k"), await cache.get("k")]).toEqual([4, 4]);
});

test("an invalidation reaches the other process before it resolves, also after the connection was lost", async () => {
  await using a = await startProcess(database.target);
  await using b = await startProcess(database.target);
  let value = 0;
  const load = async () => ({ value });
  const ofA = createCache({ name: "values", max: 10, broadcast: a.broadcast, load });
  const ofB = createCache({ name: "values", max: 10, broadcast: b.broadcast, load });
  for (let round = 1; round <= 20; round++) {
    await Promise.all([ofA.get("k"), ofB.get("k")]);
    value = round;
    await ofA.invalidate("k");
    expect(await ofA.get("k")).toEqual({ value: round });
    await until(async () => (await ofB.get("k"))?.value === round, "the other process");
  }
  await cutListening(database.sql, b.processId);
  value = 100;
  await ofA.invalidate("k");
  await until(async () => (await ofB.get("k"))?.value === 100, "the other process after its loss");
});

test.each(["greeting", "docs/a b", "/", "", "1:2"])("a key of an account and %p can be read back", (name) => {
  expect(parseCacheKey(cacheKey(17, name))).toEqual({ accountId: 17, name });
});
