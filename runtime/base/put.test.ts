import { expect, test } from "bun:test";
import { putAt } from "./put.ts";

const stands = { id: "7", name: "Tea", fields: { a: [1] }, active: true };
const cases: [
  what: string,
  given: Partial<typeof stands>,
  found: typeof stands | undefined,
  calls: string[],
  done: string,
][] = [
  ["nothing there", { name: "Tea" }, undefined, ["create"], "made"],
  ["the same", { name: "Tea", fields: { a: [1] } }, stands, [], "unchanged"],
  ["nothing given", {}, stands, [], "unchanged"],
  ["another name", { name: "Coffee" }, stands, ["update 7"], "changed"],
  ["another value inside", { fields: { a: [2] } }, stands, ["update 7"], "changed"],
  ["switched off", { active: false }, stands, ["update 7"], "changed"],
];
test.each(cases)("%s", async (_, given, found, expected, done) => {
  const calls: string[] = [];
  const result = await putAt<Partial<typeof stands>>(given, found, {
    create: async () => {
      calls.push("create");
      return { id: "8" };
    },
    update: async (id) => void calls.push(`update ${id}`),
  });
  expect(calls).toEqual(expected);
  expect(result).toEqual({ id: found ? "7" : "8", done } as typeof result);
});
