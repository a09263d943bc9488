import { expect, test } from "bun:test";
import { parseArguments } from "./arguments.ts";

test.each<[string, string[], Record<string, string>]>([
  ["", [], {}],
  ["serve", ["serve"], {}],
  ["token create --user admin", ["token", "create"], { user: "admin" }],
  ["token create --user=admin --name=cli", ["token", "create"], { user: "admin", name: "cli" }],
  ["token --user admin create", ["token", "create"], { user: "admin" }],
  ["account create --name= --host a.test", ["account", "create"], { name: "", host: "a.test" }],
  ["x --filter a=b", ["x"], { filter: "a=b" }],
  ["x --filter=a=b", ["x"], { filter: "a=b" }],
  // A flag never takes the word after it; other options do.
  ["site push demo --dry-run ./site", ["site", "push", "demo", "./site"], { "dry-run": "true" }],
  ["restore --force a.backup", ["restore", "a.backup"], { force: "true" }],
  ["serve --watch", ["serve"], { watch: "true" }],
  ["restore --force=false a.backup", ["restore", "a.backup"], { force: "false" }],
  ["token create --user --name cli", ["token", "create"], { user: "true", name: "cli" }],
  ["token create --user", ["token", "create"], { user: "true" }],
  ["-h", [], { help: "true" }],
  ["-v", [], { version: "true" }],
  ["-x 1", [], { x: "1" }],
  ["--user a --user b", [], { user: "b" }],
  ["--constructor", [], { constructor: "true" }],
])("%s", (line, words, options) => {
  expect(parseArguments(line.split(" ").filter(Boolean))).toEqual({ words, options });
});

test("a value keeps its spaces and line breaks", () => {
  expect(parseArguments(["--name=two words\nmore", "--host", "a b"]).options).toEqual({
    name: "two words\nmore",
    host: "a b",
  });
});
