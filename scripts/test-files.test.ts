import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { needsOf, quickFiles, reach, testFiles } from "./test-files.ts";

test.each([
  ["plugins/prompts", []],
  ["plugins/certificates", ["pebble"]],
  ["tests/proxy.test.ts", ["proxies"]],
  ["tests/cluster/", ["postgresql"]],
  ["tests/browser", ["chromium"]],
  ["tests/cluster/cluster.test.ts", ["postgresql"]],
  ["plugins/prompts/no-such.test.ts", []],
])("the tests of %s need only what they name", (path, needs) => {
  expect(needsOf(testFiles([path]))).toEqual(needs);
});

test("scripts/test knows how to install whatever a test needs", () => {
  const script = readFileSync(join(import.meta.dir, "test"), "utf8");
  const unknown = needsOf(testFiles()).filter((name) => !script.includes(`\n    ${name})`));
  expect(unknown).toEqual([]);
});

test("what --quick runs starts one database for the routes' examples, and needs no program that must be installed", () => {
  const files = quickFiles();
  expect(files.length).toBeGreaterThan(150);
  expect(needsOf(files)).toEqual([]);
  const withServer = files.filter((file) => reach(file).has("tests/harness.ts"));
  expect(withServer).toEqual(["tests/docs-examples.test.ts", "tests/openapi.test.ts"]);
});
