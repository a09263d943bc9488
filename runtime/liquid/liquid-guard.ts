/**
 * Keeps a template within bounds. Its work is counted in steps and characters, so the same template always ends in the
 * same way. A time limit catches what is not counted. LiquidJS has limits of its own, but with holes; each is named
 * where it is closed below.
 */
import { Context, Drop, Expression, evalTokenValue, Token, Tokenizer, TokenKind, toValue, TypeGuards } from "liquidjs";
import type { Emitter, Scope } from "liquidjs";
import { ExactNumber, exactly } from "../base/exact-number.ts";
import { isObject } from "../base/values.ts";
import type { DateSettings } from "../times/format-date.ts";

export const limits = {
  parseChars: 256_000,
  /** Nesting of blocks and partials. */
  nesting: 100,
  /** Nesting of brackets in one expression. */
  brackets: 50,
  steps: 200_000,
  /** Characters read and written by filters, and elements of arrays. */
  memory: 16_000_000,
  outputChars: 5_000_000,
  arrayNesting: 50,
  propertyChars: 256,
  /** Wall-clock time, for work that is not counted. Generous, because a busy machine stretches it. */
  renderMs: 5000,
};

/** Limits of one rendering. An engine may lower them. */
export type RunLimits = Pick<typeof limits, "steps" | "memory" | "outputChars">;

/** Work or size has exceeded a limit. */
export class LimitReached extends Error {}

/** Finds a partial or layout by its name. */
export type Partials = Record<string, string> | ((name: string) => string | undefined);
export type FilterFunction = (value: unknown, ...args: unknown[]) => unknown;

/** One rendering: its settings and what it has used so far. */
export interface Run extends DateSettings {
  partials: Partials | undefined;
  filters: Record<string, FilterFunction>;
  random: () => number;
  limits: RunLimits;
  steps: number;
  nesting: number;
  weights: WeakMap<readonly unknown[], Weight>;
}

interface Weight {
  chars: number;
  depth: number;
}

/** A LiquidJS context that counts, reads only own properties of plain data, and calls nothing. */
export class GuardedContext extends Context {
  readonly run: Run;
  /** LiquidJS keeps them to itself. The innermost is the last. */
  readonly #scopes: Scope[] = [this.bottom()];

  constructor(run: Run, ...rest: ConstructorParameters<typeof Context>) {
    super(...rest);
    this.run = run;
  }

  override push(scope: Scope): number {
    this.#scopes.push(scope);
    return super.push(scope);
  }

  override pop(): Scope | undefined {
    this.#scopes.pop();
    return super.pop();
  }

  /** Looks up a variable by name. */
  scopeOf(name: string | number): Scope {
    for (let at = this.#scopes.length - 1; at >= 0; at--) {
      const scope = this.#scopes[at];
      if (scope && name in scope) return scope;
    }
    return name in this.environments ? this.environments : this.globals;
  }

  /** Charges for work of about a microsecond each. */
  tick(steps = 1): void {
    this.run.steps += steps;
    if (this.run.steps > this.run.limits.steps) throw new LimitReached("the template does too much work");
  }

  charge(chars: number): void {
    this.memoryLimit.use(chars);
  }

  override spawn(scope: object = {}): GuardedContext {
    const { sync, globals, strictVariables, ownPropertyOnly, renderLimit, memoryLimit, liquid } = this;
    const options = { sync, globals, strictVariables, ownPropertyOnly };
    return new GuardedContext(this.run, scope, this.opts, options, { renderLimit, memoryLimit, liquid });
  }

  // The lookup would turn any other name into text, at any cost.
  override *_get(paths: (string | number | Drop)[]): Generator<unknown, unknown, unknown> {
    if (!isKey(toValue(paths[0]))) return undefined;
    // oxlint-disable-next-line eslint/no-underscore-dangle -- LiquidJS's name
    return yield super._get(paths);
  }

  override readProperty(object: unknown, property: unknown): unknown {
    this.tick();
    const key: unknown = toValue(property);
    if (object === null || object === undefined || !isKey(key)) return undefined;
    // LiquidJS lets a loop's object answer any name, including its constructor and methods.
    if (object instanceof Drop) return dropKeys.has(key) ? super.readProperty(object, String(key)) : undefined;
    if (Array.isArray(object) && typeof key === "number" && key < 0) return own(object, object.length + key);
    const value = own(object, key);
    if (value !== undefined) return typeof value === "function" ? undefined : value;
    if (key === "size") return this.#sizeOf(object);
    if (key === "first") return Array.isArray(object) ? object[0] : undefined;
    return key === "last" && Array.isArray(object) ? object.at(-1) : undefined;
  }

  #sizeOf(object: unknown): number | undefined {
    const size = sizeOf(object);
    if (isObject(object)) this.tick((size ?? 0) >> stepShift);
    return size;
  }
}

/** What only passes a property or an element takes a sixteenth of a step. */
export const stepShift = 4;

export function guarded(context: Context): GuardedContext {
  if (context instanceof GuardedContext) return context;
  throw new TypeError("a template was rendered outside the guarded engine");
}

const dropKeys = new Set<unknown>(
  "index index0 rindex rindex0 first last length name row col col0 col_first col_last super".split(" "),
);

export function isKey(key: unknown): key is string | number {
  return typeof key === "number" || (typeof key === "string" && key.length <= limits.propertyChars);
}

function own(object: unknown, key: string | number): unknown {
  if (!Object.hasOwn(Object(object), key)) return undefined;
  return Reflect.get(Object(object), key);
}

export function sizeOf(object: unknown): number | undefined {
  if (Array.isArray(object) || typeof object === "string") return object.length;
  return isObject(object) ? Object.keys(object).length : undefined;
}

/** Collects and counts output, for which LiquidJS has no limit. */
export class BoundedEmitter implements Emitter {
  buffer = "";
  readonly #context: GuardedContext;

  constructor(context: GuardedContext) {
    this.#context = context;
  }

  write(value: unknown): void {
    this.#context.tick();
    const text = textOf(this.#context, value);
    this.#context.charge(text.length);
    if (this.buffer.length + text.length > this.#context.run.limits.outputChars)
      throw new LimitReached("the output is too long");
    this.buffer += text;
  }
}

/** A value as text: empty for nil, joined elements for a list, JSON for an object. */
export function textOf(context: GuardedContext, given: unknown): string {
  const value: unknown = toValue(given);
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "" : value.toISOString();
  if (value instanceof ExactNumber) return value.toString();
  if (Array.isArray(value)) {
    context.tick(value.length);
    context.charge(weigh(context, value).chars);
    return value.map((item: unknown) => textOf(context, item)).join("");
  }
  if (typeof value === "object") return jsonOf(context, value, 0);
  return typeof value === "number" || typeof value === "boolean" || typeof value === "bigint" ? String(value) : "";
}

/** Measures JSON before producing it: lists that share their elements grow exponentially when printed. */
export function jsonOf(context: GuardedContext, value: unknown, indent: number): string {
  const measure = (item: unknown, depth: number): void => {
    context.tick();
    if (depth > limits.nesting) throw new LimitReached("data is nested too deeply to print");
    context.charge(8 + indent * depth + (typeof item === "string" ? item.length : 0));
    if (typeof item !== "object" || item === null) return;
    if (Array.isArray(item)) context.tick(item.length);
    for (const [key, child] of Object.entries(item)) {
      context.charge(key.length);
      measure(child, depth + 1);
    }
  };
  measure(value, 0);
  return JSON.stringify(value, (_, item: unknown) => (typeof item === "bigint" ? Number(item) : item), indent) ?? "";
}

/**
 * The length that a list would have as text. Lists of lists that share their elements (`push` of a list to itself) are
 * small in memory but endless to walk, so a list that is too heavy is refused when it is made.
 */
export function weigh(context: GuardedContext, list: readonly unknown[], level = 0): Weight {
  const known = context.run.weights.get(list);
  if (known) return known;
  if (level > limits.arrayNesting) throw new LimitReached("lists are nested too deeply");
  const weight: Weight = { chars: list.length, depth: 1 };
  for (const item of list) {
    const inner = Array.isArray(item) ? weigh(context, item, level + 1) : undefined;
    weight.chars += inner ? inner.chars : typeof item === "string" ? item.length : 16;
    if (inner) weight.depth = Math.max(weight.depth, inner.depth + 1);
  }
  if (weight.chars > limits.memory) throw new LimitReached("a list is too large");
  if (weight.depth > limits.arrayNesting) throw new LimitReached("lists are nested too deeply");
  context.run.weights.set(list, weight);
  return weight;
}

/** `(1..n)`: LiquidJS never stops for bounds above 2^53, where adding one changes nothing. */
class RangeExpression extends Expression {
  override *evaluate(ctx: Context): Generator<unknown, unknown, unknown> {
    const context = guarded(ctx);
    const [low, high] = this.postfix;
    const first = bound(yield evalTokenValue(low, context));
    const count = bound(yield evalTokenValue(high, context)) - first + 1;
    if (!(count > 0)) return [];
    if (!Number.isSafeInteger(first) || !Number.isSafeInteger(first + count))
      throw new LimitReached("a range is too large");
    context.charge(count * 8);
    return Array.from({ length: count }, (_, index) => first + index);
  }
}

function bound(value: unknown): number {
  return typeof value === "number" || (typeof value === "string" && value.length < 40)
    ? Math.trunc(Number(value))
    : NaN;
}

/* The rest changes LiquidJS's own prototypes, because it creates its tokenizers and tokens itself, in many places. */

// oxlint-disable-next-line typescript/unbound-method -- called with its own `this`
const { readValue, readGroupOrRange, readNumber } = Tokenizer.prototype;
let brackets = 0;

// LiquidJS reads `a[a[a[…`, and wraps each of its errors, by a recursion as deep as the text is long.
Tokenizer.prototype.readValue = function () {
  brackets++;
  try {
    if (brackets > limits.brackets) throw new LimitReached("brackets are nested too deeply");
    return readValue.call(this);
  } finally {
    brackets--;
  }
};

// LiquidJS rounds a number that is written in a template.
Tokenizer.prototype.readNumber = function () {
  const token = readNumber.call(this);
  return token && Object.assign(token, { content: exactly(token.getText().replace("+", "")) });
};

Tokenizer.prototype.readGroupOrRange = function () {
  const token = readGroupOrRange.call(this);
  if (!TypeGuards.isRangeToken(token)) return token;
  const initial = new RangeExpression([token.lhs, token.rhs]);
  return Object.assign(token, { kind: TokenKind.FilteredValue, initial, filters: [] });
};

let indexed = { input: "", lineStarts: [0] };

// LiquidJS counts from the start for each token, which makes parsing a long template quadratic.
Token.prototype.getPosition = function () {
  if (indexed.input !== this.input) indexed = { input: this.input, lineStarts: lineStarts(this.input) };
  let low = 0;
  let high = indexed.lineStarts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((indexed.lineStarts[middle] ?? 0) <= this.begin) low = middle;
    else high = middle;
  }
  return [low + 1, this.begin - (indexed.lineStarts[low] ?? 0) + 1];
};

function lineStarts(input: string): number[] {
  const starts = [0];
  for (let at = input.indexOf("\n"); at >= 0; at = input.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
