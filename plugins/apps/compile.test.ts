/** What compiles, what is refused and where, in the real guarded process. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createChild } from "../../runtime/child.ts";
import { createLog } from "../../runtime/log.ts";
import { makeRuntimes } from "../../scripts/runtimes.ts";
import { createCompiler, type AppEngine, type Compiled, type Compiler, type CssEngine } from "./compile.ts";
import { loadRuntimes } from "./runtimes.ts";

setDefaultTimeout(60_000);

let compiler: Compiler;

beforeAll(async () => {
  await makeRuntimes();
  const log = createLog("error");
  const setup = { plugin: "apps", name: "compile", log, programs: async () => ({}) };
  compiler = createCompiler(
    { child: (_name, options = {}) => createChild({ ...setup, options }) },
    await loadRuntimes(),
  );
});
afterAll(() => compiler.stop());

async function compiled(appEngine: AppEngine, source: string, cssEngine: CssEngine = "none"): Promise<Compiled> {
  const result = await compiler.compile({ appEngine, cssEngine, source }, 1);
  if (!result.ok) throw new Error(result.mistakes.join("\n"));
  return result.compiled;
}

async function mistakes(
  appEngine: AppEngine,
  source: string,
  cssEngine: CssEngine = "tailwind",
): Promise<readonly string[]> {
  const result = await compiler.compile({ appEngine, cssEngine, source }, 1);
  return result.ok ? [] : result.mistakes;
}

describe("svelte", () => {
  test("a component of runes becomes a module that mounts itself", async () => {
    const { appCode, cssCode } = await compiled(
      "svelte",
      `<script lang="ts">
        import { fade } from "svelte/transition";
        import type { Nothing } from "./not-there";
        let { start = 0 }: { start?: number } = $props();
        let count: number = $state(start);
      </script>
      <button transition:fade onclick={() => count++}>{count}</button>
      <style>button { color: red }</style>`,
    );
    expect(appCode).toMatch(/from ['"]svelte\/internal\/client['"]/);
    expect(appCode).toMatch(/from ['"]svelte\/transition['"]/);
    expect(appCode).toContain("__mount(App");
    expect(appCode).not.toContain("not-there");
    expect(cssCode).toMatch(/^button\.svelte-\w+\{color:red\}/);
  });

  test("a component of Svelte 4 compiles too", async () => {
    const { appCode } = await compiled("svelte", `<script>export let a = 1; $: b = a * 2;</script>{b}`);
    expect(appCode).toMatch(/import ['"]svelte\/internal\/flags\/legacy['"]/);
  });
});

describe("vue", () => {
  test.each([
    ["script setup", `<script setup>import { ref } from "vue"; const n = ref(1);</script><template>{{ n }}</template>`],
    ["options", `<script>export default { data: () => ({ n: 1 }) };</script><template>{{ n }}</template>`],
    [
      "defineComponent",
      `<script>import { defineComponent, h } from "vue";
      export default defineComponent({ render: () => h("p") });</script>`,
    ],
    ["only a template", `<template><p>1</p></template>`],
    [
      "TypeScript in the template",
      `<script setup lang="ts">const n = 1 as unknown;</script><template>{{ n as number }}</template>`,
    ],
    [
      "TypeScript and options",
      `<script lang="ts">export default { data: () => ({ n: 1 as number }) };</script>
      <template>{{ n as number }}</template>`,
    ],
    [
      "two scripts",
      `<script>export const a = 1;</script><script setup>const b = a;</script><template>{{ b }}</template>`,
    ],
  ])("%s becomes a module that mounts itself", async (_what, source) => {
    const { appCode } = await compiled("vue", source);
    expect(appCode).toContain(`import { createApp as __createApp } from "vue"`);
    expect(appCode).not.toContain(" as number");
  });

  test("scoped styles and v-bind() in them work", async () => {
    const { appCode, cssCode } = await compiled(
      "vue",
      `<script setup>const color = "red";</script><template><p>1</p></template>
      <style scoped>p { color: v-bind(color) }</style><style>b { color: blue }</style>`,
    );
    const id = /data-v-(\w+)/.exec(appCode)?.[1] ?? "none";
    expect(cssCode).toContain(`p[data-v-${id}]{color:var(--`);
    expect(cssCode).toContain("b{color:#00f}".replace("#00f", "blue"));
    expect(appCode).toContain("useCssVars");
  });
});

describe("react, kaboom, phaser", () => {
  test.each([
    ["a function", "export default function App() { return <p>1</p>; }"],
    ["an arrow", "const App = (): unknown => <p>1</p>; export default App;"],
    [
      "a class",
      `import { Component } from "react"; export default class extends Component { render() { return <p>1</p>; } }`,
    ],
    ["a list of exports", "function App() { return <p>1</p>; } export { App as default };"],
  ])("react: %s is mounted", async (_what, source) => {
    const { appCode } = await compiled("react", source);
    expect(appCode).toContain("__createRoot(");
    expect(appCode).toContain(`from "react/jsx-runtime"`);
  });

  test("react: code without a default export mounts itself", async () => {
    const source = `import { createRoot } from "react-dom/client"; createRoot(document.getElementById("core-app")!).render(<p />);`;
    expect((await compiled("react", source)).appCode).not.toContain("__createRoot");
  });

  test.each(["kaboom", "phaser"] as const)("%s has its library loaded first, for the global", async (engine) => {
    const { appCode } = await compiled(engine, "const speed: number = 3; start(speed);");
    expect(appCode).toStartWith(`import "${engine}";\n`);
    expect(appCode).not.toContain(": number");
  });
});

describe("plain code", () => {
  test.each([
    ["js", `document.title = "</script>"; // ą\r\nexport const a = 1;`],
    [
      "html",
      `<!doctype html>\r\n<script>fetch("/x")</script><script type="module">import { createApp } from "vue"</script>`,
    ],
  ] as const)("%s is the app's code, not one character changed", async (engine, source) => {
    expect((await compiled(engine, source, "tailwind")).appCode).toBe(source);
    expect((await compiled(engine, source, "tailwind")).cssCode).toBe("");
  });
});

describe("Tailwind", () => {
  const page = `<p class="p-4 hover:underline">1</p>`;

  test("holds the classes that are used and no other", async () => {
    const { cssCode } = await compiled("svelte", page, "tailwind");
    expect(cssCode).toContain(".p-4{");
    expect(cssCode).toContain("hover\\:underline");
    expect(cssCode).not.toContain(".p-5{");
  });

  test("of one app leaves nothing for the next", async () => {
    await compiled("svelte", `${page}<style>@theme { --color-own: red; } p { @apply bg-own; }</style>`, "tailwind");
    const { cssCode } = await compiled("svelte", `<p class="bg-own p-4">2</p>`, "tailwind");
    expect(cssCode).not.toContain("bg-own");
  });

  test.each(["svelte", "vue"] as const)("%s: @theme and @apply work in style blocks", async (engine) => {
    const body =
      engine === "vue" ? "<template><p class='a text-brand'>1</p></template>" : "<p class='a text-brand'>1</p>";
    const source = `${body}<style>@theme { --color-brand: #123456; } .a { @apply rounded-lg; }</style>`;
    const { cssCode } = await compiled(engine, source, "tailwind");
    expect(cssCode).toContain("--color-brand: #123456");
    expect(cssCode).toContain(".text-brand{");
    expect(cssCode).toMatch(/\.a[^{]*\{border-radius/);
  });

  test("tailwind_all leaves classes to the page and works out what stands in style blocks", async () => {
    const { cssCode } = await compiled("svelte", `${page}<style>p { @apply rounded-lg; }</style>`, "tailwind_all");
    expect(cssCode).toContain("border-radius");
    expect(cssCode).not.toContain(".p-4{");
    expect((await compiled("svelte", page, "tailwind_all")).cssCode).toBe("");
  });

  test("an unknown class in @apply is said where it stands", async () => {
    const found = await mistakes("svelte", `<p>1</p>\n<style>\n  p { @apply p-4 no-such-class; }\n</style>`);
    expect(found[0]).toMatch(/^3:18 .*no-such-class/);
  });
});

describe("a mistake has its line and column", () => {
  test.each<[AppEngine, string, string | RegExp]>([
    ["svelte", "<script>\nlet x = $state(;\n</script>", "2:16 Unexpected token"],
    ["svelte", "<script lang='ts'>\r\nlet x: number = ;\r\n</script>", "2:17 Unexpected token"],
    ["svelte", "<p>\n  {#if}\n</p>", /^2:7 /],
    ["svelte", "<p>1</p>\n<style>\n .a { color: }\n</style>", /^3:7 Declaration cannot be empty/],
    ["svelte", "<script lang='ts'>enum A { x }</script>", /^1:19 TypeScript/],
    ["vue", "<script setup>\nconst x = ;\n</script>", "2:11 Unexpected token"],
    ["vue", "<script setup lang='ts'>\n\nconst x: = 1;\n</script>", /^3:10 /],
    ["vue", "<script>\nconst x = ;\n</script>\n<template><p/></template>", "2:11 Unexpected token"],
    ["vue", "<template>\n  <p>{{ a b }}</p>\n</template>", /^2:9 /],
    ["vue", "<template>\n<div>\n</template>", /^2:1 Element is missing end tag/],
    ["vue", "<template><p/></template>\n<style scoped>\np { color }\n</style>", /^3:5 Unknown word/],
    ["react", "const a = 1;\nconst x = <p>;\n", /^\d+:\d+ .*"p" tag/],
    ["react", "let é = 'ą'; let x: = 1;", /^1:21 /],
    ["kaboom", "\n\nlet x = ;", /^3:9 /],
    ["phaser", "class A {", /^1:10 /],
  ])("%s: %j", async (engine, source, expected) => {
    const [first = ""] = await mistakes(engine, source, "none");
    if (typeof expected === "string") expect(first).toBe(expected);
    else expect(first).toMatch(expected);
  });

  test.each([
    ["js", "let a;\n  let x = ;"],
    ["html", "<p>\n<script type='module'>let x = ;\n</script>"],
  ] as const)("what the server does not compile is taken as it is: %s", async (engine, source) => {
    expect((await compiled(engine, source)).appCode).toBe(source);
  });

  test("and several are told at once", async () => {
    const found = await mistakes("react", `import a from "fs";\nimport b from "os";\na(b);`);
    expect(found.map((one) => one.split(" ", 2).join(" "))).toEqual(['1:15 "fs"', '2:15 "os"']);
  });
});

describe("what an app may not import", () => {
  const names = [
    "fs",
    "node:fs",
    "child_process",
    "bun",
    "bun:sqlite",
    "bun:ffi",
    "./x",
    "../../runtime/main.ts",
  ].concat(
    [
      "/etc/passwd",
      "file:///etc/passwd",
      "data:text/javascript,1",
      "http://127.0.0.1/x.js",
      "https://esm.sh/x",
      "//x/y",
    ],
    ["platform", "esbuild", "svelte/compiler", "vue/server-renderer", "react-dom/server", "#x", "x?raw", ""],
  );
  const wrap: Partial<Record<AppEngine, (code: string) => string>> = {
    svelte: (code) => `<script>${code}</script>`,
    vue: (code) => `<script setup>${code}</script><template><p/></template>`,
    html: (code) => `<script type="module">${code}</script>`,
  };
  const engines = ["svelte", "vue", "react", "js", "html", "kaboom", "phaser"] as const;
  const inEngine = (engine: AppEngine, code: string) => wrap[engine]?.(code) ?? code;

  test.each(engines)("%s: any name that the server does not ship", async (engine) => {
    for (const name of names) {
      const literal = JSON.stringify(name);
      for (const code of [
        `import x from ${literal}; x();`,
        `import ${literal};`,
        `const f = () => import(${literal}); f();`,
      ]) {
        const found = await mistakes(engine, inEngine(engine, code), "none");
        expect({ code, found: found.join() }).toEqual({ code, found: expect.stringContaining(literal.slice(0, 50)) });
        expect(found.join()).toMatch(/^1:\d+ /);
      }
    }
  });

  test.each(engines)("%s: with attributes, whatever their type", async (engine) => {
    const own = engine === "js" || engine === "html" ? "vue" : engine;
    for (const type of ["macro", "text", "file", "json", "css", "sqlite"]) {
      const code = `import x from "${own}" with { type: "${type}" }; x();`;
      const found = await mistakes(engine, inEngine(engine, code), "none");
      expect({ type, found: found.join() }).toEqual({ type, found: expect.stringMatching(/^1:\d+ .*attributes/) });
    }
  });

  test.each(engines)("%s: by a name that is made at run time, or by require", async (engine) => {
    const codes = [
      "import(name);",
      "import(`./${name}`);",
      `require("fs");`,
      "require(name);",
      "const r = require; r(name);",
    ];
    for (const code of [...codes, `require.resolve("fs");`, `export * from "fs";`]) {
      if (engine !== "react" && engine !== "js" && code.startsWith("export")) continue;
      const found = await mistakes(engine, inEngine(engine, `const name = location.hash; ${code}`), "none");
      expect({ code, found: found.join() }).toEqual({ code, found: expect.stringMatching(/^1:\d+ /) });
    }
  });

  test("in a template neither", async () => {
    expect(await mistakes("svelte", `{@html import("fs")}`)).toHaveLength(1);
    expect(await mistakes("svelte", `{#await import(location.hash) then x}{x}{/await}`)).toHaveLength(1);
    expect(await mistakes("vue", `<template><p :a="import('fs')"/></template>`)).toHaveLength(1);
  });

  test("what belongs to the engine it may, statically or not", async () => {
    await compiled("svelte", `<script>import { writable } from "svelte/store"; import("svelte/motion");</script>`);
    await compiled(
      "js",
      `import { createApp } from "vue"; import React from "react"; const p = await import("phaser");`,
    );
    await compiled("kaboom", `import kaboom from "kaboom"; import kaplay from "kaplay"; kaboom(); kaplay();`);
    await compiled("phaser", `import Phaser, * as all from "phaser"; new Phaser.Game(all);`);
  });
});

describe("what a style may not say", () => {
  test.each([
    `@import "https://example.com/x.css";`,
    `@import url(/etc/passwd);`,
    `@IMPORT "x";`,
    `@\\69mport "x";`,
    `@\\000069 mport "x";`,
    `/* */@import "x";`,
    `p { @plugin "./x"; }`,
    `@plugin "@tailwindcss/typography";`,
    `@config "./tailwind.config.js";`,
    `@source "../";`,
    `@source inline("p-{1..1000000000}");`,
    `@reference "../app.css";`,
    `@tailwind utilities;`,
  ])("%s", async (css) => {
    for (const engine of ["svelte", "vue"] as const) {
      const body = engine === "vue" ? "<template><p>1</p></template>" : "<p>1</p>";
      for (const cssEngine of ["none", "tailwind", "tailwind_all"] as const) {
        const found = await mistakes(engine, `${body}\n<style>\n${css}\n</style>`, cssEngine);
        expect({ engine, found: found.join() }).toEqual({ engine, found: expect.stringMatching(/^[23]:\d+ /) });
      }
    }
  });

  test("the word itself it may", async () => {
    const source = `<p class="a">@import</p><style>.a::before { content: "@import 'x'"; } /* @plugin */</style>`;
    expect((await compiled("svelte", source)).cssCode).toContain("@import 'x'");
  });
});

describe("vue blocks that would need other files or programs", () => {
  test.each([
    [`<script src="./x.js"></script>`, "<script src>"],
    [`<template src="/etc/passwd"></template>`, "<template src>"],
    [`<template><p/></template><style src="./x.css"></style>`, "<style src>"],
    [`<template lang="pug">p</template>`, `<template lang="pug">`],
    [`<template><p/></template><style lang="scss">p { b { color: red } }</style>`, `<style lang="scss">`],
    [`<template><p/></template><script lang="coffee">a = 1</script>`, `<script lang="coffee">`],
    [`<template><p/></template><i18n>{}</i18n>`, "<i18n>"],
    [`<template><p/></template><style module>p { color: red }</style>`, "<style module>"],
    [`<script setup lang="ts">import type { P } from "/etc/passwd"; defineProps<P>();</script>`, "Type import"],
  ])("%s", async (source, named) => {
    const found = await mistakes("vue", source);
    expect(found[0]).toMatch(/^1:\d+ /);
    expect(found.join()).toContain(named);
  });
});

describe("odd text", () => {
  test.each(["svelte", "vue", "react", "js", "html", "kaboom", "phaser"] as const)("%s takes it", async (engine) => {
    const code = `\ufeffconst a = "\u2028 \ud83d\ude00 </script >"; //\0\r\n`;
    const component = `<p title="\0\ud800">ą \`\${x}\` &amp; <b>b</b></p>\r\n`;
    const source =
      engine === "svelte" || engine === "html"
        ? `\ufeff${component}`
        : engine === "vue"
          ? `\ufeff<template>${component}</template>`
          : code;
    const { appCode } = await compiled(engine, source, "tailwind");
    expect(appCode.length).toBeGreaterThan(0);
  });
});
