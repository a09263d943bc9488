/** Svelte 5 components. TypeScript that only annotates is taken out by Svelte itself. */
import { compile } from "svelte/compiler";
import { compileModule } from "./module.ts";
import { mistake, Mistakes, type Code, type Task } from "./types.ts";

export async function compileSvelte({ source, allowed }: Task): Promise<Code> {
  const { js, css } = compiled(source);
  const { code, main } = await compileModule(js.code, { allowed, mapping: js.map });
  return { code: `${code}\n${mount(main ?? "App")}`, css: css?.code ?? "" };
}

function compiled(source: string) {
  try {
    return compile(source, {
      filename: "App.svelte",
      generate: "client",
      css: "external",
      dev: false,
      discloseVersion: false,
      warningFilter: () => false,
    });
  } catch (error) {
    if (!isCompileError(error)) throw error;
    const { line = 1, column = 0 } = error.start ?? {};
    throw new Mistakes([mistake(line, column + 1, plain(error))]);
  }
}

/** What Svelte says of enums is advice on its build tools. */
function plain(error: Error & { code: unknown }): string {
  if (error.code !== "typescript_invalid_feature") return error.message;
  return "TypeScript here may only annotate: no enums, namespaces, decorators or parameter properties";
}

function mount(main: string): string {
  return `import { mount as __mount } from "svelte";
__mount(${main}, { target: document.getElementById("core-app") ?? document.body });
`;
}

function isCompileError(error: unknown): error is Error & { code: unknown; start?: { line: number; column: number } } {
  return error instanceof Error && "code" in error && "message" in error && error.name !== "TypeError";
}
