import { expect, test } from "bun:test";
import { codesIn, spaced } from "./factors.ts";

test.each([
  ["GEZDGNBVGY", "GEZD GNBV GY"],
  ["GEZD", "GEZD"],
  ["", ""],
])("%p is shown as %p", (secret, shown) => expect(spaced(secret)).toBe(shown));

test.each([
  [{ recovery_codes: ["a", "b"] }, ["a", "b"]],
  [{ recovery_codes: [] }, []],
  [{}, []],
  [null, []],
  ["x", []],
])("%j shows the codes %j", (json, codes) => expect(codesIn(json)).toEqual(codes));
