import { describe, expect, test } from "bun:test";
import { newsOf } from "./resources.ts";

/** `a` is a row, `a!` the same row with another value. */
const rowsOf = (text: string) =>
  text.split(" ").flatMap((one) => (one === "" ? [] : { id: one.replace("!", ""), value: one.endsWith("!") }));
const key = (row: unknown) => (row as { id: string }).id; // of rowsOf

describe("news of a list", () => {
  test.each<[string, string, boolean, string, string, string]>([
    // shown, now, full: changed, gone, fresh
    ["a b", "a b", false, "", "", ""],
    ["a b", "a b!", false, "b", "", ""],
    ["a b", "b! a", false, "b", "", ""],
    ["a b", "b", false, "", "a", ""],
    ["a b", "a", false, "", "b", ""],
    ["a b", "a b c", false, "", "", "c"],
    ["a b", "c a b", false, "", "", "c"],
    ["", "a", false, "", "", "a"],
    ["a", "", false, "", "a", ""],
    // The next page begins elsewhere.
    ["a b c", "x a b", true, "", "", "x"],
    ["a b c", "a c d", true, "", "b", ""],
    ["a b c", "x a c", true, "", "b", "x"],
    ["a b c", "d e f", true, "", "", ""],
  ])("%p that are %p now, the page full: %p", (shown, now, isFull, changed, gone, fresh) => {
    const found = newsOf(rowsOf(shown), rowsOf(now), key, isFull);
    expect([found.changed, found.gone, found.fresh].map((ids) => ids.join(" "))).toEqual([changed, gone, fresh]);
  });

  test("rows stay where they are", () => {
    const found = newsOf(rowsOf("a b c"), rowsOf("c! a d"), key, false);
    expect(found.rows).toEqual(rowsOf("a b c!"));
  });
});
