/** Runs the test files named as arguments, under Deno. Prints failures, then "N passed, N failed". */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { runFile, type Outcome } from "./bun-test.ts";

const outcome: Outcome = { passed: 0, failures: [] };
for (const file of process.argv.slice(2)) await runFile(pathToFileURL(resolve(file)).href, outcome);
for (const failure of outcome.failures) console.error(failure);
console.log(`${outcome.passed} passed, ${outcome.failures.length} failed`);
process.exit(outcome.failures.length === 0 ? 0 : 1);
