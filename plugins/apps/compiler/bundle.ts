/**
 * The one pass of esbuild that all code goes through: TypeScript and JSX away, and every import looked at. Nothing is
 * bundled in: each import either stays as it is, for the page's import map, or is refused. esbuild has no macros and
 * asks our plugin for whatever it would otherwise read from the disk.
 */
import { build, type BuildFailure, type Loader, type Message, type OnResolveArgs, type Plugin } from "esbuild";
import { originalPosition, type Mapping } from "./mapping.ts";
import { mistake, Mistakes } from "./types.ts";

export interface Bundled {
  readonly code: string;
  /** The name that the code gives its default export; undefined where it has none. */
  readonly main: string | undefined;
}

export interface BundleOptions {
  readonly loader: Loader;
  readonly allowed: readonly string[];
  /** Where the lines of `code` stand in the source that its author wrote; left out = there. */
  readonly mapping?: Mapping;
}

export async function bundle(code: string, { loader, allowed, mapping }: BundleOptions): Promise<Bundled> {
  try {
    const result = await build({
      bundle: true,
      write: false,
      format: "esm",
      platform: "browser",
      target: "es2022",
      charset: "utf8",
      jsx: "automatic",
      treeShaking: false,
      legalComments: "inline",
      logLevel: "silent",
      stdin: { contents: code, loader, sourcefile: "app" },
      plugins: [importsOf(allowed)],
      // An import whose name is known at run time only cannot be checked.
      logOverride: {
        "unsupported-dynamic-import": "error",
        "unsupported-require-call": "error",
        "indirect-require": "error",
        "require-resolve-not-external": "error",
      },
      tsconfigRaw: {},
      define: { "process.env.NODE_ENV": '"production"' },
    });
    const text = result.outputFiles[0]?.text ?? "";
    return { code: text.replace(/^\/\/ app\n/, ""), main: mainOf(text) };
  } catch (error) {
    if (!isFailure(error)) throw error;
    throw new Mistakes(error.errors.map((message) => explain(message, mapping)));
  }
}

/** Refuses what is not on the list, with the place where it is imported. */
function importsOf(allowed: readonly string[]): Plugin {
  const names = new Set(allowed);
  return {
    name: "imports",
    setup(builder) {
      builder.onResolve({ filter: /.*/ }, (args) => {
        if (args.kind === "entry-point") return undefined;
        const refusal = refusalOf(args, names);
        return refusal === undefined ? { path: args.path, external: true } : { errors: [{ text: refusal }] };
      });
      // Not reached: nothing resolves to a file.
      builder.onLoad({ filter: /.*/ }, () => ({ errors: [{ text: "an app cannot read files" }] }));
    },
  };
}

function refusalOf({ path, kind, with: attributes }: OnResolveArgs, names: ReadonlySet<string>): string | undefined {
  const name = JSON.stringify(path.length > 100 ? `${path.slice(0, 100)}…` : path);
  if (kind === "require-call" || kind === "require-resolve") return `${name}: use \`import\`, there is no \`require\``;
  if (!names.has(path)) return `${name} cannot be imported: ${allowedText(path, names)}`;
  if (Object.keys(attributes).length > 0) return `${name}: an import with attributes is not possible`;
  return undefined;
}

/** The packages; where it is one of theirs, what is in that package. */
function allowedText(path: string, names: ReadonlySet<string>): string {
  const open = [...names].filter((name) => !name.includes("/internal/"));
  const same = open.filter((name) => packageOf(name) === packageOf(path));
  const shown = same.length > 0 ? same : [...new Set(open.map(packageOf))];
  return shown.length > 0 ? `an app of this engine may import ${shown.join(", ")}` : "there is nothing to import";
}

function packageOf(specifier: string): string {
  return specifier.split("/", 1)[0] ?? specifier;
}

/** esbuild prints one list of exports, at the end. */
function mainOf(code: string): string | undefined {
  const list = /^export \{\n([^}]*)\};\n*$/m.exec(code.slice(code.lastIndexOf("\nexport {") + 1))?.[1];
  const line = list?.split("\n").find((one) => /(^| as )default,?$/.test(one.trim()));
  return line?.trim().split(" ", 1)[0];
}

function explain({ text, location }: Message, mapping: Mapping | undefined): string {
  const line = location?.line ?? 1;
  const column = location ? charactersIn(location.lineText, location.column) : 0;
  const place = mapping ? originalPosition(mapping, line, column) : { line, column };
  return mistake(place.line, place.column + 1, plain(text));
}

/** In the words of an author who has never heard of bundling. */
function plain(text: string): string {
  if (/^This "import" expression will not be bundled/.test(text)) return "import() takes a literal name only";
  if (/^(This|Indirect) calls? to "require"/.test(text)) return "there is no `require`: use `import`";
  return text;
}

/** esbuild counts columns in bytes. */
function charactersIn(line: string, bytes: number): number {
  return new TextDecoder().decode(new TextEncoder().encode(line).subarray(0, bytes)).length;
}

function isFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && "errors" in error && Array.isArray(error.errors) && error.errors.length > 0;
}
