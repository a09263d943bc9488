import { describe, expect, test } from "bun:test";
import { batched } from "./batch.ts";

describe("calls that come while one is under way", () => {
  test("go together in the next one, and each gets its own result", async () => {
    const seen: number[][] = [];
    const first = Promise.withResolvers<void>();
    const double = batched(
      async (items: readonly number[]) => {
        seen.push([...items]);
        if (seen.length === 1) await first.promise;
        return items.map((item) => item * 2);
      },
      { most: 3 },
    );
    const all = [double(1)];
    await new Promise((resolve) => setTimeout(resolve));
    all.push(double(2), double(3), double(4), double(5));
    first.resolve();
    expect(await Promise.all(all)).toEqual([2, 4, 6, 8, 10]);
    expect(seen).toEqual([[1], [2, 3, 4], [5]]);
  });

  test("leave half of themselves for the batch after the next one, once they are many", async () => {
    const sizes: number[] = [];
    const same = batched(
      async (items: readonly number[]) => {
        sizes.push(items.length);
        return items;
      },
      { most: 30 },
    );
    await Promise.all(Array.from({ length: 100 }, (_, item) => same(item)));
    expect(sizes).toEqual([30, 30, 20, 16, 4]);
  });

  test("run in as many statements at once as may be, and those that come then go together", async () => {
    const seen: number[][] = [];
    const held = Promise.withResolvers<void>();
    const same = batched(
      async (items: readonly number[]) => {
        seen.push([...items]);
        if (!items.includes(4)) await held.promise;
        return items;
      },
      { atOnce: 2 },
    );
    const all: Promise<number>[] = [];
    for (const item of [1, 2, 3, 4]) {
      all.push(same(item));
      await new Promise((resolve) => setTimeout(resolve));
    }
    expect(seen).toEqual([[1], [2]]);
    held.resolve();
    expect(await Promise.all(all)).toEqual([1, 2, 3, 4]);
    expect(seen).toEqual([[1], [2], [3, 4]]);
  });

  test("are shared evenly by the statements that run at once, however the first of them came", async () => {
    const ends: (() => void)[] = [];
    const sizes: number[] = [];
    const same = batched(
      async (items: readonly number[]) => {
        sizes.push(items.length);
        await new Promise<void>((resolve) => ends.push(resolve));
        return items;
      },
      { atOnce: 2 },
    );
    const ended: number[] = [];
    const ask = async (item: number) => ended.push(await same(item));
    const tick = () => new Promise((resolve) => setTimeout(resolve));
    // Two come alone, fourteen while both are under way.
    for (let item = 0; item < 16; item++) {
      void ask(item);
      await tick();
    }
    // Each that has its answer asks again.
    for (let round = 0; round < 6; round++) {
      ends.shift()?.();
      await tick();
      for (const item of ended.splice(0)) void ask(item);
      await tick();
    }
    expect(sizes.slice(0, 2)).toEqual([1, 1]);
    expect(sizes.slice(2)).toEqual([8, 8, 8, 8, 8, 8]);
  });

  test("do not wait for a batch that takes too long", async () => {
    const slow = Promise.withResolvers<void>();
    const seen: number[][] = [];
    const same = batched(
      async (items: readonly number[]) => {
        seen.push([...items]);
        if (items.includes(1)) await slow.promise;
        return items;
      },
      { patienceMs: 5 },
    );
    const first = same(1);
    await new Promise((resolve) => setTimeout(resolve));
    expect(await Promise.all([same(2), same(3)])).toEqual([2, 3]);
    expect(await same(4)).toBe(4);
    slow.resolve();
    expect(await first).toBe(1);
    expect(await same(5)).toBe(5);
    expect(seen).toEqual([[1], [2, 3], [4], [5]]);
  });

  test("that a slow batch leaves over are not forgotten", async () => {
    const slow = Promise.withResolvers<void>();
    const same = batched(
      async (items: readonly number[]) => {
        if (items.length > 1) await slow.promise;
        return items.slice(0, 1);
      },
      { patienceMs: 5 },
    );
    const all = Promise.all([same(1), same(2), same(3)]);
    await new Promise((resolve) => setTimeout(resolve));
    expect(await same(4)).toBe(4); // beside the slow one
    slow.resolve();
    expect(await all).toEqual([1, 2, 3]);
  });

  test("of one tick are one batch from the start", async () => {
    const sizes: number[] = [];
    const same = batched(async (items: readonly number[]) => {
      sizes.push(items.length);
      return items;
    });
    expect(await Promise.all([same(1), same(2), same(3)])).toEqual([1, 2, 3]);
    expect(sizes).toEqual([3]);
  });
});

describe("items with one key", () => {
  test("go into different batches, in their order, and hold up no others", async () => {
    const seen: string[][] = [];
    const same = batched(
      async (items: readonly string[]) => {
        seen.push([...items]);
        return items;
      },
      { keyOf: (item) => item.charAt(0) },
    );
    await Promise.all(["a1", "a2", "b1", "a3", "c1"].map(same));
    expect(seen).toEqual([["a1", "b1", "c1"], ["a2"], ["a3"]]);
  });
});

/** As postgres.js throws what PostgreSQL says. */
const refusal = (code: string) => Object.assign(new Error("refused"), { name: "PostgresError", code });

describe("a batch that fails", () => {
  const cases: [alone: boolean, ends: string[], written: number[]][] = [
    [true, ["fulfilled", "rejected", "fulfilled"], [1, 3]],
    [false, ["rejected", "rejected", "rejected"], []],
  ];
  test.each(cases)("with `alone` %p", async (alone, ends, expected) => {
    const written: number[] = [];
    const put = batched(
      async (items: readonly number[]) => {
        if (items.includes(2)) throw refusal("23514");
        written.push(...items);
        return items;
      },
      { alone },
    );
    const settled = await Promise.allSettled([put(1), put(2), put(3)]);
    expect(settled.map(({ status }): string => status)).toEqual(ends);
    expect(written).toEqual(expected);
    expect(await put(4)).toBe(4);
  });

  test.each([
    ["a lost connection", Object.assign(new Error("write CONNECTION_CLOSED"), { code: "CONNECTION_CLOSED" })],
    ["a server that stops", refusal("57P01")],
    ["what PostgreSQL has not said", new Error("a mistake after the commit")],
  ])("and may have been written is not tried again: %s", async (_, error) => {
    let times = 0;
    const put = batched(
      async () => {
        times++;
        throw error;
      },
      { alone: true },
    );
    const settled = await Promise.allSettled([put(1), put(2)]);
    expect(settled.map(({ status }): string => status)).toEqual(["rejected", "rejected"]);
    expect(times).toBe(1);
  });

  test("of fewer results than items leaves the others for the next statement", async () => {
    const seen: number[][] = [];
    const first = batched(async (items: readonly number[]) => {
      seen.push([...items]);
      return items.slice(0, 2);
    });
    expect(await Promise.all([1, 2, 3, 4, 5].map(first))).toEqual([1, 2, 3, 4, 5]);
    expect(seen).toEqual([[1, 2, 3, 4, 5], [3, 4, 5], [5]]);
    const none = batched(async (items: readonly number[]) => items.slice(1));
    expect(await none(1).catch(String)).toContain("no result");
  });
});
