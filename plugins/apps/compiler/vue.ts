/**
 * Vue 3 single-file components: script setup or options, TypeScript, scoped styles. They cannot refer to other files.
 */
import type * as Sfc from "@vue/compiler-sfc";
import { compileModule, refuse } from "./module.ts";
import { callsAtOnce, sfc } from "./tree.ts";
import { mistake, mistakeAt, Mistakes, type Code, type Task } from "./task.ts";
import { withRenderFunctions } from "./vue-templates.ts";

const filename = "App.vue";
const component = "__app";
const target = `document.getElementById("core-app") ?? document.body`;
const mount = `import { createApp as __createApp } from "vue";
__createApp(${component}).mount(${target});
`;
/** Vue shows a component with an asynchronous setup only inside a Suspense. */
const mountAwaited = `import { createApp as __createApp, h as __h, Suspense as __Suspense } from "vue";
__createApp({ render: () => __h(__Suspense, null, { default: () => __h(${component}) }) }).mount(${target});
`;
const mounting: ReadonlySet<unknown> = new Set(["mount"]);
const scriptLanguages = ["js", "ts", "jsx", "tsx"];
/** On the first line, so that the others keep their numbers. */
const jsxImport = `import { h as __jsx, Fragment as __fragment } from "vue"; `;
const noFiles = { fileExists: () => false, readFile: () => undefined, realpath: (path: string) => path };

export async function compileVue({ source, allowed }: Task): Promise<Code> {
  const descriptor = parse(source);
  const id = idOf(source);
  const { script, mapping } = scriptOf(descriptor, id);
  const modules = descriptor.styles.flatMap(moduleOf);
  const css = descriptor.styles.map((style) => styleOf(style, id)).join("\n");
  const scoped = descriptor.styles.some((style) => style.scoped);
  const lang = languageOf(descriptor);
  const isJsx = lang === "tsx" || lang === "jsx";
  const additions = [
    scoped ? `${component}.__scopeId = "data-v-${id}";\n` : "",
    modules.length > 0 ? `${component}.__cssModules = ${JSON.stringify(Object.fromEntries(modules))};\n` : "",
  ];
  const compiled = await compileModule(`${isJsx ? jsxImport : ""}${script}\n${additions.join("")}`, {
    ...(lang !== "js" && { loader: isJsx ? "tsx" : "ts" }),
    ...(isJsx && { jsx: { factory: "__jsx", fragment: "__fragment" } }),
    allowed,
    ...mapping,
  });
  const isMounted = compiled.program.body.some((statement) => callsAtOnce(statement, mounting));
  const waits = /\basync\s+setup\b|\bsetup:\s*async\b/.test(compiled.code);
  // Without a map nobody knows where a line was written.
  const lines = mapping.mapping ? (compiled.lines ?? []) : [];
  return { code: `${compiled.code}\n${isMounted ? "" : waits ? mountAwaited : mount}`, css, lines };
}

function parse(source: string): Sfc.SFCDescriptor {
  const { descriptor, errors } = sfc.parse(source, { filename, ignoreEmpty: true });
  const found = errors.map((error) => explain(error, descriptor));
  const report = (block: Sfc.SFCBlock, message: string) =>
    found.push(mistake(block.loc.start.line, block.loc.start.column, message));
  const { template, script, scriptSetup, styles, customBlocks } = descriptor;
  for (const block of customBlocks)
    if (block.type !== "docs") report(block, `<${block.type}> blocks are not supported`);
  for (const block of [template, script, scriptSetup, ...styles]) {
    if (!block) continue;
    if (block.src !== undefined) report(block, `<${block.type} src> is not supported: an app is one file`);
    const known = block.type === "style" ? ["css", "postcss"] : block.type === "template" ? ["html"] : scriptLanguages;
    if (block.lang !== undefined && !known.includes(block.lang))
      report(block, `<${block.type} lang="${block.lang}"> is not supported, only ${known.join(", ")}`);
  }
  if (!template && !script && !scriptSetup && found.length === 0)
    found.push(mistake(1, 1, "a component needs a <template> or a <script>"));
  if (found.length > 0) throw new Mistakes(found);
  return descriptor;
}

function scriptOf(descriptor: Sfc.SFCDescriptor, id: string) {
  const inline = descriptor.scriptSetup !== null;
  const { template } = descriptor;
  const script = descriptor.script || inline ? compiledScript(descriptor, id) : undefined;
  const mapping = script?.map ? { mapping: { mappings: script.map.mappings } } : {};
  const { code: start, found } = withRenderFunctions(
    script?.content ?? `const ${component} = {};`,
    isTypeScript(descriptor) ? ["typescript"] : [],
  );
  refuse(found, mapping.mapping ? [mapping.mapping] : []);
  if (inline || !template) return { script: start, mapping };
  const render = compiledTemplate(template, descriptor, id);
  return { script: `${start}\n${render}\n${component}.render = render;`, mapping };
}

function compiledScript(descriptor: Sfc.SFCDescriptor, id: string): Sfc.SFCScriptBlock {
  try {
    return sfc.compileScript(descriptor, {
      id,
      isProd: true,
      inlineTemplate: true,
      genDefaultAs: component,
      fs: noFiles,
      templateOptions: { transformAssetUrls: false },
    });
  } catch (error) {
    throw new Mistakes([explain(error, descriptor)]);
  }
}

function compiledTemplate(template: Sfc.SFCTemplateBlock, descriptor: Sfc.SFCDescriptor, id: string): string {
  const { code, errors } = sfc.compileTemplate({
    source: template.content,
    filename,
    id,
    isProd: true,
    ...(template.ast && { ast: template.ast }),
    scoped: descriptor.styles.some((style) => style.scoped),
    slotted: descriptor.slotted,
    transformAssetUrls: false,
    compilerOptions: isTypeScript(descriptor) ? { expressionPlugins: ["typescript"] } : {},
  });
  if (errors.length > 0) throw new Mistakes(errors.map((error) => explain(error, descriptor)));
  return code.replace(/^export function render/m, "function render");
}

function styleOf(style: Sfc.SFCStyleBlock, id: string): string {
  const { code, errors } = sfc.compileStyle({
    source: style.content,
    filename,
    id: `data-v-${id}`,
    isProd: true,
    scoped: style.scoped === true,
  });
  if (errors.length === 0) return code;
  throw new Mistakes(
    errors.map((error) => {
      const { line = 1, column = 1, reason = error.message } = error as Error & CssError; // PostCSS made it
      // PostCSS counts from the block's first line.
      const first = style.loc.start;
      return mistake(first.line + line - 1, line === 1 ? first.column + column - 1 : column, reason);
    }),
  );
}

interface CssError {
  readonly line?: number;
  readonly column?: number;
  readonly reason?: string;
}

/** Vue reports places in several ways: a location, `(line:column)` in the block, or a picture of the code. */
function explain(error: unknown, { source, script, scriptSetup }: Sfc.SFCDescriptor): string {
  if (typeof error === "string") return mistake(1, 1, error);
  if (!(error instanceof Error)) throw error;
  const text = error.message.replace(/^\[(@?vue\/compiler-sfc)\] /, "");
  const message = text.replace(/ \(\d+:\d+\)/, "");
  const start = placeOf("loc" in error ? error.loc : undefined);
  if (start) return mistake(start.line, start.column, message);
  const inBlock = / \((\d+):(\d+)\)/.exec(text.split("\n", 1)[0] ?? "");
  const drawn = drawnPlace(error.message);
  if (drawn) return mistake(drawn.line, drawn.column, message);
  const block = scriptSetup ?? script;
  if (!inBlock || !block) return mistakeAt(source, block?.loc.start.offset ?? 0, message);
  return mistake(block.loc.start.line + Number(inBlock[1]) - 1, Number(inBlock[2]) + 1, message);
}

function placeOf(loc: unknown): { line: number; column: number } | undefined {
  if (typeof loc !== "object" || loc === null || !("start" in loc)) return undefined;
  const { start } = loc;
  if (typeof start !== "object" || start === null || !("line" in start) || !("column" in start)) return undefined;
  return { line: Number(start.line), column: Number(start.column) };
}

/** `12 |  code` and below it `   |  ^^^^`. */
function drawnPlace(message: string): { line: number; column: number } | undefined {
  const lines = message.split("\n");
  const at = lines.findIndex((line) => /^ +\| +\^/.test(line));
  const above = /^(\d+) +\| {2}/.exec(lines[at - 1] ?? "");
  const marks = lines[at];
  if (!above || marks === undefined) return undefined;
  return { line: Number(above[1]), column: marks.indexOf("^") - above[0].length + 1 };
}

function languageOf({ script, scriptSetup }: Sfc.SFCDescriptor): string {
  return (scriptSetup ?? script)?.lang ?? "js";
}

function isTypeScript(descriptor: Sfc.SFCDescriptor): boolean {
  return languageOf(descriptor).startsWith("ts");
}

/** `<style module>`: a page has one component, so that its classes keep their names. */
function moduleOf({ module, content }: Sfc.SFCStyleBlock): (readonly [string, Readonly<Record<string, string>>])[] {
  if (!module) return [];
  const classes = [...content.matchAll(/\.(-?[_a-z][\w-]*)/gi)].map(([, name = ""]) => [name, name] as const);
  return [[module === true ? "$style" : module, Object.fromEntries(classes)]];
}

/** There is only one component on the page, so its id need only change with its styles. FNV-1a. */
function idOf(source: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < source.length; at++) hash = Math.imul(hash ^ source.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(36);
}
