import { expect, test } from "bun:test";
import fc from "fast-check";
import { dividedBy, minus, plus, sum, times } from "./liquid-arithmetic.ts";

test.each<[unknown, string]>([
  [times(0.1, 3), "0.3"],
  [times(1.15, 100), "115"],
  [minus(100, 99.9), "0.1"],
  [plus(1.1, 2.2), "3.3"],
  [sum([0.1, 0.2, "0.3", "x", undefined, true]), "1.6"],
  [dividedBy(0.3, 0.1), "3"],
  [dividedBy(1, 3), `${1 / 3}`],
  [dividedBy(7, 2), "3.5"],
  [dividedBy(7, 2, true), "3"],
  [dividedBy(1, 0), "Infinity"],
  [plus("2.5", " 1 "), "3.5"],
  [plus("x", null), "0"],
  [plus(9007199254740991, 2), "9007199254740993"],
  [times(123456789012, 1000000007), "123456789876197523084"],
  [minus(-0.5, 0.25), "-0.75"],
  [times(1e300, 1e300), "Infinity"],
  [plus(1e-300, 1), "1"],
  [times(-0.000001, 1e-7), "-1e-13"],
])("%# is %s", (result, printed) => {
  expect(String(result)).toBe(printed);
});

test("cents add up to cents", () => {
  const cents = fc.integer({ min: -1e9, max: 1e9 });
  fc.assert(
    fc.property(fc.array(cents, { maxLength: 30 }), (all) => {
      const total = all.reduce((before, cent) => before + cent, 0);
      expect(Number(sum(all.map((cent) => cent / 100)))).toBe(total / 100 + 0);
    }),
  );
});

test("results are the doubles nearest to what decimals give, short or long", () => {
  const valueOf = (result: unknown) => Number(String(result)) + 0;
  const decimal = fc.tuple(fc.integer({ min: -1e12, max: 1e12 }), fc.integer({ min: 0, max: 9 }));
  fc.assert(
    fc.property(decimal, decimal, ([a, p], [b, q]) => {
      const [x, y] = [Number(`${a}e-${p}`), Number(`${b}e-${q}`)];
      const [left, right] = [BigInt(a) * 10n ** BigInt(q), BigInt(b) * 10n ** BigInt(p)];
      expect(valueOf(plus(x, y))).toBe(valueOf(`${left + right}e-${p + q}`));
      expect(valueOf(minus(x, y))).toBe(valueOf(`${left - right}e-${p + q}`));
      expect(valueOf(times(x, y))).toBe(valueOf(`${BigInt(a) * BigInt(b)}e-${p + q}`));
    }),
    { numRuns: 2000 },
  );
});
