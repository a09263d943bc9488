/**
 * The one Liquid engine: prompts, sites and flow expressions. What it runs may be hostile: a template
 * reads plain data and nothing else, and ends within limits of time, memory and output.
 *
 *     const liquid = createLiquid({ timezone: "Europe/Warsaw", locale: "pl" });
 *     liquid.renderSync("{{ day | date: '%-d %B' }}", { day: "2026-01-05" }); // "5 stycznia"
 *     liquid.evaluate("weather.main.temp | plus: 1", { weather }); // 21, a number
 *     liquid.condition("city != blank and temp > 20", { city, temp });
 */
import { LiquidError, toValue, Tokenizer, TypeGuards, Value, type Context, type Token } from "liquidjs";
import { evaluate, render } from "./liquid-compile.ts";
import { GuardedLiquid, type Template } from "./liquid-engine.ts";
import { customFilter } from "./liquid-filters.ts";
import { BoundedEmitter, LimitReached, limits as standardLimits } from "./liquid-guard.ts";
import type { FilterFunction, GuardedContext } from "./liquid-guard.ts";
import { createRuns, type LiquidOptions, type RenderOptions } from "./liquid-run.ts";

export type { Template } from "./liquid-engine.ts";
export type { FilterFunction } from "./liquid-guard.ts";
export type { LiquidOptions, RenderOptions } from "./liquid-run.ts";

/** A template could not be parsed ("syntax"), exceeded a limit, or failed while it ran. */
export class LiquidFault extends Error {
  override name = "LiquidFault";
  readonly kind: "syntax" | "limit" | "runtime";
  readonly line: number;
  readonly column: number;
  /** The partial with the mistake; undefined = the template itself. */
  readonly partial: string | undefined;

  constructor(kind: LiquidFault["kind"], message: string, position: Position, cause: unknown) {
    super(message, { cause });
    this.kind = kind;
    this.line = position.line;
    this.column = position.column;
    this.partial = position.partial;
  }
}

interface Position {
  line: number;
  column: number;
  partial?: string | undefined;
}

/** A tag: a class that extends LiquidJS's Tag. */
export type TagClass = GuardedLiquid["tags"][string];

/** `Data` is what a rendering passes to its tags. */
export interface Liquid<Data = undefined> {
  /** Throws a LiquidFault. Parses the same text only once. The template stays valid for this engine. */
  parse(source: string): Template;
  /** The mistake of a template that cannot be parsed. */
  syntaxError(source: string): { line: number; column: number; message: string } | undefined;
  renderSync(template: string | Template, variables: Record<string, unknown>, options?: RenderOptions<Data>): string;
  /** The typed value of an expression with its filters: the text between `{{` and `}}`. */
  evaluate(expression: string, variables: Record<string, unknown>, options?: RenderOptions<Data>): unknown;
  /** Whether a condition holds: the text in `{% if … %}`. */
  condition(expression: string, variables: Record<string, unknown>, options?: RenderOptions<Data>): boolean;
  /** The mistake of an expression or condition. */
  expressionError(expression: string): { line: number; column: number; message: string } | undefined;
  /** The variables that a template reads, with their paths: `client.name`. */
  variablesOf(source: string): string[];
  /** Call it before templates that use the filter are parsed, because an unknown filter is a syntax fault. */
  registerFilter(name: string, filter: FilterFunction): void;
  registerTag(name: string, tag: TagClass): void;
  /** The names of all filters, sorted. */
  filterNames(): string[];
  /** The `data` of the rendering that prints a tag. */
  dataOf(context: Context): Data | undefined;
}

const cachedTemplateBytes = 32_000_000;
const cachedExpressionBytes = 8_000_000;

export function createLiquid<Data = undefined>(options: LiquidOptions = {}): Liquid<Data> {
  const engine = new GuardedLiquid(options.partials !== undefined, { ...standardLimits, ...options.limits });
  const templates = cache<Template>(cachedTemplateBytes);
  const expressions = cache<Value>(cachedExpressionBytes);
  const own = new Set<string>();
  const runs = createRuns<Data>(engine, options);

  const parse = (source: string, name = ""): Template =>
    templates(`${name}\n${source}`, source, () => reading(() => engine.read(source, name || undefined)));
  const parseExpression = (source: string) =>
    expressions(source, source, () => reading(() => readExpression(engine, source)));
  engine.load = (source, name) => parse(source, name).nodes;

  const running = <T>(variables: object, given: RenderOptions<Data>, work: (context: GuardedContext) => T): T => {
    for (const name of Object.keys(given.filters ?? {})) {
      if (!own.has(name)) throw new TypeError(`the filter ${name} is not registered`);
    }
    try {
      return work(runs.start(variables, given));
    } catch (error) {
      throw asFault(error, "runtime");
    }
  };
  const valueOf = (source: string, variables: Record<string, unknown>, given: RenderOptions<Data> = {}): unknown => {
    const expression = parseExpression(source);
    return running(variables, given, (context) => {
      const value: unknown = toValue(evaluate(expression, context));
      return value;
    });
  };

  return {
    parse: (source) => parse(source),
    syntaxError: (source) => faultOf(() => parse(source)),
    expressionError: (source) => faultOf(() => parseExpression(source)),
    renderSync: (template, variables, given = {}) => {
      const { nodes } = typeof template === "string" ? parse(template) : template;
      return running(variables, given, (context) => {
        const emitter = new BoundedEmitter(context);
        render(nodes, context, emitter);
        return emitter.buffer;
      });
    },
    evaluate: valueOf,
    condition: (source, variables, given) => {
      const value = valueOf(source, variables, given);
      return value !== false && value !== undefined && value !== null;
    },
    variablesOf: (source) => {
      const { nodes } = parse(source);
      return reading(() => engine.globalFullVariablesSync(nodes, { partials: false }));
    },
    registerFilter: (name, filter) => {
      own.add(name);
      engine.registerFilter(name, customFilter(name, filter));
    },
    registerTag: (name, tag) => engine.registerTag(name, tag),
    filterNames: () => Object.keys(engine.filters).toSorted(),
    dataOf: runs.dataOf,
  };
}

function readExpression(engine: GuardedLiquid, source: string): Value {
  if (source.length > 10_000) throw new LimitReached("the expression is too long");
  const tokenizer = new Tokenizer(source, engine.options.operators);
  const token = tokenizer.readFilteredValue();
  tokenizer.skipBlank();
  tokenizer.assert(tokenizer.end(), `unexpected ${tokenizer.snapshot()}`);
  // LiquidJS would read only the first of "a b", and would take the missing side of "a >" for nothing.
  tokenizer.assert(isWhole(token.initial.postfix), "an operator lacks a value, or a value its operator", 0);
  return new Value(token, engine);
}

function isWhole(postfix: readonly Token[]): boolean {
  let values = 0;
  for (const token of postfix) {
    const takes = !TypeGuards.isOperatorToken(token) ? 0 : token.operator === "not" ? 1 : 2;
    if (values < takes) return false;
    values += 1 - takes;
  }
  return values === 1;
}

function reading<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asFault(error, "syntax");
  }
}

function faultOf(work: () => unknown): { line: number; column: number; message: string } | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (!(error instanceof LiquidFault)) throw error;
    return { line: error.line, column: error.column, message: error.message };
  }
}

function asFault(error: unknown, phase: "syntax" | "runtime"): LiquidFault {
  if (error instanceof LiquidFault) return error;
  if (!(error instanceof Error))
    return new LiquidFault("runtime", "the template failed", { line: 1, column: 1 }, error);
  const position: Position = LiquidError.is(error) ? positionOf(error) : { line: 1, column: 1 };
  const cause = rootOf(error);
  // A fault in a partial, or in a nested rendering, keeps its own position.
  if (cause instanceof LiquidFault) return cause;
  // During a rendering only a partial can still be unreadable; anything else is data that is used as a path.
  const unreadable =
    error.name === "ParseError" || (error.name === "TokenizationError" && position.partial !== undefined);
  const isSyntax = phase === "syntax" || unreadable;
  const kind = isLimit(cause) ? "limit" : isSyntax ? "syntax" : "runtime";
  return new LiquidFault(kind, messageOf(cause), position, cause);
}

function positionOf(error: LiquidError): Position {
  const [line = 1, column = 1] = error.token.getPosition();
  return { line, column, partial: error.token.file };
}

/** LiquidJS wraps an error, sometimes more than once. */
function rootOf(error: Error): Error {
  let root = error;
  while (LiquidError.is(root) && root.originalError instanceof Error) root = root.originalError;
  return root;
}

function isLimit(error: Error): boolean {
  // A RangeError comes from the JavaScript engine: no stack or no memory left. The message is that of LiquidJS's
  // limits.
  return error instanceof LimitReached || error instanceof RangeError || error.message.endsWith(" limit exceeded");
}

function messageOf(error: Error): string {
  return error.message.replaceAll(/(, file:[^,]*)?, line:\d+, col:\d+/g, "").slice(0, 300);
}

/** Keeps what was used last, as far as memory allows. */
function cache<T>(mostBytes: number): (key: string, source: string, make: () => T) => T {
  const known = new Map<string, { value: T; bytes: number }>();
  let total = 0;
  return (key, source, make) => {
    const found = known.get(key);
    const entry = found ?? { value: make(), bytes: parsedBytes(source) };
    if (found) known.delete(key);
    else total += entry.bytes;
    known.set(key, entry);
    for (const [oldest, { bytes }] of known) {
      if (total <= mostBytes) break;
      known.delete(oldest);
      total -= bytes;
    }
    return entry.value;
  };
}

/** The approximate size of a parsed text with its closures. Its tags weigh far more than its characters. */
function parsedBytes(source: string): number {
  return 2000 + 2 * source.length + 2000 * (source.match(/\{[{%]/g)?.length ?? 0);
}
