/**
 * What every module of an app goes through: TypeScript and JSX away, then a look at each of its imports. Nothing is
 * bundled in: an import either stays as it is, for the page's import map, or is refused. Neither esbuild's `transform`
 * nor the parser opens a file or runs anything: `build` would list folders for import(`./${name}`), and Bun's own
 * transpiler runs macros.
 */
import { transform, type Message, type TransformFailure } from "esbuild";
import { importsOf, parseModule, type Found } from "./imports.ts";
import { originalPosition, type Mapping } from "./mapping.ts";
import type { Program } from "./tree.ts";
import { mistake, Mistakes } from "./types.ts";

export interface Module {
  readonly code: string;
  /** The name that the code gives its default export; undefined where it has none. */
  readonly main: string | undefined;
  readonly program: Program;
}

export interface ModuleOptions {
  readonly allowed: readonly string[];
  /** Left out = JavaScript that a compiler has made. */
  readonly loader?: "ts" | "tsx";
  /** Where the lines of `source` stand in what its author wrote; left out = there. */
  readonly mapping?: Mapping;
}

export async function compileModule(source: string, { allowed, loader, mapping }: ModuleOptions): Promise<Module> {
  const maps = mapping ? [mapping] : [];
  const { code } = loader ? await stripped(source, loader, maps) : { code: source };
  if (loader) {
    // An import that nobody uses is gone from the code, but to its author it has not worked.
    const written = parseModule(source, loader === "tsx" ? ["typescript", "jsx"] : ["typescript"]);
    if ("program" in written) refuse(importsOf(written.program, allowed), maps);
  }
  const parsed = parseModule(code);
  const found = "mistake" in parsed ? [parsed.mistake] : importsOf(parsed.program, allowed);
  // Only a mistake asks where the lines came from.
  if (loader && found.length > 0) maps.unshift(JSON.parse((await stripped(source, loader, maps, true)).map) as Mapping);
  refuse(found, maps);
  const { program } = parsed as { program: Program }; // else it has been refused
  return { code, main: mainOf(program), program };
}

/**
 * Looks at the imports of code that is served as it was written. What does not parse is not ours to refuse (behaviour 2.3: the
 * server does not compile it): the browser tells its author.
 */
export function checkImports(source: string, allowed: readonly string[]): void {
  const parsed = parseModule(source);
  if ("program" in parsed) checkProgram(parsed.program, allowed);
}

export function checkProgram(program: Program, allowed: readonly string[]): void {
  refuse(importsOf(program, allowed), []);
}

/** Throws where something is wrong; `maps` lead from where it was found to where its author wrote it. */
export function refuse(found: readonly Found[], maps: readonly Mapping[]): void {
  if (found.length > 0) throw new Mistakes(found.map((one) => placed(one, maps)));
}

/** Svelte names its component, and esbuild names whatever is exported. */
function mainOf({ body }: Program): string | undefined {
  for (const node of body) {
    if (node.type === "ExportDefaultDeclaration" && "id" in node.declaration)
      return node.declaration.id?.type === "Identifier" ? node.declaration.id.name : undefined;
    if (node.type !== "ExportNamedDeclaration" || node.source) continue;
    for (const specifier of node.specifiers) {
      if (specifier.type !== "ExportSpecifier") continue;
      const { exported, local } = specifier;
      if ((exported.type === "Identifier" ? exported.name : exported.value) === "default") return local.name;
    }
  }
  return undefined;
}

async function stripped(source: string, loader: "ts" | "tsx", maps: readonly Mapping[], sourcemap = false) {
  try {
    return await transform(source, {
      loader,
      format: "esm",
      platform: "browser",
      target: "es2022",
      // It would leave them out without a word.
      supported: { "import-attributes": true, "import-assertions": true },
      charset: "utf8",
      jsx: "automatic",
      legalComments: "inline",
      logLevel: "silent",
      sourcemap,
      sourcefile: "app",
      tsconfigRaw: {},
      define: { "process.env.NODE_ENV": '"production"' },
    });
  } catch (error) {
    if (!isFailure(error)) throw error;
    throw new Mistakes(error.errors.map((message) => placed(foundBy(message), maps)));
  }
}

function foundBy({ text, location }: Message): Found {
  const column = location ? charactersIn(location.lineText, location.column) : 0;
  return { line: location?.line ?? 1, column, message: text };
}

function placed({ message, ...place }: Found, maps: readonly Mapping[]): string {
  const { line, column } = maps.reduce((at, map) => originalPosition(map, at.line, at.column), place);
  return mistake(line, column + 1, message);
}

/** esbuild counts columns in bytes. */
function charactersIn(line: string, bytes: number): number {
  return new TextDecoder().decode(new TextEncoder().encode(line).subarray(0, bytes)).length;
}

export function isFailure(error: unknown): error is TransformFailure {
  return error instanceof Error && "errors" in error && Array.isArray(error.errors) && error.errors.length > 0;
}
