/**
 * Runs in the compiler process (architecture 5). It reads no files and sends no requests: its task contains everything.
 */
import { type AppEngine } from "../choices.ts";
import { Mistakes, type Code, type Task, type CompileResult } from "./task.ts";

type Engine = (task: Task) => Promise<Code>;

/** Each compiler is loaded for its first app. Loading all of them takes longer than compiling an app. */
const engines: Readonly<Record<AppEngine, () => Promise<Engine>>> = {
  svelte: async () => (await import("./svelte.ts")).compileSvelte,
  vue: async () => (await import("./vue.ts")).compileVue,
  react: async () => (await import("./react.ts")).compileReact,
  js: async () => (await import("./script.ts")).checkScript,
  html: async () => (await import("./page.ts")).checkPage,
  kaboom: () => game("kaboom"),
  phaser: () => game("phaser"),
};
/** behaviour 2.3: "CSS engine applies". */
const styled = new Set<AppEngine>(["svelte", "vue", "react"]);

export default async function compile(input: unknown): Promise<CompileResult> {
  const task = input as Task; // build/compile.ts makes it
  try {
    const began = performance.now();
    const compileCode = await engines[task.appEngine]();
    const { code, css, lines } = await compileCode(task);
    const built = performance.now();
    const cssCode = styled.has(task.appEngine) ? await style(task, css) : "";
    const compiled = {
      appCode: code,
      cssCode,
      ...(lines && { lines }),
      appBuildMs: Math.round(built - began),
      cssBuildMs: Math.round(performance.now() - built),
    };
    return { ok: true, compiled };
  } catch (error) {
    if (error instanceof Mistakes) return { ok: false, mistakes: error.mistakes };
    // Every compiler walks its tree recursively.
    if (error instanceof RangeError) return { ok: false, mistakes: ["1:1 the source is nested too deeply"] };
    throw error;
  }
}

async function game(library: string): Promise<Engine> {
  const { compileGame } = await import("./script.ts");
  return (task) => compileGame(library, task);
}

async function style(task: Task, css: string): Promise<string> {
  const { compileStyle } = await import("./style.ts");
  return compileStyle(task, css);
}
