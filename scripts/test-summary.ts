/** Prints `N passed, N failed` from bun's JUnit report; ends with 1 where a test failed, none ran, or a check failed. */
export {};
const [reportFile = "", status = "1"] = process.argv.slice(2);
const report = await Bun.file(reportFile)
  .text()
  .catch(() => "");
const head = /<testsuites[^>]*>/.exec(report)?.[0] ?? "";
const count = (name: string): number => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(head)?.[1] ?? 0);

const tests = count("tests");
const failed = count("failures") + count("errors");
const skipped = count("skipped");
// A check that failed, or a file that did not load, is a failure even where every test passed.
const failures = failed === 0 && (status !== "0" || tests === 0) ? 1 : failed;
process.stdout.write(`${tests - failed - skipped} passed, ${failures} failed\n`);
process.exit(failures === 0 ? 0 : 1);
