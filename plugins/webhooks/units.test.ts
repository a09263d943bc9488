import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import fc from "fast-check";
import { batched } from "./batch.ts";
import { matches, mayMatch } from "./match.ts";
import { nextWait, parseWaits, standardWaits } from "./retry.ts";
import { importSecret, newSecret, signatureOf } from "./sign.ts";
import { tokenInfo } from "./webhook.ts";

describe("a filter", () => {
  test.each([
    [null, { a: 1 }, true],
    [{}, {}, true],
    [{ a: 1 }, { a: 1, b: 2 }, true],
    [{ a: 1 }, { a: "1" }, false],
    [{ a: 1 }, {}, false],
    [{ a: null }, {}, false],
    [{ a: null }, { a: null }, true],
    [{ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, true],
    [{ a: [1, 2] }, { a: [1] }, false],
    [{ a: { b: 1 } }, { a: { b: 1, c: 2 } }, false],
    [{ toString: 1 }, {}, false],
    [{ constructor: {} }, {}, false],
  ])("%j on %j: %p", (filter, data, right) => {
    expect(matches(filter, data)).toBe(right);
  });

  test("that a part of a record rules out is right about the whole record", () => {
    const value = fc.oneof(fc.integer({ max: 2, min: 0 }), fc.constantFrom("x", "y"), fc.constant(null), fc.boolean());
    const record = fc.dictionary(fc.constantFrom("a", "b", "c", "created_at"), value);
    fc.assert(
      fc.property(record, record, fc.subarray(["a", "b", "c"]), (filter, whole, known) => {
        const part = Object.fromEntries(Object.entries(whole).filter(([key]) => known.includes(key)));
        const unknown = { ...part, created_at: new Date(0) };
        if (matches(filter, whole)) expect(mayMatch(filter, unknown)).toBe(true);
      }),
    );
  });
});

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

test("a signature is HMAC-SHA256 over id, time and body, one for each key", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "grapheme" }), fc.nat(), async (body, timestamp) => {
      const secrets = [newSecret(), newSecret()];
      const keys = await Promise.all(secrets.map(importSecret));
      const expected = secrets.map((secret) => {
        const key = Buffer.from(secret.slice("whsec_".length), "base64");
        return `v1,${createHmac("sha256", key).update(`msg_1.${timestamp}.${body}`).digest("base64")}`;
      });
      expect(await signatureOf({ id: "msg_1", timestamp, body }, keys)).toBe(expected.join(" "));
    }),
    { numRuns: 50 },
  );
});

test("a shown credential never gives away most of itself", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), (token) => {
      const shown = tokenInfo(token).replace("...", "");
      expect(shown.length * 2).toBeLessThan(Math.max(token.length, 1));
    }),
  );
});

describe("batches", () => {
  test("give each caller its own result, and take along what came meanwhile", async () => {
    const sizes: number[] = [];
    const first = Promise.withResolvers<void>();
    const double = batched(async (items: readonly number[]) => {
      sizes.push(items.length);
      await first.promise;
      return items.map((item) => item * 2);
    }, 4);
    const results = [double(1), double(2)];
    await Bun.sleep(0);
    for (const item of [3, 4, 5, 6, 7]) results.push(double(item));
    first.resolve();
    expect(await Promise.all(results)).toEqual([2, 4, 6, 8, 10, 12, 14]);
    expect(sizes).toEqual([2, 4, 1]);
  });

  test("that fail reject their callers only", async () => {
    const odd = batched(async (items: readonly number[]) => {
      if (items.includes(1)) throw new Error("one");
      return items.map((item) => item);
    }, 1);
    const [one, two] = await Promise.allSettled([odd(1), odd(2)]);
    expect([one?.status, two?.status]).toEqual(["rejected", "fulfilled"]);
  });
});
