/** Sources that would take a compiler for ever, or all memory; and large ones that must not. */
import { type AppEngine, type CssEngine } from "../choices.ts";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createChild } from "../../../runtime/child/child.ts";
import type { CompileResult } from "../compiler/task.ts";
import { createLog } from "../../../runtime/system/log.ts";
import { makeRuntimes } from "../../../scripts/runtimes.ts";
import { HttpError } from "../../../runtime/base/errors.ts";
import { createCompiler, type Compiler, type Source } from "./compile.ts";
import { loadRuntimes } from "./runtimes.ts";

setDefaultTimeout(600_000);

let compiler: Compiler;
/** For what never ends: its limit is of the processor time of a source alone, so that a busy machine changes nothing. */
let strict: Compiler;
let patient: Compiler;

beforeAll(async () => {
  await makeRuntimes();
  const runtimes = await loadRuntimes();
  const log = createLog("error");
  const setup = { plugin: "apps", name: "compile", log, programs: async () => ({}) };
  const start = (timeLimitMs: number) =>
    createCompiler(
      { child: (_name, options) => createChild({ ...setup, options: { ...options, timeLimitMs } }) },
      runtimes,
    );
  compiler = start(1_500);
  strict = start(500);
  // A machine that runs other tests beside these may take its time.
  patient = start(60_000);
});
afterAll(() => Promise.all([compiler.stop(), strict.stop(), patient.stop()]));

const many = <T>(count: number, text: (index: number) => T) => Array.from({ length: count }, (_, at) => text(at));
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGH";
const enumOf = (count: number) =>
  `enum A { a = "xxxxxxxxxxxxxxxxxxxx", ${many(count, (at) => `${letters[at + 1]} = ${letters[at]} + ${letters[at]}`).join()} }`;
const nested = (open: string, middle: string, close: string, depth: number) =>
  open.repeat(depth) + middle + close.repeat(depth);
const inVue = (css: string) => `<template><p class="v9:flex">1</p></template><style scoped>${css}</style>`;

test.each<[string, AppEngine, CssEngine, string]>([
  ["a TypeScript enum", "react", "none", `${enumOf(30)} export default A`],
  ["the same in Vue", "vue", "none", `<script setup lang="ts">${enumOf(30)}</script><template>{{ A.G }}</template>`],
  ["the same in Svelte", "svelte", "none", `<script lang="ts">${enumOf(30)}</script>{A.G}`],
  [
    "constants to fold",
    "phaser",
    "none",
    many(40, (at) => `const b${at} = ${at ? `b${at - 1} + b${at - 1}` : '"xx"'};`).join(""),
  ],
  [
    "siblings",
    "svelte",
    "none",
    `${"{#if a}<p>1</p>{:else}<b>2</b>{/if}".repeat(400)}<style>${"p ~ b + ".repeat(10)}b{color:red}</style>`,
  ],
  ["nested :has()", "svelte", "none", `<p>1</p><style>${nested("p:has(", "p", ")", 3_000)}{color:red}</style>`],
  [
    "nested :has() over elements",
    "svelte",
    "none",
    `${nested("<i>", "1", "</i>", 300)}<style>${nested("i:has(i ", "b", ")", 14)}{color:red}</style>`,
  ],
  ["nested :is(), scoped", "vue", "tailwind", inVue(`${nested(":is(a,", "p", ")", 3_000)}{color:red}`)],
  ["deep CSS", "vue", "tailwind", inVue(nested("p{", "color:red", "}", 20_000))],
  ["deep CSS in Svelte", "svelte", "tailwind", `<p>1</p><style>${nested("p{", "color:red;", "}", 20_000)}</style>`],
  ["selectors that double", "vue", "tailwind", inVue(nested("&,&{", "color:red", "}", 60))],
  [
    "@apply that doubles",
    "vue",
    "tailwind",
    inVue(
      `${many(40, (at) => `@utility u${at} { ${at ? `& a { @apply u${at - 1}; } & b { @apply u${at - 1}; }` : "color:red;"} }`).join("")} p { @apply u39; }`,
    ),
  ],
  [
    "@variant that doubles",
    "vue",
    "tailwind",
    inVue(
      many(
        40,
        (at) =>
          `@custom-variant v${at} { ${at ? `&:hover { @variant v${at - 1} { @slot; } } &:focus { @variant v${at - 1} { @slot; } }` : "&:hover { @slot; }"} }`,
      ).join(""),
    ),
  ],
  [
    "theme() that doubles",
    "vue",
    "tailwind",
    inVue(
      `@theme { ${many(40, (at) => `--color-x${at}: ${at ? `theme(--color-x${at - 1}) theme(--color-x${at - 1})` : "red"};`).join("")} } p { color: theme(--color-x39); }`,
    ),
  ],
  ["@source inline ranges", "svelte", "tailwind", `<p>1</p><style>@source inline("p-{1..1000000000}");</style>`],
  ["type arguments", "react", "none", `let a = ${"a<".repeat(60_000)}`],
  ["deep JSX", "react", "none", `export default ${nested("<a>", "", "</a>", 25_000)}`],
  ["deep elements", "svelte", "none", nested("<a>", "", "</a>", 25_000)],
  ["deep elements in Vue", "vue", "none", `<template>${nested("<a>", "", "</a>", 20_000)}</template>`],
  ["deep arrays", "js", "none", `let a = ${nested("[", "", "]", 90_000)}`],
  ["tags without an end", "html", "none", "<script type=module ".repeat(9_500)],
  ["brackets without an end", "svelte", "tailwind", "[".repeat(199_000)],
  ["brackets in brackets", "svelte", "tailwind", `${nested("[", "a-b", "]", 140)} `.repeat(700)],
  ["quotes in brackets", "svelte", "tailwind", `a-['`.repeat(49_000)],
  [
    "attributes without an end",
    "svelte",
    "none",
    `<script lang="ts">enum A { x }</script><script${" a".repeat(49_000)}${" a='".repeat(25_000)}`,
  ],
  ["@apply without an end", "svelte", "tailwind", `<p>1</p><style>p { ${"@apply ".repeat(28_000)}</style>`],
  [
    "deep templates of further components",
    "vue",
    "none",
    `<script setup>const Item = { template: "${nested("<a>", "", "</a>", 20_000)}" };</script><template><Item /></template>`,
  ],
  [
    "many of them",
    "vue",
    "none",
    `<script>${many(5_500, (at) => `const A${at} = { template: "<a>" };`).join("")}</script>`,
  ],
])("%s: the compile ends, and the next one works", async (_what, appEngine, cssEngine, source) => {
  expect(source.length).toBeLessThanOrEqual(200_000);
  const result = await untilCompiled(strict, { appEngine, cssEngine, source });
  if (!result.ok) expect(result.mistakes.join()).toMatch(/^\d+:\d+ ./);
  const next = `<p class="p-4">${crypto.randomUUID()}</p>`;
  expect(await patient.compile({ appEngine: "svelte", cssEngine: "tailwind", source: next }, 1)).toMatchObject({
    ok: true,
  });
});

test("after each of several attacks in a row the same process pool still works", async () => {
  for (let round = 0; round < 2; round++) {
    const attack = `${enumOf(30)} export default A; // ${round}`;
    const attacking = await untilCompiled(compiler, { appEngine: "react", cssEngine: "none", source: attack });
    expect(attacking.ok).toBe(false);
    const next = { appEngine: "react", cssEngine: "none", source: `export default ${round}` } as const;
    expect((await untilCompiled(compiler, next)).ok).toBe(true);
  }
});

describe("200,000 characters", () => {
  const fill = (part: (index: number) => string, around = (text: string) => text) => {
    let text = "";
    for (let at = 0; around(text + part(at)).length <= 200_000; at++) text += part(at);
    return around(text);
  };
  const markup = (at: number) => `<div class="p-${at % 20} text-red-${(at % 9) + 1}00"><b>item ${at}</b></div>\n`;
  const script = (at: number) => `function step${at}(a) { return a * ${at} + Math.sqrt(a); }\n`;
  test.each<[AppEngine, CssEngine, string]>([
    [
      "svelte",
      "tailwind",
      fill(
        (at) => `${markup(at)}<p onclick={() => n++}>{n + ${at}}</p>`,
        (text) => `<script>let n = $state(0);</script>${text}`,
      ),
    ],
    [
      "svelte",
      "none",
      fill(
        (at) => `.a${at} { color: red }\n`,
        (text) => `<p>1</p><style>${text}</style>`,
      ),
    ],
    ["vue", "tailwind", fill(markup, (text) => `<template>${text}</template>`)],
    [
      "react",
      "tailwind",
      fill(
        (at) => markup(at).replace("class", "className"),
        (text) => `export default () => <>${text}</>;`,
      ),
    ],
    ["js", "none", fill(script)],
    ["html", "none", fill(markup)],
    ["kaboom", "none", fill(script)],
    ["phaser", "none", fill(script)],
  ])("of %s with %s compile", async (appEngine, cssEngine, source) => {
    expect(source.length).toBeGreaterThan(199_800);
    const result = await patient.compile({ appEngine, cssEngine, source }, 1);
    expect(result.ok ? "" : result.mistakes.join()).toBe("");
  });
});

describe("the cache", () => {
  test("gives the same source at once, compiled once", async () => {
    const source = { appEngine: "react", cssEngine: "none", source: `export default ${Math.random()}` } as const;
    const [first, second] = await Promise.all([compiler.compile(source, 1), compiler.compile(source, 1)]);
    expect(second).toBe(first);
    expect(await compiler.compile(source, 1)).toBe(first);
    expect(await compiler.compile({ ...source, cssEngine: "tailwind" }, 1)).not.toEqual(first);
  });
});

describe("too many at once are asked to try again:", () => {
  const compileAll = async (accounts: readonly number[]) => {
    const stopping = createChildless();
    const runs = accounts.map((accountId, at) =>
      stopping.compile({ appEngine: "js", cssEngine: "none", source: `let a${at}` }, accountId),
    );
    const results = await Promise.allSettled(runs);
    await stopping.stop();
    return results.map((result) => (result.status === "rejected" ? result.reason : undefined));
  };
  const again = { status: 503, headers: { "retry-after": "1" } };

  test("of all accounts", async () => {
    const refused = (await compileAll(many(60, (at) => at))).filter(Boolean);
    expect(refused.length).toBeGreaterThan(0);
    for (const reason of refused) expect(reason).toMatchObject(again);
  });

  test("of one, and another one has its turn", async () => {
    const reasons = await compileAll([...many(30, () => 1), 2]);
    expect(reasons.filter(Boolean)).toHaveLength(14);
    for (const reason of reasons.filter(Boolean)) expect(reason).toMatchObject(again);
    expect(reasons.at(-1)).toBeUndefined();
  });
});

/** A compiler whose process has yet to start: all wait. */
function createChildless(): Compiler {
  const setup = { plugin: "apps", name: "compile", log: createLog("error"), programs: async () => ({}) };
  return createCompiler(
    { child: (_name, options) => createChild({ ...setup, options: { ...options, processes: 1 } }) },
    {
      hash: "",
      toolchain: "",
      importMap: () => ({}),
      preloads: () => [],
      address: () => "",
      read: async () => undefined,
    },
  );
}

/** Asks again, as whoever is told 503 does: a machine that runs other tests beside these may starve the process. */
async function untilCompiled(asked: Compiler, source: Source): Promise<CompileResult> {
  for (;;) {
    try {
      return await asked.compile(source, 1);
    } catch (error) {
      if (!(error instanceof HttpError && error.status === 503)) throw error;
    }
  }
}
