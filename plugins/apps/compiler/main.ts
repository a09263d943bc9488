/** The function of the compiler process (DESIGN 5). It reads no file and calls nobody: what it needs, the task has. */
import { compileStyle } from "./style.ts";
import { checkScript, compileGame, compileReact } from "./script.ts";
import { compileSvelte } from "./svelte.ts";
import { compileVue } from "./vue.ts";
import { checkPage } from "./page.ts";
import { Mistakes, type Code, type Task } from "./types.ts";
import type { AppEngine, CompileResult } from "../compile.ts";

const engines: Readonly<Record<AppEngine, (task: Task) => Promise<Code>>> = {
  svelte: compileSvelte,
  vue: compileVue,
  react: compileReact,
  js: checkScript,
  html: checkPage,
  kaboom: (task) => compileGame("kaboom", task),
  phaser: (task) => compileGame("phaser", task),
};
/** SPEC 2.3: "CSS engine applies". */
const styled = new Set<AppEngine>(["svelte", "vue", "react"]);

export default async function compile(input: unknown): Promise<CompileResult> {
  const task = input as Task; // compile.ts makes it
  try {
    const began = performance.now();
    const { code, css } = await engines[task.appEngine](task);
    const built = performance.now();
    const cssCode = styled.has(task.appEngine) ? await compileStyle(task, css) : "";
    const compiled = {
      appCode: code,
      cssCode,
      appBuildMs: Math.round(built - began),
      cssBuildMs: Math.round(performance.now() - built),
    };
    return { ok: true, compiled };
  } catch (error) {
    if (error instanceof Mistakes) return { ok: false, mistakes: error.mistakes };
    // Every compiler goes down a tree by recursion.
    if (error instanceof RangeError) return { ok: false, mistakes: ["1:1 the source is nested too deeply"] };
    throw error;
  }
}

// The first run of each compiler is slow: it is done before the process is said to be ready.
const samples = [
  ["svelte", "tailwind", `<script>let n = $state(0);</script><p class="p-4" onclick={() => n++}>{n}</p>`],
  ["react", "none", "export default function App() { return <p>1</p>; }"],
  ["vue", "none", `<script setup lang="ts">const n: number = 1;</script><template><p>{{ n }}</p></template>`],
] as const;
for (const [appEngine, cssEngine, source] of samples) {
  const allowed = ["svelte/internal/client", "react/jsx-runtime", "vue"];
  for (let round = 0; round < 3; round++) await compile({ appEngine, cssEngine, source, allowed });
}
