/** Pages of the Studio, bundled by esbuild: Deno has no bundler that works without a network. */
import type { BuildOptions, Message, Metafile } from "esbuild";
import type { Bundled } from "./host.ts";

/** The same on every machine, and nothing of the server's environment. */
const options = {
  bundle: true,
  format: "esm",
  platform: "browser",
  define: { "process.env.NODE_ENV": '"production"' },
  // Names stay, so that a fault in a browser says in which function it is.
  minifyWhitespace: true,
  minifySyntax: true,
  write: false,
  logLevel: "silent",
} as const satisfies BuildOptions;

export async function bundlePage(file: string): Promise<Bundled> {
  // Most servers have no such pages.
  const { build } = await import("esbuild");
  const made = await build({ ...options, entryPoints: [file], outdir: "out", metafile: true }).catch(failed);
  if (!("metafile" in made)) return { text: undefined, ...made, others: [], exports: [], inputs: {} };
  const { outputFiles, metafile } = made;
  const [main, ...others] = outputFiles;
  return {
    text: main?.text,
    mistakes: [],
    others: others.map(({ path }) => path),
    exports: Object.values(metafile.outputs).flatMap(({ exports }) => exports),
    inputs: metafile.inputs,
  };
}

export async function importsOf(source: string): Promise<readonly string[]> {
  const { build } = await import("esbuild");
  const stdin = { contents: source, loader: "js" } as const;
  const external = ["*"];
  const made = await build({ ...options, stdin, external, metafile: true }).catch(failed);
  return "metafile" in made ? importsIn(made.metafile) : [];
}

function importsIn({ outputs }: Metafile): string[] {
  return Object.values(outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
}

function failed(error: unknown): { mistakes: string[] } {
  const errors: readonly Message[] =
    error instanceof Error && "errors" in error && Array.isArray(error.errors) ? error.errors : [];
  return errors.length === 0 ? { mistakes: [String(error)] } : { mistakes: errors.map(withPlace) };
}

function withPlace({ text, location }: Message): string {
  return location ? `${text} (${location.file}:${location.line}:${location.column})` : text;
}
