import { expect, test } from "bun:test";
import { createTurnsByKey } from "./turns.ts";

test("work of one key runs one after another, in order, and a failure does not hold up the next", async () => {
  const turns = createTurnsByKey<string>();
  const seen: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = turns.run("a", async () => {
    await gate.promise;
    seen.push("first");
    throw new Error("the first fails");
  });
  const second = turns.run("a", async () => void seen.push("second"));
  const third = turns.run("a", async () => {
    seen.push("third");
    return 3;
  });
  await turns.run("b", async () => void seen.push("another key"));
  expect(seen).toEqual(["another key"]);
  gate.resolve();
  const failed = await first.catch((error: unknown) => error);
  expect(String(failed)).toContain("the first fails");
  await second;
  expect(await third).toBe(3);
  expect(seen).toEqual(["another key", "first", "second", "third"]);
});

test("a key is busy until its last work has ended, and is then forgotten", async () => {
  const turns = createTurnsByKey<number>();
  expect(turns.busy(1)).toBe(false);
  const gate = Promise.withResolvers<void>();
  const running = [turns.run(1, () => gate.promise), turns.run(1, async () => {})];
  expect([turns.busy(1), turns.busy(2)]).toEqual([true, false]);
  gate.resolve();
  await Promise.all(running);
  expect(turns.busy(1)).toBe(false);
});
