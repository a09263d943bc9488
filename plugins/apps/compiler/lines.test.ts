/** The lines of the source that those of the compiled code come from. */
import { describe, expect, test } from "bun:test";
import { appEngines, type AppEngine } from "../choices.ts";
import compile from "./main.ts";
import { sourceLines } from "./module.ts";
import type { Compiled } from "./task.ts";

const sources: Readonly<Record<AppEngine, string>> = {
  svelte: `<script lang="ts">\n  // a note\n  let n: number = $state(0);\n\n  function go() {\n    marker(n);\n  }\n</script>\n\n<button onclick={go}>go</button>`,
  vue: `<template>\n  <p>{{ n }}</p>\n</template>\n\n<script setup lang="ts">\nconst n: number = 1;\nfunction go() {\n  marker(n);\n}\ngo();\n</script>`,
  react: `interface Props {\n  a: number;\n}\n\nexport default function App({ a }: Props) {\n  marker(a);\n  return (\n    <p>\n      {a}\n    </p>\n  );\n}`,
  js: "\n\nmarker(1);",
  html: "<p>\n<script>\nmarker(1);\n</script>",
  kaboom: `import kaboom from "kaboom";\ntype A = number;\n\nconst a: A = 1;\nkaboom();\nmarker(a);`,
  phaser: `type A = number;\nconst a: A = 1;\n\nmarker(a);`,
};

const lineWith = (text: string) => text.split("\n").findIndex((line) => line.includes("marker(")) + 1;

test.each(appEngines)("an error in %s is found at its line", async (appEngine) => {
  const source = sources[appEngine];
  const allowed = [
    "svelte",
    "vue",
    "react",
    "react-dom/client",
    "react/jsx-runtime",
    "svelte/internal/client",
    "kaboom",
    "phaser",
  ];
  const result = await compile({ appEngine, cssEngine: "none", source, allowed });
  if (!result.ok) throw new Error(result.mistakes.join());
  const { appCode, lines }: Compiled = result.compiled;
  expect(appCode).not.toContain("sourceMappingURL");
  const at = lineWith(appCode);
  expect(lines ? lines[at - 1] : at).toBe(lineWith(source));
  expect(lines === undefined).toBe(appEngine === "js" || appEngine === "html");
});

describe("the lines of maps", () => {
  test.each([
    ["no map", [], 2, [1, 2]],
    ["one to one", [{ mappings: "AAAA;AACA" }], 2, [1, 2]],
    ["a line of nobody between", [{ mappings: "AAAA;;AACA" }], 3, [1, 0, 2]],
    ["a place without a source", [{ mappings: "A,CAEA" }], 1, [3]],
    ["fewer lines than the code", [{ mappings: "AAAA" }], 3, [1, 0, 0]],
    ["one map after another", [{ mappings: "AACA" }, { mappings: "AAAA;AAEA" }], 1, [3]],
  ])("%s", (_, maps, count, lines) => {
    expect(sourceLines(count, maps)).toEqual(lines);
  });
});
