/**
 * Renders parsed templates by closures that are made once for each of them. LiquidJS runs a generator for every node,
 * value and property, which takes most of its time. Texts, outputs, `if`, `unless` and paths without computed parts are
 * compiled; every other node and value is LiquidJS's own, on the same context. Results, limits and the places of errors
 * are the same (liquid-compile.test.ts compares both).
 */
import {
  evalToken,
  IfTag,
  isFalsy,
  isTruthy,
  LiquidError,
  Output,
  RenderError,
  toValue,
  toValueSync,
  TypeGuards,
  UndefinedVariableError,
  UnlessTag,
} from "liquidjs";
import type { Emitter, Expression, Filter, PropertyAccessToken, Template as Node, Token, Value } from "liquidjs";
import { isKey, LimitReached, limits, type GuardedContext } from "./liquid-guard.ts";

type Step = (context: GuardedContext, emitter: Emitter) => void;
type Evaluate = (context: GuardedContext) => unknown;
type FilterArg = Filter["args"][number];

/** Asking for the time costs as much as a short text. */
const stepsBetweenChecks = 8;

const steps = new WeakMap<readonly Node[], readonly Step[]>();
const reads = new WeakMap<Value, Evaluate>();

/** Writes the nodes, until a `break` or `continue`. */
export function render(nodes: readonly Node[], context: GuardedContext, emitter: Emitter): void {
  context.tick(1 + nodes.length);
  if (++context.run.nesting > limits.nesting) throw new LimitReached("partials are nested too deeply");
  let at = 0;
  try {
    for (const step of stepsOf(nodes)) {
      if (at % stepsBetweenChecks === 0) context.renderLimit.check(performance.now());
      step(context, emitter);
      if (context.breakCalled || context.continueCalled) break;
      at++;
    }
  } catch (error) {
    const node = nodes[at];
    throw !node || !(error instanceof Error) || LiquidError.is(error) ? error : new RenderError(error, node);
  }
  context.run.nesting--;
}

/** The value of an expression with its filters. */
export function evaluate(value: Value, context: GuardedContext): unknown {
  return readOf(value)(context);
}

function stepsOf(nodes: readonly Node[]): readonly Step[] {
  const known = steps.get(nodes);
  if (known) return known;
  const made = nodes.map(stepOf);
  steps.set(nodes, made);
  return made;
}

function stepOf(node: Node): Step {
  const { token } = node;
  if (TypeGuards.isHTMLToken(token)) {
    const text = token.getContent();
    return (_, emitter) => emitter.write(text);
  }
  if (isOf(node, Output)) {
    const read = readOf(node.value);
    return (context, emitter) => emitter.write(toValueSync(toValue(read(context))));
  }
  if (isOf(node, IfTag)) {
    const branches = node.branches.map(({ value, templates }) => ({ read: readOf(value), test: isTruthy, templates }));
    return choice(branches, node.elseTemplates ?? []);
  }
  if (isOf(node, UnlessTag)) {
    const branches = node.branches.map(({ value, test, templates }) => ({ read: readOf(value), test, templates }));
    return choice(branches, node.elseTemplates);
  }
  return (context, emitter) => {
    const text: unknown = toValueSync(node.render(context, emitter));
    if (text) emitter.write(text);
  };
}

/** A tag that extends another one is its own. */
function isOf<T extends object>(node: object, type: new (...given: never[]) => T): node is T {
  return node instanceof type && Object.getPrototypeOf(node) === type.prototype;
}

interface Branch {
  readonly read: Evaluate;
  readonly test: typeof isTruthy | typeof isFalsy;
  readonly templates: readonly Node[];
}

function choice(branches: readonly Branch[], otherwise: readonly Node[]): Step {
  return (context, emitter) => {
    for (const { read, test, templates } of branches)
      if (test(toValueSync(toValue(read(context))), context)) return render(templates, context, emitter);
    render(otherwise, context, emitter);
  };
}

function readOf(value: Value): Evaluate {
  const known = reads.get(value);
  if (known) return known;
  const made = filtered(value);
  reads.set(value, made);
  return made;
}

function filtered({ initial, filters }: Value): Evaluate {
  const read = expressionOf(initial);
  if (filters.length === 0) return read;
  const made = filters.map(filterOf);
  return (context) => {
    let value = read(context);
    for (const apply of made) value = apply(value, context);
    return value;
  };
}

function filterOf(filter: Filter): (value: unknown, context: GuardedContext) => unknown {
  // LiquidJS keeps them to itself.
  const [handler, token, liquid]: unknown[] = ["handler", "token", "liquid"].map((name) => Reflect.get(filter, name));
  if (typeof handler !== "function") return (value, context) => toValueSync(filter.render(value, context));
  const args = filter.args.map(argumentOf);
  return (value, context) => {
    const given = [value];
    for (const read of args) given.push(read(context));
    return toValueSync(Reflect.apply(handler, { context, token, liquid }, given));
  };
}

/** A named argument is a pair. */
function argumentOf(given: FilterArg): Evaluate {
  if (!Array.isArray(given)) return operandOf(given);
  const [name, token] = given;
  if (!token) return () => [name, undefined];
  const read = operandOf(token);
  return (context) => [name, read(context)];
}

function expressionOf(expression: Expression): Evaluate {
  const [only, ...more] = expression.postfix;
  if (only && more.length === 0 && !TypeGuards.isOperatorToken(only)) return operandOf(only);
  const isUnary = (token: Token) => TypeGuards.isOperatorToken(token) && token.operator === "not";
  if (expression.postfix.some(isUnary)) return (context) => toValueSync(expression.evaluate(context));
  const parts = expression.postfix.map((token) =>
    TypeGuards.isOperatorToken(token) ? token.operator : operandOf(token),
  );
  return (context) => {
    const operands: unknown[] = [];
    for (const part of parts) {
      if (typeof part !== "string") {
        operands.push(part(context));
        continue;
      }
      const [right, left] = [operands.pop(), operands.pop()];
      operands.push(toValueSync(context.opts.operators[part]?.(left, right, context)));
    }
    return operands[0];
  };
}

function operandOf(token: Token): Evaluate {
  if ("content" in token) {
    const { content } = token;
    return () => content;
  }
  const path = TypeGuards.isPropertyAccessToken(token) && !token.variable ? pathOf(token) : undefined;
  return path ?? ((context) => toValueSync(evalToken(token, context)));
}

/** Undefined if a part of the path has to be computed. */
function pathOf(token: PropertyAccessToken): Evaluate | undefined {
  const keys: (string | number)[] = [];
  for (const prop of token.props) {
    if (!("content" in prop) || !(typeof prop.content === "string" || typeof prop.content === "number"))
      return undefined;
    keys.push(prop.content);
  }
  const [head] = keys;
  if (!isKey(head)) return undefined;
  return (context) => {
    try {
      let value: unknown = context.scopeOf(head);
      // The content of an overridden block is rendered when it is read.
      for (const key of keys) value = toValueSync(context.readProperty(value, key));
      return value;
    } catch (error) {
      throw error instanceof Error ? new UndefinedVariableError(error, token) : error;
    }
  };
}
