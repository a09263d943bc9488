import { expect, test } from "bun:test";
import { parseProcessors, upperHalf } from "./child-process.ts";

test.each([
  ["0-1", [1]],
  ["0-3", [2, 3]],
  ["0-2", [2]],
  ["0-2,8", [2, 8]],
  ["2,5", [5]],
  ["0", []],
])("of the processors %s, child processes have %p", (all, half) => {
  expect(upperHalf(parseProcessors(all))).toEqual(half);
});
