import { expect, test } from "bun:test";
import { columnValues, givenColumns, indexColumnList, recordIndexValues, textIn } from "./columns-store.ts";
import { indexColumns } from "./columns.ts";

test("values and columns stand in one order, each value cast for its column", () => {
  const [columns, indexed] = [indexColumnList.split(", "), recordIndexValues.split(", ")];
  expect(columns).toEqual([...indexColumns, "long_strings", "inexact_numbers"]);
  expect(indexed.map((name) => name.replace("x.", ""))).toEqual(columns.map((name) => name.replace("idx_", "")));
  expect(columnValues("v")).toBe("v[1], v[2], v[3], v[4]::bigint, v[5]::bigint, v[6]::timestamptz, v[7]::timestamptz");
});

test.each([
  [0, "idx_str_1 = case when g & 1 <> 0 then v[1] else r.idx_str_1 end"],
  [4, "idx_int_2 = case when g & 16 <> 0 then v[5]::bigint else r.idx_int_2 end"],
  [6, "idx_time_2 = case when g & 64 <> 0 then v[7]::timestamptz else r.idx_time_2 end"],
])("column %d is changed only when it is given", (at, text) => {
  expect(givenColumns(textIn("v"), "g").split(", ")[at]).toBe(text);
});
