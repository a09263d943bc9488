/** Svelte 5 components. Svelte itself removes TypeScript that only annotates. */
import { transform } from "esbuild";
import { compile, preprocess, type AST, type CompileResult } from "svelte/compiler";
import { nodesOf, type SourceFault, type Program } from "./tree.ts";
import { originalPosition, compileModule, refuse, type Mapping } from "./module.ts";
import { mistake, mistakeAt, Mistakes, type Code, type Task } from "./task.ts";

export async function compileSvelte({ source, allowed }: Task): Promise<Code> {
  const { js, css, isTyped } = await compiled(source);
  const { code, main, program, lines = [] } = await compileModule(js.code, { allowed, mapping: js.map });
  const own = isTyped ? withoutUnusedNames(code, program) : code;
  return { code: `${own}\n${mount(main ?? "App")}`, css: css?.code ?? "", lines };
}

async function compiled(written: string): Promise<CompileResult & { isTyped: boolean }> {
  const source = withSemicolons(written);
  const isTyped = /<script\b[^>]{0,1000}\blang\s*=\s*["']?ts\b/.test(source);
  try {
    return { ...compiledOnce(source), isTyped };
  } catch (error) {
    const script = isTyped && !(error instanceof Mistakes) ? await withoutTypes(source) : undefined;
    if (!script) throw explained(error, source, []);
    try {
      return { ...compiledOnce(script.code, script.map), isTyped };
    } catch (second) {
      // The same error, but with its exact place in the author's source.
      if (String(second) === String(error)) throw explained(error, source, []);
      throw explained(second, source, [script.map]);
    }
  }
}

/** `waits` allows await in the markup and at the top of the script; the code that Svelte makes for it is larger. */
function compiledOnce(source: string, map?: Mapping, waits = false): CompileResult {
  try {
    const result = compile(source, {
      filename: "App.svelte",
      generate: "client",
      css: "external",
      dev: false,
      discloseVersion: false,
      modernAst: true,
      experimental: { async: waits },
      warningFilter: () => false,
      ...(map && { sourcemap: map }),
    });
    refuseBlocks(result.ast, map ? [map] : []);
    return result;
  } catch (error) {
    if (waits || !isCompileError(error) || error.code !== "experimental_async") throw error;
    return compiledOnce(source, map, true);
  }
}

/** As with Vue: whatever needs another file or program is refused, not ignored. */
function refuseBlocks({ instance, module, css }: AST.Root, maps: readonly Mapping[]): void {
  const found: SourceFault[] = [];
  for (const block of [module, instance, css]) {
    const attributes: readonly AST.Attribute[] = block?.attributes ?? []; // the style's are `any`
    for (const { type, name, value, name_loc: place } of attributes) {
      const [text] = type === "Attribute" && Array.isArray(value) ? value : [];
      const message = notPossible(block?.type ?? "Script", name, text?.type === "Text" ? text.data : "");
      if (message !== undefined) found.push({ ...(place?.start ?? { line: 1, column: 0 }), message });
    }
  }
  refuse(found, maps);
}

function notPossible(block: string, name: string, value: string): string | undefined {
  const tag = block === "StyleSheet" ? "style" : "script";
  if (name === "src") return `<${tag} src> is not supported: an app is one file`;
  const known = tag === "script" ? ["js", "ts"] : ["css", "postcss"];
  if (name !== "lang" || known.includes(value)) return undefined;
  return `<${tag} lang="${value}"> is not supported, only ${known.join(", ")}`;
}

/** The last declaration of a CSS block needs no semicolon, but Svelte wants one after `@apply`. */
function withSemicolons(source: string): string {
  if (!source.includes("@apply")) return source;
  return source.replace(/<style\b[^<>]*>(?:[^<]|<(?!\/?style\b))*<\/style/gi, (style) =>
    style.replace(
      /\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|(@apply\b[^;{}"'@]{0,5000})(?=\})/g,
      (text, apply: string | undefined) => (apply === undefined ? text : `${apply};`),
    ),
  );
}

/**
 * Compiles TypeScript with runtime code, like enums, which Svelte does not support. undefined = it does not parse
 * either.
 */
async function withoutTypes(source: string): Promise<{ code: string; map: Mapping } | undefined> {
  try {
    const { code, map } = await preprocess(
      source,
      {
        script: async ({ content }) =>
          transform(content, {
            loader: "ts",
            target: "es2022",
            // Otherwise esbuild silently drops them.
            supported: { "import-attributes": true, "import-assertions": true },
            // Keeps imports that only the markup uses.
            tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
            charset: "utf8",
            logLevel: "silent",
            sourcemap: true,
            sourcefile: "App.svelte",
          }),
      },
      { filename: "App.svelte" },
    );
    return { code, map: map as unknown as Mapping }; // it says `object`
  } catch {
    return undefined;
  }
}

/** An unused import may be a type without the keyword `type`: the page would not find such an export. */
function withoutUnusedNames(code: string, program: Program): string {
  const used = new Set<unknown>();
  for (const node of nodesOf(program, ({ type }) => type !== "ImportDeclaration")) used.add(node["name"]);
  let own = code;
  for (const node of program.body.toReversed()) {
    if (node.type !== "ImportDeclaration") continue;
    for (const name of node.specifiers.toReversed()) {
      if (name.type !== "ImportSpecifier" || used.has(name.local.name)) continue;
      own = own.slice(0, name.start ?? 0) + own.slice(name.end ?? 0).replace(/^\s*,/, "");
    }
  }
  return own;
}

/** The error to throw for what Svelte reports. */
function explained(error: unknown, source: string, maps: readonly Mapping[]): unknown {
  if (!isCompileError(error)) return error;
  // Another language does not parse as CSS: report the language, not the syntax error.
  for (const block of source.matchAll(/<(script|style)\b[^>]{0,1000}?\blang\s*=\s*["']?([\w-]+)/gi)) {
    const [, tag = "", language = ""] = block;
    const message = notPossible(tag === "style" ? "StyleSheet" : "Script", "lang", language);
    if (message !== undefined) return new Mistakes([mistakeAt(source, block.index, message)]);
  }
  const { line = 1, column = 0 } = error.start ?? {};
  const place = maps.reduce((at, map) => originalPosition(map, at.line, at.column), { line, column });
  return new Mistakes([mistake(place.line, place.column + 1, plain(error))]);
}

/** Svelte's message about enums is advice on its build tools. */
function plain(error: Error & { code: unknown }): string {
  if (error.code !== "typescript_invalid_feature") return error.message;
  return 'TypeScript here may only annotate: what has code of its own belongs in <script lang="ts">';
}

function mount(main: string): string {
  return `import { mount as __mount } from "svelte";
__mount(${main}, { target: document.getElementById("core-app") ?? document.body });
`;
}

function isCompileError(error: unknown): error is Error & { code: unknown; start?: { line: number; column: number } } {
  return error instanceof Error && "code" in error && "message" in error && error.name !== "TypeError";
}
