import { afterEach, expect, test } from "bun:test";
import { localCounting } from "./shared-limits.ts";
import { spreadLimits } from "./spread-limits.ts";

const machines: ReturnType<typeof spreadLimits>[] = [];
const listeners: { readonly own: number; readonly hear: (payload: string, fromOther: boolean) => void }[] = [];
afterEach(() => {
  for (const machine of machines.splice(0)) machine.stop();
  listeners.length = 0;
});

/** A process on a machine of its own; what it tells arrives when it is asked to tell. */
function startMachine(counting = localCounting()) {
  const own = machines.length;
  const broadcast: Parameters<typeof spreadLimits>[1] = {
    publish: (_topic, payload) => listeners.forEach((one) => one.hear(payload, one.own !== own)),
    on: (_topic, hear) => {
      listeners.push({ own, hear });
      return () => {};
    },
  };
  const machine = spreadLimits(counting, broadcast, `process ${own}`, async ({ key }) => ({
    allowed: key === "in the database",
    remaining: 0,
    retryAfterSeconds: 0,
  }));
  machines.push(machine);
  return machine;
}

const options = { limit: 100, windowSeconds: 600 };

async function allowed(limiter: ReturnType<ReturnType<typeof startMachine>["limits"]>, times: number, key = "k") {
  let count = 0;
  for (let n = 0; n < times; n++) if ((await limiter.take(key)).allowed) count++;
  return count;
}

test("what one machine has let through is missing at the others, but for less than a twentieth of the limit", async () => {
  const [a, b, c] = [startMachine(), startMachine(), startMachine()];
  const [atA, atB, atC] = [a.limits("l", options), b.limits("l", options), c.limits("l", options)];
  expect(await allowed(atA, 48)).toBe(48);
  a.publishUses();
  // 45 of the 48 were told.
  expect(await allowed(atB, 100)).toBe(55);
  b.publishUses();
  expect(await allowed(atC, 100)).toBe(0);
  expect(await allowed(atA, 100)).toBe(0);
  expect(await allowed(atC, 1, "of another")).toBe(1);
});

test("between two messages each machine lets through what its own count allows, and nobody anything after them", async () => {
  const all = [startMachine(), startMachine()];
  const limiters = all.map(({ limits }) => limits("l", options));
  expect(await Promise.all(limiters.map((limiter) => allowed(limiter, 30)))).toEqual([30, 30]);
  for (const machine of all) machine.publishUses();
  expect(await Promise.all(limiters.map((limiter) => allowed(limiter, 100)))).toEqual([40, 40]);
  for (const machine of all) machine.publishUses();
  expect(await Promise.all(limiters.map((limiter) => allowed(limiter, 10)))).toEqual([0, 0]);
});

test("the processes of a machine count a message once, and none of each other", async () => {
  const counting = localCounting();
  const [a, b] = [startMachine(counting), startMachine(counting)];
  const elsewhere = startMachine();
  expect(await allowed(a.limits("l", options), 20)).toBe(20);
  a.publishUses();
  expect(await allowed(elsewhere.limits("l", options), 20)).toBe(20);
  elsewhere.publishUses();
  expect(await allowed(b.limits("l", options), 100)).toBe(60);
});

test("a key of any length and any characters fits a message", async () => {
  const [a, b] = [startMachine(), startMachine()];
  const strict = { limit: 1, windowSeconds: 600 };
  const keys = ["a".repeat(10_000), '"\\'.repeat(90), "ż".repeat(150), ...Array.from({ length: 40 }, (_, n) => `${n}`)];
  for (const key of keys) expect(await allowed(a.limits("l", strict), 2, key)).toBe(1);
  a.publishUses();
  for (const key of keys) expect(await allowed(b.limits("l", strict), 2, key)).toBe(0);
});

test("an exact limit is counted in the database", async () => {
  const limiter = startMachine().limits("l", { ...options, exact: true });
  expect((await limiter.take("in the database")).allowed).toBe(true);
  expect((await limiter.take("another")).allowed).toBe(false);
});
