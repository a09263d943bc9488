import { expect, test } from "bun:test";
import { notice } from "../scripts/notice.ts";

test.each([
  "postcss",
  "source-map-js",
  "picocolors",
  "@babel/parser",
  "nanoid",
  "eventemitter3",
  "postcss-selector-parser",
])("NOTICE names %s, which a file of another package holds", async (name) => {
  const text = await Bun.file(`${import.meta.dir}/../NOTICE`).text();
  expect(text.split("\n").some((line) => line.startsWith(`${name} `))).toBe(true);
});

test("NOTICE names what the executable carries: run bun scripts/notice.ts", async () => {
  expect(await Bun.file(`${import.meta.dir}/../NOTICE`).text()).toBe(await notice());
});
