import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import fc from "fast-check";
import { exactly } from "../../../runtime/base/exact-number.ts";
import { matches, mayMatch } from "./match.ts";
import { importSecret, newSecret, signatureOf, tokenInfo } from "./sign.ts";

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
    [{ a: exactly("9007199254740993") }, { a: exactly("9007199254740993.0") }, true],
    [{ a: exactly("9007199254740993") }, { a: exactly("9007199254740995") }, false],
    [{ a: exactly("9007199254740993") }, { a: 9007199254740992 }, false],
    [{ a: {} }, { a: exactly("9007199254740993") }, false],
    [{ a: { b: 1 } }, { a: { b: 1, c: 2 } }, false],
    [{ toString: 1 }, {}, false],
    [{ constructor: {} }, {}, false],
  ])("%j on %j: %p", (filter, data, right) => {
    expect(matches(filter, data)).toBe(right);
  });

  const at = "2026-01-31T10:00:00.000Z";
  test.each([
    [null, {}, true],
    [{ a: 1 }, {}, true],
    [{ a: 1 }, { a: undefined }, true],
    [{ a: 1 }, { a: 2 }, false],
    [{ a: 1, b: 1 }, { b: 2 }, false],
    [{ a: null }, { a: null }, true],
    [{ created_at: at }, { created_at: undefined }, true],
    [{ created_at: at }, { created_at: new Date(at) }, true],
    [{ created_at: at }, { created_at: new Date(0) }, false],
    [{ created_at: at }, { created_at: at }, true],
  ])("%j on what is known, %j: may match %p", (filter, part, right) => {
    expect(mayMatch(filter, part)).toBe(right);
  });

  test("that a part of a record rules out is right about the whole record", () => {
    const value = fc.oneof(fc.integer({ max: 2, min: 0 }), fc.constantFrom("x", "y"), fc.constant(null), fc.boolean());
    const keys = ["a", "b", "c", "created_at"];
    const record = fc.dictionary(fc.constantFrom(...keys), value);
    fc.assert(
      fc.property(record, record, fc.subarray(keys), (filter, whole, known) => {
        const entries = Object.entries(whole);
        const part = Object.fromEntries(entries.filter(([key]) => known.includes(key)));
        const unsettled = Object.fromEntries(entries.map(([key, one]) => [key, known.includes(key) ? one : undefined]));
        if (!matches(filter, whole)) return;
        expect([mayMatch(filter, part), mayMatch(filter, unsettled)]).toEqual([true, true]);
      }),
    );
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
