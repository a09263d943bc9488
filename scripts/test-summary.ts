/** Prints `N passed, N failed` from bun's JUnit report. Exits with 1 if a test or a check failed, or no test ran. */
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
// A failed check, or a file that did not load, is a failure even if every test passed.
const failures = failed === 0 && (status !== "0" || tests === 0) ? 1 : failed;
process.stdout.write(`${tests - failed - skipped} passed, ${failures} failed\n`);
process.exit(failures === 0 ? 0 : 1);
