/**
 * What every module of an app goes through: TypeScript and JSX away, then a look at each of its imports. Nothing is
 * bundled in: an import either stays as it is, for the page's import map, or is refused. Neither esbuild's `transform`
 * nor the parser opens a file or runs anything: `build` would list folders for import(`./${name}`), and Bun's own
 * transpiler runs macros.
 */
import { transform, type Loader, type Message, type TransformFailure } from "esbuild";
import { importsOf, parseModule, type Found } from "./imports.ts";
import { originalPosition, type Mapping } from "./mapping.ts";
import { mistake, Mistakes } from "./types.ts";

export interface Module {
  readonly code: string;
  /** The name that the code gives its default export; undefined where it has none. */
  readonly main: string | undefined;
}

export interface ModuleOptions {
  readonly allowed: readonly string[];
  /** Left out = JavaScript as browsers take it. */
  readonly loader?: Loader;
  /** Where the lines of `source` stand in what its author wrote; left out = there. */
  readonly mapping?: Mapping;
}

export async function compileModule(source: string, { allowed, loader, mapping }: ModuleOptions): Promise<Module> {
  const code = loader ? (await stripped(source, loader, mapping)).code : source;
  const parsed = parseModule(code);
  const found = "mistake" in parsed ? [parsed.mistake] : importsOf(parsed.program, allowed);
  if (found.length === 0 && "program" in parsed) return withMain(code, parsed.program);
  const maps = mapping ? [mapping] : [];
  // Only a mistake asks where the lines came from.
  if (loader) maps.unshift(JSON.parse((await stripped(source, loader, mapping, true)).map) as Mapping);
  throw new Mistakes(found.map((one) => placed(one, maps)));
}

type Program = Extract<ReturnType<typeof parseModule>, { program: unknown }>["program"];

/** Gives the default export a name where it has none. */
function withMain(code: string, program: Program): Module {
  for (const node of program.body) {
    if (node.type === "ExportNamedDeclaration" && !node.source) {
      for (const specifier of node.specifiers) {
        if (specifier.type !== "ExportSpecifier") continue;
        const { exported, local } = specifier;
        if ((exported.type === "Identifier" ? exported.name : exported.value) === "default")
          return { code, main: local.name };
      }
    }
    if (node.type !== "ExportDefaultDeclaration") continue;
    const { declaration } = node;
    if ("id" in declaration && declaration.id?.type === "Identifier") return { code, main: declaration.id.name };
    const [start, body] = [node.start ?? 0, declaration.start ?? 0];
    // `export default (a, b)` begins inside of its brackets.
    const from = start + "export default".length;
    const between = code.slice(from, body);
    const named = `${code.slice(0, start)}const __main =${between}${code.slice(body)}`;
    return { code: `${named}\nexport { __main as default };\n`, main: "__main" };
  }
  return { code, main: undefined };
}

async function stripped(source: string, loader: Loader, mapping: Mapping | undefined, sourcemap = false) {
  try {
    return await transform(source, {
      loader,
      format: "esm",
      platform: "browser",
      target: "es2022",
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
    throw new Mistakes(error.errors.map((message) => placed(foundBy(message), mapping ? [mapping] : [])));
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
