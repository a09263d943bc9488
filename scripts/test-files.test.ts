import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { needsOf, quickFiles, reach, testFiles, timesOf } from "./test-files.ts";

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

test("files that take long are spread among those with a database, and have begun before the last of those", () => {
  const times = timesOf(testFiles());
  const begun = Object.keys(times).toSorted((a, b) => (times[b] ?? 0) - (times[a] ?? 0));
  expect(begun.toSorted()).toEqual(testFiles());
  expect(new Set(Object.values(times)).size).toBe(begun.length);
  const long = begun.filter((file) => file.startsWith("tests/browser/"));
  const withServer = begun.filter(
    (file) =>
      file.startsWith("plugins/") && reach(file).has("tests/harness.ts") && !reach(file).has("tests/chromium.ts"),
  );
  const pure = begun.filter(
    (file) => !reach(file).has("runtime/operations/postgres/embedded-postgres.ts") && !file.startsWith("tests/"),
  );
  expect(Math.min(long.length, withServer.length, pure.length)).toBeGreaterThan(30);
  const half = begun.slice(0, begun.indexOf(withServer[Math.floor(withServer.length / 2)] ?? ""));
  expect(half.filter((file) => file.startsWith("tests/")).length).toBeGreaterThan(30);
  expect(begun.indexOf(long.at(-1) ?? "")).toBeLessThan(begun.indexOf(withServer.at(-1) ?? ""));
  expect(begun.slice(-pure.length)).toEqual(pure);
});
