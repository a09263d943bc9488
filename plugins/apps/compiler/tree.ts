/** Babel's syntax tree of a module, with just the types that a search through the whole tree needs. */
import type * as Sfc from "@vue/compiler-sfc";
// The build for Node reads files and cannot be bundled; the browser build cannot read files.
import * as browserBuild from "@vue/compiler-sfc/dist/compiler-sfc.esm-browser.js";

/** Vue's compiler, which includes Babel's parser. The browser build has the same exports but no type declarations. */
export const sfc = browserBuild as unknown as typeof Sfc;

export type Program = ReturnType<typeof sfc.babelParse>["program"];

export interface Node {
  readonly type: string;
  readonly loc?: { readonly start: { readonly line: number; readonly column: number } };
  readonly [key: string]: unknown;
}

/** `root` and every node below it, without recursion, because a tree may be deep. Skips nodes that `enter` rejects. */
export function* nodesOf(root: object, enter: (node: Node) => boolean = () => true): Generator<Node> {
  const rest = [root as Node]; // Babel's nodes are such
  for (let node = rest.pop(); node; node = rest.pop()) {
    if (!enter(node)) continue;
    yield node;
    for (const key in node) {
      const value = node[key];
      if (typeof value !== "object" || value === null || key === "loc" || key === "extra") continue;
      if (!Array.isArray(value)) {
        if ("type" in value) rest.push(value as Node);
      } else for (const item of value) if (nodeIn(item)) rest.push(item);
    }
  }
}

export function nodeIn(value: unknown): Node | undefined {
  return typeof value === "object" && value !== null && "type" in value ? (value as Node) : undefined;
}

/**
 * Whether the statement itself calls a function or method of one of these names. Calls inside a function do not count:
 * it may serve another purpose than mounting the app.
 */
export function callsAtOnce(statement: object, names: ReadonlySet<unknown>): boolean {
  return nodesOf(statement, (node) => !/Function|Class|Method/.test(node.type)).some((node) => {
    const callee = node.type === "CallExpression" ? nodeIn(node["callee"]) : undefined;
    const called = callee?.type === "MemberExpression" ? nodeIn(callee["property"]) : callee;
    return names.has(called?.["name"]);
  });
}

export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text of a string literal, in any quotes; undefined for other nodes and for templates with expressions. */
export function literalOf(node: Node): string | undefined {
  if (node.type === "StringLiteral" && typeof node["value"] === "string") return node["value"];
  const quasi = nodeIn(listIn(node["quasis"])[0])?.["value"];
  const isPlain = node.type === "TemplateLiteral" && listIn(node["expressions"]).length === 0;
  if (!isPlain || typeof quasi !== "object" || quasi === null || !("cooked" in quasi)) return undefined;
  return typeof quasi.cooked === "string" ? quasi.cooked : undefined;
}

// Checks the imports of a module, in any form, against the list of what its app may import.

export interface SourceFault {
  /** From 1. */
  readonly line: number;
  /** From 0. */
  readonly column: number;
  readonly message: string;
}

export function parseModule(
  code: string,
  syntax: readonly ("typescript" | "jsx")[] = [],
): { readonly program: Program } | { readonly mistake: SourceFault } {
  try {
    const { program } = sfc.babelParse(code, {
      sourceType: "module",
      attachComment: false,
      // Parse `assert { … }`, the older spelling of `with { … }`, so that both are refused with the same message.
      plugins: ["explicitResourceManagement", "deprecatedImportAssert", ...syntax],
    });
    return { program };
  } catch (error) {
    if (!(error instanceof SyntaxError) || !("loc" in error)) throw error;
    const { line, column } = error.loc as { line: number; column: number }; // Babel's own
    return { mistake: { line, column, message: error.message.replace(/ \(\d+:\d+\)$/, "") } };
  }
}

/** The errors in the imports, in source order. */
export function importsOf(program: Program, allowed: readonly string[]): SourceFault[] {
  const names = new Set(allowed);
  const found: SourceFault[] = [];
  const report = (node: Node, message: string) => {
    const { line, column } = node.loc?.start ?? { line: 1, column: 0 };
    found.push({ line, column, message });
  };
  for (const node of nodesOf(program)) {
    const source = sourceOf(node);
    if (isOfTypes(node)) continue;
    if (source === undefined) {
      if (isRequire(node)) report(node, "`require` is not supported: use `import`");
      continue;
    }
    const name = literalOf(source);
    if (name === undefined) report(source, "import() takes a literal name only");
    else if (!names.has(name)) report(source, `${shown(name)} cannot be imported: ${allowedText(name, names)}`);
    else if (hasAttributes(node)) report(source, `${shown(name)}: import attributes are not supported`);
  }
  return found.toSorted((a, b) => a.line - b.line || a.column - b.column);
}

/** The source of an import; undefined for any other node. */
function sourceOf(node: Node): Node | undefined {
  if (/^(Import|Export(Named|All))Declaration$/.test(node.type)) return nodeIn(node["source"]);
  if (node.type === "ImportExpression") return nodeIn(node["source"]);
  if (node.type !== "CallExpression" || nodeIn(node["callee"])?.type !== "Import") return undefined;
  return nodeIn(listIn(node["arguments"])[0]) ?? node;
}

/** TypeScript's type imports, which produce no code. */
function isOfTypes(node: Node): boolean {
  if (node["importKind"] === "type" || node["exportKind"] === "type") return true;
  const specifiers = node.type === "ImportDeclaration" ? listIn(node["specifiers"]) : [];
  return specifiers.length > 0 && specifiers.every((one) => nodeIn(one)?.["importKind"] === "type");
}

function hasAttributes(node: Node): boolean {
  return (
    listIn(node["attributes"]).length > 0 || listIn(node["arguments"]).length > 1 || nodeIn(node["options"]) != null
  );
}

/** A call of `require`, or a use of the name. An app's own function named `require` is refused too. */
function isRequire(node: Node): boolean {
  const isName = (value: unknown) => nodeIn(value)?.type === "Identifier" && nodeIn(value)?.["name"] === "require";
  if (node.type === "CallExpression") return isName(node["callee"]);
  if (node.type === "MemberExpression") return isName(node["object"]);
  if (node.type === "VariableDeclarator") return isName(node["init"]);
  return node.type === "AssignmentExpression" && isName(node["right"]);
}

function shown(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
}

/** Lists the allowed packages or, for a path in an allowed package, what may be imported from that package. */
function allowedText(path: string, names: ReadonlySet<string>): string {
  const open = [...names].filter((name) => !name.includes("/internal/"));
  const same = open.filter((name) => packageOf(name) === packageOf(path));
  const listed = same.length > 0 ? same : [...new Set(open.map(packageOf))];
  return listed.length > 0 ? `an app of this engine may import ${listed.join(", ")}` : "there is nothing to import";
}

function packageOf(specifier: string): string {
  return specifier.split("/", 1)[0] ?? specifier;
}
