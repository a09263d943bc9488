import { expect, test } from "bun:test";
import fc from "fast-check";
import { crc32, derivedRawToken, isWellFormed, newRawToken, tokenInfo } from "./raw-token.ts";

test("a new token has the form that scanners know, and is like no other", () => {
  const made = new Set(Array.from({ length: 1000 }, newRawToken));
  expect(made.size).toBe(1000);
  for (const token of made) {
    expect(token).toMatch(/^core_[0-9A-Za-z]{42}$/);
    expect(isWellFormed(token)).toBe(true);
  }
});

test("every character comes about equally often", () => {
  const counts = new Map<string, number>();
  for (let at = 0; at < 2000; at++) {
    for (const letter of newRawToken().slice(5, 41)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  }
  expect(counts.size).toBe(62);
  // 72,000 draws: 1161 of each, give or take 34; seven times that never happens by chance.
  for (const count of counts.values()) expect(Math.abs(count - 72_000 / 62)).toBeLessThan(240);
});

test("the checksum is CRC-32", () => {
  expect(crc32("123456789")).toBe(0xcbf43926);
  expect(crc32("")).toBe(0);
});

test("a token with one character changed is refused", () => {
  const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const change = fc.tuple(fc.integer({ min: 5, max: 46 }), fc.constantFrom(...letters.split("")));
  fc.assert(
    fc.property(change, ([at, letter]) => {
      const token = newRawToken();
      const changed = token.slice(0, at) + letter + token.slice(at + 1);
      expect(isWellFormed(changed)).toBe(changed === token);
    }),
  );
});

test("nothing else is well-formed", () => {
  fc.assert(fc.property(fc.string(), (text) => !isWellFormed(text)));
  for (const text of ["", "core_", `core_${"0".repeat(42)}`, ` ${newRawToken()}`, `${newRawToken()}0`])
    expect(isWellFormed(text)).toBe(false);
});

test("a derived token is the same for the same value only", () => {
  const keyed = (key: string) => ({
    derive: (purpose: string, value: string) =>
      new Bun.CryptoHasher("sha256", key).update(`${purpose}:${value}`).digest("base64url"),
  });
  const token = derivedRawToken(keyed("a"), "1:2:3");
  expect(isWellFormed(token)).toBe(true);
  expect(derivedRawToken(keyed("a"), "1:2:3")).toBe(token);
  expect(derivedRawToken(keyed("a"), "1:2:4")).not.toBe(token);
  expect(derivedRawToken(keyed("b"), "1:2:3")).not.toBe(token);
});

test("what is shown of a token gives little away", () => {
  expect(tokenInfo("core_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdef")).toBe("core_ABC...cdef");
  expect(tokenInfo("short-token")).toBe("sh...");
});
