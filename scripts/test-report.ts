/** Reads bun's JUnit report by test file. */
import { SaxesParser } from "saxes";

export interface FileReport {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
}

/** One entry a file. A file that could not be loaded is not in the report. Throws if the text is no XML. */
export function readReport(xml: string): FileReport[] {
  const found: FileReport[] = [];
  const parser = new SaxesParser();
  let depth = 0;
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name, attributes }) => {
    if (name !== "testsuite") return;
    depth += 1;
    // Inner suites are the file's groups.
    if (depth > 1) return;
    const count = (of: string) => Number(attributes[of] ?? 0);
    const failed = count("failures") + count("errors");
    found.push({ file: attributes["file"] ?? "", passed: count("tests") - failed - count("skipped"), failed });
  });
  parser.on("closetag", ({ name }) => {
    if (name === "testsuite") depth -= 1;
  });
  if (xml !== "") parser.write(xml).close();
  return found;
}

/** Files that failed, or should have run and did not. */
export function filesToRetry(reports: readonly FileReport[], all: readonly string[]): string[] {
  const seen = new Set(reports.map(({ file }) => file));
  return [
    ...reports.filter(({ failed }) => failed > 0).map(({ file }) => file),
    ...all.filter((file) => !seen.has(file)),
  ];
}

/** Totals of both runs: a file that was run again counts with its second result. */
export function totals(first: readonly FileReport[], second: readonly FileReport[], retried: readonly string[]) {
  const counted = [...first.filter(({ file }) => !retried.includes(file)), ...second];
  const sum = (name: "passed" | "failed") => counted.reduce((total, one) => total + one[name], 0);
  return { passed: sum("passed"), failed: sum("failed") };
}
