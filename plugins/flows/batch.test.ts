import { expect, test } from "bun:test";
import { createBatch } from "./batch.ts";

test("what comes while a write is under way goes together in the next one", async () => {
  const written: number[][] = [];
  let release: () => void = () => {};
  const put = createBatch<number>(async (items) => {
    written.push([...items]);
    if (written.length === 1) await new Promise<void>((resolve) => (release = resolve));
  }, 3);
  const all = [put(1)];
  await Bun.sleep(0);
  all.push(put(2), put(3), put(4), put(5));
  release();
  await Promise.all(all);
  expect(written).toEqual([[1], [2, 3, 4], [5]]);
});

test("one that cannot be written is refused alone", async () => {
  const written: number[] = [];
  const put = createBatch<number>(async (items) => {
    if (items.includes(2)) throw new Error("not two");
    written.push(...items);
  });
  const ends = await Promise.allSettled([put(1), put(2), put(3)]);
  expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(written).toEqual([1, 3]);
});
