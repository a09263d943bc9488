import { describe, expect, test } from "bun:test";
import { nextWait, parseWaits, standardWaits } from "./health.ts";

describe("waits", () => {
  const waits = parseWaits(standardWaits);

  test("are about 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h, and then it is over", () => {
    for (const [at, seconds] of [5, 300, 1800, 7200, 18_000, 36_000, 36_000].entries())
      for (const random of [0, 0.5, 0.999])
        expect(Math.abs((nextWait(waits, at + 1, null, random) ?? 0) / seconds - 1)).toBeLessThanOrEqual(0.1);
    expect(nextWait(waits, 8, null)).toBeUndefined();
    expect(nextWait(waits, 8, 60)).toBeUndefined();
  });

  test("are no shorter than the receiver asks, and at most a day longer", () => {
    expect(nextWait(waits, 1, 120, 0)).toBe(120);
    expect(nextWait(waits, 2, 1, 0.5)).toBe(300);
    expect(nextWait(waits, 1, 10 ** 9, 0)).toBe(86_400);
  });

  test.each(["", "x", "1,,2", "-1", "1;2", "9999999", Array(21).fill("1").join(",")])("%j is refused", (text) => {
    expect(() => parseWaits(text)).toThrow("seconds");
  });
});
