/** What the panel of a record decides. */
import { expect, test } from "bun:test";
import { mentionAt, partsOf, withMention } from "./mentions.ts";

test.each([
  ["Hi @an", 6, { from: 3, typed: "an" }],
  ["@", 1, { from: 0, typed: "" }],
  ["mail@example", 12, undefined],
  ["@ann is", 7, undefined],
])("of %p, written up to %p, the mention %p is typed", (text, caret, found) => {
  expect(mentionAt(text, caret)).toEqual(found);
});

test("a mention takes the place of what was typed of it, and is shown as one", () => {
  expect(withMention("Hi @an!", { from: 3, typed: "an" }, "anna")).toEqual({ text: "Hi @anna !", caret: 9 });
  expect(partsOf("Hi @anna, see\n@ben")).toEqual([
    { text: "Hi ", isMention: false },
    { text: "@anna,", isMention: true },
    { text: " see\n", isMention: false },
    { text: "@ben", isMention: true },
  ]);
});
