/**
 * No text makes one of our regular expressions slow. Each one that repeats something is tried on 1 MB of hostile text,
 * or on the length given in `bounded` if its text is always short.
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { extname, join, resolve } from "node:path";
import { parse, type Node } from "acorn";
import { attacksOn, generalAttacks, hasQuantifier, textOf, type Attack, type Expression } from "./hostile-text.ts";

// Measures processor time, because the machine may be busy.
setDefaultTimeout(600_000);

const root = resolve(import.meta.dir, "..");
const megabyte = 1_000_000;
/** Processor milliseconds by the length of the text: many times what a linear expression needs, and soon too few for others. */
const limitMs = (length: number) => (length === megabyte ? 1_500 : Math.max(50, length / 325));

interface Bound {
  readonly path: string;
  readonly source: string;
  readonly longest: number;
  readonly why: string;
}

/** Expressions that never see more than `longest` characters. */
const bounded: readonly Bound[] = [
  {
    path: "plugins/smtp/address.ts",
    source: String.raw`^(?:"((?:[^"\\]|\\.)*)"|([^"<>]*?))\s*<([^<>]*)>$`,
    longest: 1_000,
    why: "parseAddress looks at the length before",
  },
  {
    path: "runtime/operations/openapi/openapi.ts",
    source: String.raw`[^a-z]+(\w)`,
    longest: 200,
    why: "paths of our own routes",
  },
  {
    path: "runtime/times/format-date.ts",
    source: String.raw`(?:\b(?:Z|UT|UTC|GMT|[ECMP][SD]T)|\d:\d\d(?::\d\d)?(?:[.,]\d+)? ?[+-]\d\d(?::?\d\d)?)(?: \(.*\))?$`,
    longest: 100,
    why: "parseMoment takes no longer text for a date",
  },
  {
    path: "runtime/times/format-date.ts",
    source: String.raw`\d+$`,
    longest: 1_000,
    why: "flags of a format, which is bounded",
  },
];

const found = await expressionsOf("{runtime,plugins}/**/*.{ts,tsx,js,mjs}");

interface Found extends Expression {
  readonly path: string;
}

async function expressionsOf(pattern: string): Promise<Found[]> {
  const all: Found[] = [];
  for await (const path of new Bun.Glob(pattern).scan(root)) {
    if (/\.(test|d)\.ts$/.test(path)) continue;
    const text = await Bun.file(join(root, path)).text();
    all.push(...expressionsIn(text, extname(path)).map((one) => ({ path, ...one })));
  }
  return all;
}

/** Literals, `new RegExp(…)` of literal text, and the patterns of schemas. */
function expressionsIn(text: string, extension: string): Expression[] {
  const loader = extension.endsWith("x") ? "tsx" : "ts";
  const code = new Bun.Transpiler({ loader }).transformSync(text);
  const expressions: Expression[] = [];
  const visit = (node: unknown) => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (!isNode(node)) return undefined;
    const one = literal(node) ?? built(node) ?? schemaPattern(node);
    if (one) expressions.push(one);
    return Object.values(node).forEach(visit);
  };
  visit(parse(code, { ecmaVersion: "latest", sourceType: "module" }));
  return expressions;
}

type AnyNode = Node & { readonly [key: string]: unknown };

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && "type" in value;
}

function literal(node: AnyNode): Expression | undefined {
  const regex = node["regex"];
  if (node.type !== "Literal" || !isExpression(regex)) return undefined;
  return { source: regex.pattern, flags: regex.flags };
}

function isExpression(value: unknown): value is { pattern: string; flags: string } {
  return typeof value === "object" && value !== null && "pattern" in value && "flags" in value;
}

function built(node: AnyNode): Expression | undefined {
  if (node.type !== "NewExpression" && node.type !== "CallExpression") return undefined;
  if (!isNode(node["callee"]) || node["callee"]["name"] !== "RegExp" || !Array.isArray(node["arguments"]))
    return undefined;
  const [source, flags] = node["arguments"].map(textOfNode);
  return source === undefined ? undefined : { source, flags: flags ?? "" };
}

function schemaPattern(node: AnyNode): Expression | undefined {
  if (node.type !== "Property" || !isNode(node["key"]) || node["key"]["name"] !== "pattern") return undefined;
  const source = textOfNode(node["value"]);
  return source === undefined ? undefined : { source, flags: "" };
}

/** The text of a string or template, with a private-use character for each placeholder of a template. */
function textOfNode(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (typeof node["value"] === "string") return node["value"];
  const template = node.type === "TaggedTemplateExpression" ? node["quasi"] : node;
  if (!isNode(template) || !Array.isArray(template["quasis"])) return undefined;
  const key = node === template ? "cooked" : "raw";
  return template["quasis"].map((part) => String(part.value[key])).join("\uE000");
}

/**
 * The first text that takes too long. Lengths grow, so that a slow expression is found before it runs for hours. Only
 * the slowest of many attacks are tried at greater lengths.
 */
function slowOn(expression: Expression, longest: number): string | undefined {
  const key = `${longest} /${expression.source}/${expression.flags}`;
  if (!tried.has(key)) tried.set(key, slowestOf(expression, longest));
  return tried.get(key);
}

/** The same expression stands in several files. */
const tried = new Map<string, string | undefined>();

function slowestOf({ source, flags }: Expression, longest: number): string | undefined {
  const expression = new RegExp(source, flags);
  let attacks: Attack[] = [...generalAttacks, ...attacksOn({ source, flags })];
  for (const length of [16, 22, 28, 256, 4_096, 16_384, 32_768, 65_536, 131_072, megabyte]) {
    const times: { attack: Attack; ms: number }[] = [];
    for (const attack of attacks) {
      const text = textOf(attack, Math.min(length, longest));
      // The clock is asked much quicker than the processor's time, which decides.
      const first = length > 256 ? msOf(text, expression) : clockMsOf(text, expression);
      // The processor may have been at the garbage of other tests.
      const ms = first > limitMs(length) ? Math.min(first, msOf(text, expression)) : first;
      times.push({ attack, ms });
      if (ms > limitMs(length) && ms > limitMs(length) * slowness())
        return `${Math.round(ms)} ms for ${text.length} characters: ${JSON.stringify(attack)}`;
    }
    if (length >= longest) return undefined;
    const slowest = times.toSorted((a, b) => b.ms - a.ms).map(({ attack }) => attack);
    if (length >= 4_096) attacks = slowest.slice(0, keptAt(length));
  }
  return undefined;
}

/** How many are tried at the next length. What is slow on a megabyte has long been far slower than all others. */
function keptAt(length: number): number {
  if (length === 4_096) return 60;
  return length === 131_072 ? 2 : 6;
}

const yardstick = { text: "ab1 ".repeat(250_000), expression: /[a-z]+\d/g, usualMs: 12 };

/** How many times longer than usual this machine takes just now for an expression that is known to be linear. */
function slowness(): number {
  return Math.max(1, msOf(yardstick.text, yardstick.expression) / yardstick.usualMs);
}

function clockMsOf(text: string, expression: RegExp): number {
  const before = performance.now();
  text.replace(expression, "");
  return performance.now() - before;
}

function msOf(text: string, expression: RegExp): number {
  const before = process.cpuUsage();
  text.replace(expression, "");
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const repeating = found.filter(hasQuantifier);

describe("regular expressions", () => {
  test("the search for them finds each kind, and the attacks find what is slow", () => {
    const text = [
      'const a: string = "/no+/"; // /neither+/',
      "export const b = [/\\d+x/g, new RegExp('y+'), new RegExp(String.raw`z+${a}`, 'i'), { pattern: 'w+' }];",
    ].join("\n");
    expect(expressionsIn(text, ".ts").map(({ source, flags }) => `/${source}/${flags}`)).toEqual([
      String.raw`/\d+x/g`,
      "/y+/",
      "/z+\uE000/i",
      "/w+/",
    ]);
    const slow = [String.raw`^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$`, "=+$", "(?:a|a)+b", "<a[^>]*>"];
    for (const source of slow)
      expect([source, slowOn({ source, flags: "" }, megabyte)]).not.toEqual([source, undefined]);
  });

  test.each(repeating.map((one) => [`${one.path} /${one.source}/${one.flags}`, one] as const))("%s", (_, one) => {
    const bound = bounded.find(({ path, source }) => path === one.path && source === one.source);
    expect(slowOn(one, bound?.longest ?? megabyte)).toBeUndefined();
  });

  test("every exception is one of an expression that is there", () => {
    const isThere = (bound: Bound) =>
      repeating.some(({ path, source }) => path === bound.path && source === bound.source);
    expect(bounded.filter((bound) => !isThere(bound))).toEqual([]);
  });
});
