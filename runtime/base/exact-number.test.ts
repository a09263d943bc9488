import { expect, test } from "bun:test";
import fc from "fast-check";
import { numberLiteral as literal, valueOf } from "../../tests/number-literals.ts";
import { ExactNumber, exactly, parseExactly } from "./exact-number.ts";

test("every number keeps its value through a parse and a print", () => {
  fc.assert(
    fc.property(literal, (text) => {
      const source = `{"a":[${text} , {"__proto__": ${text}}],"b":"${text}"}`;
      const parsed = parseExactly(source);
      const printed = JSON.stringify(parsed);
      const found = [...printed.matchAll(/(?<!")-?\d[\d.e+-]*(?!")/gi)].map(([one]) => one);
      expect(found.slice(0, 2).map(valueOf)).toEqual([valueOf(text), valueOf(text)]);
      expect(printed).toEndWith(`,"b":"${text}"}`);
    }),
  );
});

test("only numbers that JavaScript would round are not its own", () => {
  for (const text of [
    "0",
    "-0",
    "1.0",
    "0.1",
    "1e3",
    "1e300",
    "9007199254740992",
    "0.30000000000000004",
    "1.50000000000000000000",
  ])
    expect(exactly(text)).toBe(Number(text));
  for (const [text, printed] of [
    ["9007199254740993", "9007199254740993"],
    ["-7615917337495251231", "-7615917337495251231"],
    ["0.12345678901234567890", "0.1234567890123456789"],
    ["1234567890123456789e3", "1234567890123456789000"],
    ["1e-400", `0.${"0".repeat(399)}1`],
  ] as const)
    expect(JSON.stringify(exactly(text))).toBe(printed);
  expect([exactly("1e400"), exactly("-1e999999"), exactly("1e-1001"), exactly(`0.${"1".repeat(1_001)}`)]).toEqual([
    Infinity,
    -Infinity,
    NaN,
    NaN,
  ]);
});

test("what JSON.parse refuses is refused with long numbers too", () => {
  const n = "12345678901234567890";
  for (const source of [
    `{${n}:1}`,
    `{ ${n} : 1}`,
    `[0${n}]`,
    `[${n}.]`,
    `[${n}e]`,
    `[-]`,
    `[+${n}]`,
    `[${n} ${n}]`,
    `${n}"`,
    `[${n}`,
    `["\\"${n}]`,
    "",
  ])
    expect(() => parseExactly(source)).toThrow(SyntaxError);
  expect(parseExactly(`["\\\\", "\\"${n}", 1]`)).toEqual(["\\", `"${n}`, 1]);
});

test("they compare by value and refuse arithmetic", () => {
  fc.assert(
    fc.property(literal, literal, (a, b) => {
      const [left, right] = [exactly(a), exactly(b)];
      if (!(left instanceof ExactNumber) || (typeof right === "number" && !Number.isFinite(right))) return;
      const order = BigInt(valueOf(a)) - BigInt(valueOf(b));
      expect([left.lt(right), left.gt(right), left.leq(b), left.equals(right)]).toEqual([
        order < 0n,
        order > 0n,
        order <= 0n,
        order === 0n,
      ]);
    }),
  );
  const one = exactly("9007199254740993");
  expect(String(one)).toBe("9007199254740993");
  expect(() => Number(one)).toThrow("too many digits to calculate with");
});
