/**
 * The steps for every module of an app: remove TypeScript and JSX, then check each import. Nothing is bundled: an
 * import either stays unchanged, for the page's import map, or is refused. Neither esbuild's `transform` nor the parser
 * opens a file or runs code. esbuild's `build` would list folders for import(`./${name}`), and Bun's own transpiler
 * runs macros.
 */
import { transform, type Message, type TransformFailure } from "esbuild";
import { importsOf, parseModule, type SourceFault, type Program } from "./tree.ts";
import { mistake, Mistakes } from "./task.ts";

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
  /** The functions for elements and fragments of JSX; undefined = React's runtime. */
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
export function refuse(found: readonly SourceFault[], maps: readonly Mapping[]): void {
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

function foundBy({ text, location }: Message): SourceFault {
  const column = location ? charactersIn(location.lineText, location.column) : 0;
  return { line: location?.line ?? 1, column, message: text };
}

function placed({ message, ...place }: SourceFault, maps: readonly Mapping[]): string {
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

// Reads just enough of a source map to find where a place in generated code was written.

export interface Mapping {
  readonly mappings: string;
}

export interface Position {
  /** From 1. */
  readonly line: number;
  /** From 0. */
  readonly column: number;
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The last known place on the same line, else before it. Only mistakes need this, so it may read the whole map. */
export function originalPosition({ mappings }: Mapping, line: number, column: number): Position {
  let found: Position = { line: 1, column: 0 };
  let sourceLine = 0;
  let sourceColumn = 0;
  let index = 0;
  for (const text of mappings.split(";")) {
    index++;
    let generated = 0;
    for (const segment of text === "" ? [] : text.split(",")) {
      const [step = 0, , lines = 0, columns = 0, ...rest] = numbers(segment);
      generated += step;
      sourceLine += lines;
      sourceColumn += columns;
      if (index > line || (index === line && generated > column)) return found;
      if (rest.length > 0 || numbers(segment).length >= 4) found = { line: sourceLine + 1, column: sourceColumn };
    }
    if (index >= line) return found;
  }
  return found;
}

/**
 * For each of `count` lines of the generated code the line of the source that its first known place was written in,
 * from 1; 0 for a line that nobody wrote. `maps` lead from the generated code to the source, one after another.
 */
export function sourceLines(count: number, maps: readonly Mapping[]): number[] {
  const own = Array.from({ length: count }, (_, at) => at + 1);
  return maps.map(linesOf).reduce((lines, map) => lines.map((line) => map[line - 1] ?? 0), own);
}

/** The same for one map. */
function linesOf({ mappings }: Mapping): number[] {
  let sourceLine = 0;
  return mappings.split(";").map((text) => {
    let first = 0;
    for (const segment of text === "" ? [] : text.split(",")) {
      const values = numbers(segment);
      sourceLine += values[2] ?? 0;
      if (first === 0 && values.length >= 4) first = sourceLine + 1;
    }
    return first;
  });
}

/** Base 64 VLQ. */
function numbers(segment: string): number[] {
  const values: number[] = [];
  let value = 0;
  let shift = 0;
  for (const character of segment) {
    const digit = digits.indexOf(character);
    value += (digit & 31) << shift;
    shift += 5;
    if ((digit & 32) !== 0) continue;
    values.push((value & 1) === 1 ? -(value >> 1) : value >> 1);
    value = 0;
    shift = 0;
  }
  return values;
}
