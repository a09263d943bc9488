/** What compiles, what is refused and where, in the real guarded process. */
import { type AppEngine, type CssEngine } from "../choices.ts";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createChild } from "../../../runtime/child/child.ts";
import { createLog } from "../../../runtime/system/log.ts";
import { makeRuntimes } from "../../../scripts/runtimes.ts";
import { createCompiler, type Compiler } from "./compile.ts";
import type { Compiled } from "../compiler/task.ts";
import { loadRuntimes } from "./runtimes.ts";

setDefaultTimeout(600_000);

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

describe("TypeScript that has code of its own in Svelte", () => {
  test.each([
    ["an enum", "enum Status { Open, Done }", "{Status.Open}", `Status[Status2["Open"]`],
    ["a constant enum", "const enum Status { Open }", "{Status.Open}", "Status"],
    ["a namespace", "namespace Money { export const tax = 0.23; }", "{Money.tax}", "Money"],
    [
      "parameter properties",
      "class Todo { done = $state(false); constructor(readonly text: string) {} }",
      "",
      "this.text",
    ],
    ["an index signature", "class Bag { [key: string]: unknown; }", "", "class Bag"],
    [
      "imports for the markup only",
      'enum A { x }\nimport { fade } from "svelte/transition";',
      "<p in:fade>1</p>",
      "fade",
    ],
    ["types in the markup too", "enum A { x }\nlet a: unknown = A.x;", "{(a as number).toFixed()}", "toFixed"],
    ["in a module script", 'enum A { x }</script><script lang="ts" module>export enum B { y }', "{A.x}{B.y}", "B2"],
  ])("is taken: %s", async (_what, script, markup, expected) => {
    const { appCode } = await compiled("svelte", `<script lang="ts">${script}</script>${markup}`);
    expect(appCode).toContain(expected.replace("Status[Status2", "Status2[Status2"));
  });

  test("and a type that was imported like a value is asked of nobody", async () => {
    const script = `import { writable, Writable } from "svelte/store"; import Own, { Component, onMount } from "svelte";`;
    const { appCode } = await compiled(
      "svelte",
      `<script lang="ts">${script} const a: Writable<Component | undefined> = writable(); onMount(() => Own);</script>{$a}`,
    );
    expect(appCode).toMatch(/import \{ writable,\s*\} from ["']svelte\/store["']/);
    expect(appCode).not.toMatch(/\bWritable\b|\bComponent\b/);
    expect(appCode).toContain("onMount");
  });
});

describe("svelte blocks that would need other files or programs", () => {
  test.each([
    [`<script src="./x.js"></script>`, "1:9 <script src>"],
    [`<script module src="./x.js"></script>`, "1:16 <script src>"],
    [`<script lang="ts">enum A { x }</script>\n<style lang="scss">p { color: red }</style><p>1</p>`, "2:8 <style lang"],
    [`<p>1</p>\n<style lang="scss">$a: 1; p { b { color: $a } }</style>`, `2:1 <style lang="scss">`],
    [`<script lang="coffee">a = -> 1</script>`, `1:1 <script lang="coffee">`],
    [`<style src="./x.css"></style>`, "1:8 <style src>"],
  ])("%s", async (source, expected) => {
    const found = await mistakes("svelte", source);
    expect(found[0]).toStartWith(expected);
  });

  test("in the page's head they are elements", async () => {
    const source = `<svelte:head><script src="/x.js"></script></svelte:head><style lang="postcss">p{color:red}</style><p>1</p>`;
    await compiled("svelte", source);
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

describe("further components in a Vue file", () => {
  test.each([
    ["an object", `const Item = { props: ["a"], template: "<li>{{ a }}</li>" };`],
    ["several lines", "const Item = defineComponent({ template: `<li>\n{{ a }}</li>`, data: () => ({ a: 1 }) });"],
    ["within another", `const List = { components: { Item: { template: '<li>1</li>' } }, template: "<Item />" };`],
    ["TypeScript", `const Item = { template: "<li>{{ (1 as number) }}</li>" } satisfies object;`],
  ])("have their templates compiled: %s", async (_what, code) => {
    const { appCode } = await compiled(
      "vue",
      `<script setup lang="ts">import { defineComponent } from "vue"; ${code}</script><template><p/></template>`,
    );
    expect(appCode).toContain("render: __render0");
    expect(appCode).toMatch(/_createElementBlock2?\(\s*"li"/);
  });

  test("and so has the only one", async () => {
    const { appCode } = await compiled("vue", `<script>export default { template: "<p>1</p>" };</script>`);
    expect(appCode).toContain("render: __render0");
  });

  test("what is no component keeps its template as a text", async () => {
    const code = `const mail = { template: "<p>Hello" }; const Own = { template: "<p>", render: () => null };`;
    const { appCode } = await compiled("vue", `<script setup>${code}</script><template>{{ mail }}<Own /></template>`);
    expect(appCode).not.toContain("__render0");
  });

  test.each([
    ['{ template: "<p>{{ a b }}</p>" }', /^2:33 /],
    ["{ template: `<p>\n  <b>` }", /^3:3 Element is missing end tag/],
    [`{ template: '<p :a="import(name)" />' }`, /^\d+:\d+ import\(\) takes/],
  ])("and a mistake in %s has its place", async (component, expected) => {
    const found = await mistakes(
      "vue",
      `<script setup>\nconst Item = ${component};\n</script><template><Item/></template>`,
    );
    expect(found[0]).toMatch(expected);
  });
});

test.each([
  ["await in <script setup>", `<script setup>const a = await fetch("x");</script><template>{{ a }}</template>`, true],
  ["async setup()", `<script>export default { async setup() { return {}; } };</script><template>1</template>`, true],
  ["none", `<script setup>const f = async () => { await 1; };</script><template>{{ f }}</template>`, false],
])("vue: what waits in its setup is mounted inside a Suspense: %s", async (_what, source, expected) => {
  expect((await compiled("vue", source)).appCode.includes("__Suspense")).toBe(expected);
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

  const App = "function App() { return <p>1</p>; }";
  const mounted = `createRoot(document.getElementById("core-app")!).render(<App />)`;

  test.each([
    ["a function", App],
    ["an arrow", "const App: () => unknown = () => <p>1</p>;"],
    ["a class", "class App { render() { return <p>1</p>; } }"],
    ["exported by its name", `export ${App}`],
    ["and a constant", "export const a = 1, App = () => <p>1</p>;"],
  ])("react: without a default export App is mounted: %s", async (_what, source) => {
    expect((await compiled("react", source)).appCode).toContain("__createElement(App)");
  });

  test.each([
    ["code that mounts itself", `import { createRoot } from "react-dom/client"; ${App} ${mounted};`],
    ["such by another name", `import { createRoot as start } from "react-dom/client"; ${App} start(document.body);`],
    ["such in a function", `${App} addEventListener("load", () => ReactDOM.${mounted});`],
    ["such with a default export", `export default ${App} const root = ReactDOM.${mounted};`],
    ["code without either", "export function Other() { return <p>1</p>; } function f() { const App = 1; f(App); }"],
  ])("react: %s is not mounted once more", async (_what, source) => {
    expect((await compiled("react", source)).appCode).not.toContain("__createRoot");
  });

  test("react: a default export that mounts something later is mounted", async () => {
    const source = `export default function App() { const show = () => ReactDOM.createRoot(document.body); show(); }`;
    expect((await compiled("react", source)).appCode).toContain("__createRoot");
  });

  test.each([
    ["const { useState } = React; export default () => useState(1)[0];", ["React"]],
    ["export default () => <React.Fragment>{React.useState(1)}</React.Fragment>;", ["React"]],
    [`${App} ReactDOM.${mounted};`, ["ReactDOM"]],
    [`import React from "react"; export default () => React.useId();`, []],
    [`import * as React from "react"; import ReactDOM from "react-dom/client"; ReactDOM.${mounted}; ${App}`, []],
    [`import { default as React } from "react"; const ReactDOM = {}; export default () => React.use(ReactDOM);`, []],
    [`export default () => <p>React and ReactDOM</p>; // React`, []],
    [`import type React from "react"; export default (props: React.ReactNode) => <p>{props}</p>;`, []],
  ])("react: in %s the names %j are imported", async (source, names) => {
    const { appCode } = await compiled("react", source);
    // What is added stands on the first line of the code.
    expect(appCode.startsWith(`import React from "react"; `)).toBe(names.includes("React"));
    expect(appCode.includes("const ReactDOM = { ...__dom, ...__domClient };")).toBe(names.includes("ReactDOM"));
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

  test.each(["svelte", "vue"] as const)("%s: the last @apply of a block needs no semicolon", async (engine) => {
    const style = `<style>.a{@apply px-4}.b { color: red; @apply py-4 bg-red-500/50\n} .c::after { content: "@apply p-1 }" }</style>`;
    const body = `<p class='a'>1</p><b class="b c">2</b>`;
    const source = engine === "vue" ? `<template>${body}</template>${style}` : `${body}${style}`;
    const { cssCode } = await compiled(engine, source, "tailwind");
    expect(cssCode).toContain("padding-inline");
    expect(cssCode).toContain("padding-block");
    expect(cssCode).toContain(`content:"@apply p-1 }"`);
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
    ["svelte", "<script lang='ts'>\nenum A {\n  x\n}\nlet a = $state(;\n</script>", "5:16 Unexpected token"],
    ["svelte", "<script lang='ts'>\nenum A {\n  x\n}\n</script>\n<p>\n  {#if}\n</p>", /^7:7 /],
    ["svelte", "<script lang='ts'>\nenum A {\n  x\n}\nimport a from 'fs';\n</script>{a}", /^5:\d+ "fs"/],
    ["svelte", "<script lang='ts'>\nimport { a } from 'fs';\n</script>", /^2:\d+ "fs"/],
    [
      "svelte",
      "<script lang='ts'>enum A {}\nimport a from 'svelte' with { type: 'json' };</script>",
      /^2:\d+ .*attributes/,
    ],
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
  const names = ["fs", "node:fs", "child_process", "bun", "bun:sqlite", "bun:ffi", "./x", "../../main.ts"].concat(
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
      for (const word of ["with", "assert"]) {
        if (word === "assert" && (engine === "svelte" || engine === "vue")) continue; // not even JavaScript to them
        const code = `import x from "${own}" ${word} { type: "${type}" }; x();`;
        const found = await mistakes(engine, inEngine(engine, code), "none");
        expect({ code, found: found.join() }).toEqual({ code, found: expect.stringMatching(/^1:\d+ .*attributes/) });
      }
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

describe("what other tools take", () => {
  test.each([`@import "tailwindcss";\np { @apply p-4; }`, `@reference 'tailwindcss';\np { @apply p-4; }`])(
    "Tailwind is there without %s",
    async (css) => {
      for (const engine of ["svelte", "vue"] as const) {
        const body = engine === "vue" ? "<template><p>1</p></template>" : "<p>1</p>";
        for (const cssEngine of ["tailwind", "tailwind_all"] as const) {
          const { cssCode } = await compiled(engine, `${body}\n<style>\n${css}\n</style>`, cssEngine);
          expect(cssCode).toContain("padding");
          expect(cssCode).not.toContain("@import");
        }
        expect(await mistakes(engine, `${body}\n<style>\n${css}\n</style>`, "none")).toHaveLength(1);
      }
    },
  );

  test("what is left out joins nothing to a rule that loads", async () => {
    const css = `@im@import "tailwindcss";port "https://example.com/x.css";`;
    expect(
      (await mistakes("vue", `<template><p/></template><style>${css}</style>`, "tailwind")).length,
    ).toBeGreaterThan(0);
  });

  test("a vue app that mounts itself is not mounted once more", async () => {
    const mounts = (code: string) => code.match(/\.mount\(/g)?.length;
    const own = `<script>import { createApp, h } from "vue"; createApp({ render: () => h("p") }).mount("#core-app");</script>`;
    expect(mounts((await compiled("vue", own)).appCode)).toBe(1);
    const inside = `<script setup>const later = () => app.mount("#x");</script><template><p @click="later" /></template>`;
    expect(mounts((await compiled("vue", inside)).appCode)).toBe(2);
  });

  test("vue's documentation, style modules and JSX", async () => {
    const documented = `<docs># About</docs><template><p :class="$style.red">x</p></template><style module>.red { color: red } .big-one { top: 0 }</style>`;
    const { appCode, cssCode } = await compiled("vue", documented);
    expect(appCode).toContain(`__cssModules = {"$style":{"red":"red","big-one":"big-one"}}`);
    expect(cssCode).toContain(".red{color:red}");
    const named = `<template><p :class="a.x" /></template><style module="a">.x { top: 0 }</style>`;
    expect((await compiled("vue", named)).appCode).toContain(`{"a":{"x":"x"}}`);
    for (const lang of ["tsx", "jsx"]) {
      const source = `<script lang="${lang}">export default { render() { return <><p class="a">x</p></>; } }</script>`;
      expect((await compiled("vue", source)).appCode).toMatch(
        /__jsx\(__fragment, null, [^]*__jsx\("p", \{ class: "a" \}, "x"\)/,
      );
    }
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
