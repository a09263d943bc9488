import { expect, test } from "bun:test";
import { de, en, pl } from "./text.ts";

const placeholders = (messages: Readonly<Record<string, string>>): [string, string[]][] =>
  Object.entries(messages).map(([name, text]) => [name, (text.match(/\{\w+\}/g) ?? []).toSorted()]);

test.each([
  ["pl", pl],
  ["de", de],
])("%s says everything that English says, with the same values", (_, messages) => {
  expect(placeholders(messages)).toEqual(placeholders(en));
  expect(Object.values(messages).every((text) => text.trim() !== "")).toBe(true);
});
