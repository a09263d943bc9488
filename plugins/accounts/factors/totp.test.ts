import { expect, test } from "bun:test";
import { base32, codeAt, keyUri, stepOf } from "./totp.ts";

const secret = new TextEncoder().encode("12345678901234567890");

// The table of RFC 6238, appendix B, the last six of its eight digits.
test.each([
  [59, "287082"],
  [1111111109, "081804"],
  [1111111111, "050471"],
  [1234567890, "005924"],
  [2000000000, "279037"],
  [20000000000, "353130"],
])("at %p the code is %s", async (seconds, code) => {
  expect(await codeAt(secret, Math.floor(seconds / 30))).toBe(code);
});

// RFC 4648, section 10.
test.each([
  ["", ""],
  ["f", "MY"],
  ["fo", "MZXQ"],
  ["foo", "MZXW6"],
  ["foob", "MZXW6YQ"],
  ["fooba", "MZXW6YTB"],
  ["foobar", "MZXW6YTBOI"],
])("%p in base 32 is %p", (text, encoded) => expect(base32(new TextEncoder().encode(text))).toBe(encoded));

const now = 1111111111 * 1000;
const step = Math.floor(1111111111 / 30);
test.each([
  [0, -1, step],
  [-1, -1, step - 1],
  [1, -1, step + 1],
  [-2, -1, undefined],
  [2, -1, undefined],
  // Used already, or older than the one that was.
  [0, step, undefined],
  [-1, step - 1, undefined],
  [1, step, step + 1],
])("a code of %p steps ahead, after step %p was used, is of step %p", async (skew, last, found) => {
  expect(await stepOf(secret, await codeAt(secret, step + skew), last, now)).toBe(found);
});

test.each(["", "12345", "1234567", "abcdef", " 50471"])("%p is no code", async (code) => {
  expect(await stepOf(secret, code, -1, now)).toBeUndefined();
});

test("the address in the QR code names account and person, whatever they are called", () => {
  const uri = new URL(keyUri(secret, "A & B: sons", "łukasz:x"));
  expect(decodeURIComponent(uri.pathname)).toContain("A & B  sons:łukasz x");
  expect(uri.searchParams.get("secret")).toBe("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
  expect(uri.searchParams.get("issuer")).toBe("A & B  sons");
});
