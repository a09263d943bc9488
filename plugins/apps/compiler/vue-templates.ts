/**
 * Further components in a Vue file: `const Item = { props: ["a"], template: "<li>{{ a }}</li>" }`. The page's Vue
 * cannot compile templates, because the page's policy forbids making code from text, so they get a render function
 * here.
 */
import { listIn, literalOf, nodeIn, nodesOf, parseModule, sfc } from "./tree.ts";
import type { SourceFault, Node, Program } from "./tree.ts";

interface Template {
  readonly text: string;
  /** The literal's place: the offset after it, and its beginning. */
  readonly end: number;
  readonly line: number;
  readonly column: number;
}

/** `code` with render functions next to the templates, and their mistakes. Lines keep their numbers. */
export function withRenderFunctions(
  code: string,
  syntax: readonly "typescript"[],
): { code: string; found: SourceFault[] } {
  const found: SourceFault[] = [];
  if (!/\btemplate\b/.test(code)) return { code, found };
  const parsed = parseModule(code, syntax);
  const templates = "program" in parsed ? templatesOf(parsed.program) : []; // what does not parse is told later
  if (templates.length === 0) return { code, found };
  const parts: string[] = [];
  const functions: string[] = [];
  let from = 0;
  for (const template of templates.toSorted((a, b) => a.end - b.end)) {
    const name = `__render${functions.length}`;
    parts.push(code.slice(from, template.end), `, render: ${name}`);
    from = template.end;
    functions.push(
      `function ${name}(...given) { return (() => {\n${render(template, syntax, found)}\n})()(...given); }`,
    );
  }
  const all = [...parts, code.slice(from), `\nimport * as __Vue from "vue";\n`, functions.join("\n")];
  return { code: all.join(""), found };
}

function render({ text, line, column }: Template, syntax: readonly "typescript"[], found: SourceFault[]): string {
  const { code, errors } = sfc.compileTemplate({
    source: text,
    filename: "App.vue",
    id: "app", // it has no styles of its own
    isProd: true,
    transformAssetUrls: false,
    compilerOptions: {
      mode: "function",
      runtimeGlobalName: "__Vue",
      hoistStatic: false,
      expressionPlugins: [...syntax],
    },
  });
  for (const error of errors) {
    const start = typeof error !== "string" && "loc" in error ? error.loc?.start : undefined;
    const inside = start && start.line > 1 ? start.column - 1 : column + (start?.column ?? 0);
    const message = typeof error === "string" ? error : error.message;
    found.push({ line: line + (start?.line ?? 1) - 1, column: inside, message });
  }
  return code;
}

function templatesOf(program: Program): Template[] {
  const found = new Map<number, Template>();
  for (const node of nodesOf(program)) {
    for (const component of componentsAt(node)) {
      const template = templateOf(component);
      if (template) found.set(template.end, template);
    }
  }
  return [...found.values()];
}

/** Objects whose position makes them components. In any other object `template` may be an ordinary text. */
function componentsAt(node: Node): readonly unknown[] {
  if (node.type === "VariableDeclarator") return /^([A-Z]|__app$)/.test(nameOf(node["id"])) ? [node["init"]] : [];
  if (node.type === "CallExpression") {
    const callee = nodeIn(node["callee"]);
    const name = nameOf(callee?.type === "MemberExpression" ? callee["property"] : callee);
    return /^(_?defineComponent|component)$/.test(name) ? listIn(node["arguments"]) : [];
  }
  if (node.type !== "ObjectProperty" || nameOf(node["key"]) !== "components") return [];
  return listIn(nodeIn(node["value"])?.["properties"]).map((one) => nodeIn(one)?.["value"]);
}

function templateOf(value: unknown): Template | undefined {
  const node = nodeIn(value);
  if (node && /^TS(As|Satisfies)Expression$/.test(node.type)) return templateOf(node["expression"]);
  if (node?.type !== "ObjectExpression") return undefined;
  const properties = listIn(node["properties"]).map((one) => nodeIn(one));
  const called = (name: string) => properties.find((one) => nameOf(one?.["key"]) === name);
  const literal = nodeIn(called("template")?.["value"]);
  const text = literal && !called("render") ? literalOf(literal) : undefined;
  if (!literal || text === undefined || typeof literal["end"] !== "number") return undefined;
  return { text, end: literal["end"], ...(literal.loc?.start ?? { line: 1, column: 0 }) };
}

function nameOf(value: unknown): string {
  const node = nodeIn(value);
  const name = node?.["name"] ?? node?.["value"];
  return typeof name === "string" ? name : "";
}
