import { describe, expect, test } from "bun:test";
import { ValidationError } from "platform";
import { limits } from "../fields.ts";
import { blank, edited, type EditBody } from "./patch.ts";
import type { AppRow } from "../store.ts";

const row: AppRow = {
  ...blank,
  name: "A",
  sourceCode: "let a = 1; let b = 1;",
  prompt: "Count. Count again.",
  fields: { title: "One", list: [1, 1], dashboard_widget: true },
  id: "019a9c1e-0000-7000-8000-000000000003",
  accountId: 1,
  trusted: false,
  icon: null,
  color: null,
  appBuildTime: 0,
  cssBuildTime: 0,
  createdById: 1,
  updatedById: null,
  version: 1,
  createdAt: new Date(0),
  updatedAt: new Date(0),
};
const edit = (body: EditBody) => edited(row, body);

function refusal(body: EditBody): unknown {
  try {
    return edit(body);
  } catch (error) {
    if (error instanceof ValidationError) return error.fields;
    throw error;
  }
}

describe("an edit", () => {
  const cases: [what: string, body: EditBody, patch: object][] = [
    [
      "of the source takes the first occurrence",
      { field: "source_code", old_string: "1", new_string: "2" },
      { source_code: "let a = 2; let b = 1;" },
    ],
    [
      "of the source takes all of them",
      { field: "source_code", old_string: "1", new_string: "2", replace_all: true },
      { source_code: "let a = 2; let b = 2;" },
    ],
    [
      "knows the other names of the texts",
      { field: "source_code", old: "let a = 1; ", new: "" },
      { source_code: "let b = 1;" },
    ],
    [
      "prefers the longer names",
      { field: "source_code", old_string: "a", old: "b", new_string: "x", new: "y" },
      { source_code: "let x = 1; let b = 1;" },
    ],
    [
      "puts in what a pattern would read",
      { field: "prompt", old: "again", new: "$& $1" },
      { prompt: "Count. Count $& $1." },
    ],
    ["may leave no prompt", { field: "prompt", old: row.prompt ?? "", new: "" }, { prompt: "" }],
    [
      "of fields works on compact JSON",
      { field: "fields", old: '"title":"One"', new: '"title":"Two"' },
      { fields: { ...row.fields, title: "Two" }, dashboard_widget: true },
    ],
    [
      "of fields may take the tile away",
      { field: "fields", old: ',"dashboard_widget":true', new: "" },
      { fields: { title: "One", list: [1, 1] }, dashboard_widget: null },
    ],
  ];
  test.each(cases)("%s", (_, body, patch) => expect(edit(body)).toEqual(patch));
});

describe("an edit is refused", () => {
  const cases: [what: string, body: EditBody, fields: object][] = [
    ["without a text to look for", { field: "source_code", new_string: "x" }, { old_string: ["can't be blank"] }],
    ["of an empty text", { field: "source_code", old_string: "", new_string: "x" }, { old_string: ["can't be blank"] }],
    ["without a new text", { field: "source_code", old_string: "a" }, { new_string: ["is required"] }],
    ["of a text that is not there", { field: "source_code", old: "zebra", new: "x" }, { old_string: ["is not found"] }],
    ["in another case", { field: "prompt", old: "count", new: "x" }, { old_string: ["is not found"] }],
    [
      "that leaves no source",
      { field: "source_code", old: row.sourceCode, new: " " },
      { source_code: ["can't be blank"] },
    ],
    [
      "that makes the source too long",
      { field: "source_code", old: "1", new: "x".repeat(limits.sourceCode + 1), replace_all: true },
      { new_string: ["makes the text too long"] },
    ],
  ];
  test.each(cases)("%s", (_, body, fields) => expect(refusal(body)).toEqual(fields));

  test("of fields that would be no object", () => {
    const whole = JSON.stringify(row.fields);
    expect(refusal({ field: "fields", old: whole, new: "[1]" })).toHaveProperty("fields");
  });
});
