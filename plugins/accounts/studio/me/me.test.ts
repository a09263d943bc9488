import { expect, test } from "bun:test";
import { codesIn, sessionsOf, spaced } from "./me.ts";

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

test("this session comes first, then the last used", () => {
  const made = { address: null, device: null };
  const answers = [
    { ...made, id: 1, created_at: "2026-01-01T00:00:00Z", last_used_at: null, current: false },
    { ...made, id: 2, created_at: "2026-01-02T00:00:00Z", last_used_at: "2026-01-09T00:00:00Z", current: false },
    { ...made, id: 3, created_at: "2026-01-03T00:00:00Z", last_used_at: null, current: true },
  ];
  expect(sessionsOf(answers).map(({ id }) => id)).toEqual([3, 2, 1]);
});
