/**
 * Values of a program: JSON in which a string that is exactly one `{{ expression }}` becomes the typed value of that
 * Liquid expression, and any other string is rendered as Liquid text. behaviour B.9.
 */
import { isObject, LiquidFault, type Liquid } from "platform";
import { StepFault } from "../engine/fault.ts";

export type Variables = Record<string, unknown>;

export const operators = ["==", "!=", ">", ">=", "<", "<=", "contains"] as const;

export interface Comparison {
  readonly left: unknown;
  readonly op: (typeof operators)[number];
  readonly right: unknown;
}

export type Condition = string | boolean | Comparison;

/** How dates and numbers are printed. */
export interface FormatSettings {
  readonly timezone: string;
  readonly locale: string;
}

export interface Templates {
  value(template: unknown, variables: Variables): unknown;
  holds(condition: Condition, variables: Variables): boolean;
  /** The mistakes of a value, each with its place in it: `.user.name`. */
  mistakes(template: unknown): { place: string; message: string }[];
  conditionMistake(condition: string): string | undefined;
  /** The templates of this account. */
  at(settings: FormatSettings): Templates;
}

export function createTemplates(liquid: Liquid, options?: FormatSettings): Templates {
  const value = (template: unknown, variables: Variables): unknown => {
    if (typeof template === "string") {
      if (!isTemplate(template)) return template;
      const expression = onlyExpression(template);
      return attempt(() =>
        expression === undefined
          ? liquid.renderSync(template, variables, options)
          : plain(liquid.evaluate(expression, variables, options)),
      );
    }
    if (Array.isArray(template)) return template.map((one) => value(one, variables));
    if (!isObject(template)) return template;
    return Object.fromEntries(Object.entries(template).map(([key, one]) => [key, value(one, variables)]));
  };
  const mistakeOf = (template: string): string | undefined => {
    if (!isTemplate(template)) return undefined;
    const expression = onlyExpression(template);
    return (expression === undefined ? liquid.syntaxError(template) : liquid.expressionError(expression))?.message;
  };
  const mistakes: Templates["mistakes"] = (template) => {
    if (typeof template === "string") {
      const message = mistakeOf(template);
      return message === undefined ? [] : [{ place: "", message }];
    }
    if (typeof template !== "object" || template === null) return [];
    return Object.entries(template).flatMap(([key, one]) =>
      mistakes(one).map(({ place, message }) => ({
        place: `${Array.isArray(template) ? `[${key}]` : `.${key}`}${place}`,
        message,
      })),
    );
  };

  return {
    value,
    mistakes,
    holds: (condition, variables) => {
      if (typeof condition === "boolean") return condition;
      if (typeof condition === "string")
        return attempt(() => liquid.condition(expressionOf(condition), variables, options));
      const { left, op, right } = condition;
      const sides = { left: value(left, variables), right: value(right, variables) };
      return attempt(() => liquid.condition(`left ${op} right`, sides, options));
    },
    at: ({ timezone, locale }) => createTemplates(liquid, { timezone, locale }),
    conditionMistake: (condition) => liquid.expressionError(expressionOf(condition))?.message,
  };
}

/** Whether a value of a program is a text that a step fills. */
export function isTemplate(value: unknown): boolean {
  return typeof value === "string" && (value.includes("{{") || value.includes("{%"));
}

/** The expression between `{{` and `}}`, if the text is nothing else. */
function onlyExpression(text: string): string | undefined {
  const inner = /^\{\{-?([\s\S]*?)-?\}\}$/.exec(text)?.[1];
  return inner === undefined || inner.includes("{{") || inner.includes("}}") ? undefined : inner.trim();
}

/** The elements of an `each`: like a condition, the expression may be written with or without braces. */
export function elementsOf(given: unknown): unknown {
  return typeof given === "string" && !/\{[{%]/.test(given) ? `{{ ${given} }}` : given;
}

/** A condition may be written with or without braces. */
function expressionOf(condition: string): string {
  return onlyExpression(condition.trim()) ?? condition.trim();
}

/** The value of an expression as JSON would keep it. */
function plain(value: unknown): unknown {
  if (value === undefined || typeof value === "function" || typeof value === "symbol") return null;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "bigint") return value.toString();
  return value instanceof Date ? value.toJSON() : value;
}

function attempt<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof LiquidFault) throw new StepFault(error.message);
    throw error;
  }
}
