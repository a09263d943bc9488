/** Babel's syntax tree of a module, with just the types that a search through the whole tree needs. */
import type { sfc } from "./sfc.ts";

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
