/**
 * Runs the tests again that failed, alone, and prints `N passed, N failed` from bun's JUnit reports.
 *
 *     bun scripts/test-summary.ts REPORT STATUS_OF_CHECK STATUS_OF_TESTS [once]
 *
 * Exits with 1 if the check failed, or a test that failed among others fails alone too, or no test ran. Tests wait for
 * conditions, yet browsers and databases share two busy processors: a test that passes alone is named as flaky. With
 * `once` nothing is tried again.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { filesToRetry, readReport, totals, type FileReport } from "./test-report.ts";

/** More failures than this are no noise. */
const mostRetried = 8;

const [reportFile = "", checkStatus = "1", testStatus = "1", mode = ""] = process.argv.slice(2);
const first = await reportOf(reportFile);
const retried = testStatus === "0" || mode === "once" ? [] : filesToRetry(first, await testFiles());
const isNoise = retried.length > 0 && retried.length <= mostRetried;
const second = isNoise ? await runAgain(retried) : { reports: [], status: Number(testStatus) };

const { passed, failed } = totals(first, second.reports, isNoise ? retried : []);
const isRed = checkStatus !== "0" || second.status !== 0 || passed === 0;
// A failed check, or a file that did not load, is a failure even if every test passed.
const failures = failed === 0 && isRed ? 1 : failed;
process.stdout.write(`${passed} passed, ${failures} failed\n`);
process.exit(failures === 0 ? 0 : 1);

async function reportOf(file: string): Promise<FileReport[]> {
  const found = Bun.file(file);
  return (await found.exists()) ? readReport(await found.text()) : [];
}

async function testFiles(): Promise<string[]> {
  const files = await Array.fromAsync(
    new Bun.Glob("{clients,plugins,runtime,scripts,sites,tests}/**/*.test.ts").scan("."),
  );
  return files.toSorted();
}

/** One file after the other. */
async function runAgain(files: readonly string[]): Promise<{ reports: FileReport[]; status: number }> {
  process.stderr.write(`\nThese failed among others and are tried once more, alone:\n  ${files.join("\n  ")}\n`);
  const folder = mkdtempSync(join(tmpdir(), "corestead-again-"));
  const report = join(folder, "report.xml");
  const words = ["--timeout", "600000", "--reporter=junit", `--reporter-outfile=${report}`];
  const child = Bun.spawn(["bun", "test", ...words, ...files.map((file) => `./${file}`)], { stdout: 2, stderr: 2 });
  const status = await child.exited;
  const reports = await reportOf(report);
  rmSync(folder, { recursive: true });
  const flaky = files.filter((file) => reports.some((one) => one.file === file && one.failed === 0));
  if (flaky.length > 0) process.stderr.write(`\nFlaky, as they pass alone:\n  ${flaky.join("\n  ")}\n`);
  return { reports, status };
}
