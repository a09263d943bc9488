import { expect, test } from "bun:test";
import { filesToRetry, readReport, totals } from "./test-report.ts";

const report = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bun test" tests="7" failures="2" skipped="1">
  <testsuite name="a.test.ts" file="a.test.ts" tests="4" failures="2" skipped="1">
    <testsuite name="x" file="a.test.ts" tests="4" failures="2" skipped="1">
      <testcase name="bad &lt;&amp;" file="a.test.ts"><failure message="no&#10;" /></testcase>
    </testsuite>
  </testsuite>
  <testsuite name="b.test.ts" file="b.test.ts" tests="3" failures="0" skipped="0">
    <testcase name="ok" file="b.test.ts" />
  </testsuite>
</testsuites>`;
const first = [
  { file: "a.test.ts", passed: 1, failed: 2 },
  { file: "b.test.ts", passed: 3, failed: 0 },
];

test("a report is counted by file", () => {
  expect(readReport(report)).toEqual(first);
  expect(readReport("")).toEqual([]);
});

test("what failed is tried again, and what did not run", () => {
  expect(filesToRetry(first, ["a.test.ts", "b.test.ts", "not-loaded.test.ts"])).toEqual([
    "a.test.ts",
    "not-loaded.test.ts",
  ]);
});

test.each([
  ["passes alone", [{ file: "a.test.ts", passed: 3, failed: 0 }], { passed: 6, failed: 0 }],
  ["fails alone too", [{ file: "a.test.ts", passed: 2, failed: 1 }], { passed: 5, failed: 1 }],
  ["does not run again", [], { passed: 3, failed: 0 }],
])("a file that %s", (_, second, expected) => {
  expect(totals(first, second, ["a.test.ts"])).toEqual(expected);
});
