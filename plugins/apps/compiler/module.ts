/**
 * The steps for every module of an app: remove TypeScript and JSX, then check each import. Nothing is bundled: an
 * import either stays unchanged, for the page's import map, or is refused. Neither esbuild's `transform` nor the parser
 * opens a file or runs code. esbuild's `build` would list folders for import(`./${name}`), and Bun's own transpiler
 * runs macros.
 */
import { transform, type Message, type TransformFailure } from "esbuild";
import { importsOf, parseModule, type Found } from "./imports.ts";
import { originalPosition, sourceLines, type Mapping } from "./mapping.ts";
import type { Program } from "./tree.ts";
import { mistake, Mistakes } from "./types.ts";

export interface Module {
  readonly code: string;
  /** The name that the code gives its default export; undefined if there is no default export. */
  readonly main: string | undefined;
  readonly program: Program;
  /** The source's line for each line of the code; undefined where the code is the source. */
  readonly lines: readonly number[] | undefined;
}

export interface ModuleOptions {
  readonly allowed: readonly string[];
  /** Undefined = JavaScript that a compiler has produced. */
  readonly loader?: "ts" | "tsx";
  /** What makes an element and a fragment of JSX; undefined = React's runtime. */
  readonly jsx?: { readonly factory: string; readonly fragment: string } | undefined;
  /** Maps the lines of `source` to what its author wrote; undefined = they are the same. */
  readonly mapping?: Mapping;
}

export async function compileModule(source: string, { allowed, loader, jsx, mapping }: ModuleOptions): Promise<Module> {
  const maps = mapping ? [mapping] : [];
  const { code, map } = loader ? await stripped(source, { loader, jsx }, maps) : { code: source };
  if (loader) {
    // esbuild drops unused imports, but their author still needs to hear that they do not work.
    const written = parseModule(source, loader === "tsx" ? ["typescript", "jsx"] : ["typescript"]);
    if ("program" in written) refuse(importsOf(written.program, allowed), maps);
  }
  const parsed = parseModule(code);
  const found = "mistake" in parsed ? [parsed.mistake] : importsOf(parsed.program, allowed);
  if (map) maps.unshift(JSON.parse(map) as Mapping); // esbuild's
  refuse(found, maps);
  const { program } = parsed as { program: Program }; // else it has been refused
  const lines = maps.length === 0 ? undefined : sourceLines(code.split("\n").length, maps);
  return { code, main: mainOf(program), program, lines };
}

/**
 * Checks the imports of code that is served unchanged. Code that does not parse is not refused (behaviour 2.3: the
 * server does not compile it): the browser reports it to its author.
 */
export function checkImports(source: string, allowed: readonly string[]): void {
  const parsed = parseModule(source);
  if ("program" in parsed) checkProgram(parsed.program, allowed);
}

export function checkProgram(program: Program, allowed: readonly string[]): void {
  refuse(importsOf(program, allowed), []);
}

/** Throws if an import is wrong; `maps` lead from the place in the code to the place in the author's source. */
export function refuse(found: readonly Found[], maps: readonly Mapping[]): void {
  if (found.length > 0) throw new Mistakes(found.map((one) => placed(one, maps)));
}

/** Svelte names its component, and esbuild names every export. */
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

async function stripped(
  source: string,
  { loader = "ts", jsx }: Omit<ModuleOptions, "allowed">,
  maps: readonly Mapping[],
) {
  try {
    return await transform(source, {
      loader,
      format: "esm",
      platform: "browser",
      target: "es2022",
      // esbuild would drop them silently.
      supported: { "import-attributes": true, "import-assertions": true },
      charset: "utf8",
      ...(jsx ? { jsx: "transform", jsxFactory: jsx.factory, jsxFragment: jsx.fragment } : { jsx: "automatic" }),
      legalComments: "inline",
      logLevel: "silent",
      sourcemap: "external",
      sourcesContent: false,
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
