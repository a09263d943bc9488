import { expect, test } from "bun:test";
import { compareVersions, satisfies } from "./versions.ts";

const versions = [
  "0.0.1",
  "0.2.0",
  "0.2.9",
  "1.0.0-rc.1",
  "1.0.0-rc.11",
  "1.0.0-rc.a",
  "1.0.0",
  "1.0.1",
  "1.2.0",
  "2.0.0",
  "10.0.0",
];

test("versions have the order that Bun gives them", () => {
  for (const a of versions)
    for (const b of versions) expect([a, b, Math.sign(compareVersions(a, b))]).toEqual([a, b, Bun.semver.order(a, b)]);
  expect(compareVersions("1.0.0+a", "1.0.0+b")).toBe(0);
});

test("a range takes the versions that it takes for Bun", () => {
  const numbers = ["0", "0.0", "0.0.1", "0.2", "0.2.9", "1", "1.0", "1.0.0", "1.2.0", "2", "10"];
  const ranges = numbers.flatMap((range) => [range, `^${range}`, `~${range}`]);
  for (const version of versions.filter((text) => !text.includes("-")))
    for (const range of ranges)
      expect([version, range, satisfies(version, range)]).toEqual([
        version,
        range,
        Bun.semver.satisfies(version, range),
      ]);
});
