import { expect, test } from "bun:test";
import { isClassic } from "./task.ts";
import { checkScript } from "./script.ts";

const kindOf = async (source: string) => {
  const { code } = await checkScript({ appEngine: "js", cssEngine: "none", source, allowed: ["vue"] });
  // The source, not one character of it changed, and nothing but a comment behind it.
  expect(code.startsWith(source)).toBe(true);
  return isClassic(code) ? "classic" : "module";
};

test.each([
  "x = 5",
  "function clicked() {}",
  `"use strict"; var a = 1`,
  "const load = async () => { await core.storage.get('a') }",
  "// await\nx = 1",
  "const text = `import x from 'y'`",
  "with (a) { b }",
  "<!-- an old comment\nvar a",
  "import('vue')",
  "{ const top = 1 }",
  "const { storage } = core",
])("a classic script: %s", async (source) => {
  expect(await kindOf(source)).toBe("classic");
});

test.each([
  "import 'vue'",
  "export default 1",
  "import.meta.url",
  "await x",
  "await (x)",
  "await (async () => {})()",
  "if (a) { await (b) }",
  "for await (const a of b) {}",
  // What the window has for good cannot be declared beside it.
  "const top = 1",
  "var location = 1",
  "function core() {}",
  "const { core } = window",
  // The browser tells its author.
  "let x = ;",
  "return 1",
  "/* open",
])("a module: %s", async (source) => {
  expect(await kindOf(source)).toBe("module");
});

test.each(["import('node:fs')", "with (a) {}\nimport('node:fs')", "x = require('fs')"])(
  "what a classic script imports is looked at: %s",
  (source) => expect(kindOf(source)).rejects.toThrow(/cannot be imported|`require` is not supported/),
);
