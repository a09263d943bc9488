/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
/** Every key that a step may have, with the rule for its value; check.ts applies them. Pure. */
import { isObject, unknownNames } from "platform";
import { requestMistakes } from "../../connectors/api.ts";
import { dbOps, isFlat, isPlain, limits, type DbOp } from "./program.ts";
import { expandFault, readCondition, readIncrement, readSearch } from "./records.ts";
import { keyMistakes, paramMistakes, type OwnStepType, type StepTypes } from "./step-types.ts";
import { elementsOf, isTemplate, operators, type Templates } from "./template.ts";

/** The step that a rule checks, and where it reports mistakes. */
export interface StepCheck {
  readonly step: Readonly<Record<string, unknown>>;
  readonly key: string;
  readonly templates: Templates;
  /** Its result is stored under its `id` unless it has `as`. */
  readonly stores: boolean;
  /** `inside`: a place within the value, such as `.times`. */
  wrong(message: string, inside?: string): void;
  /** Reports what only a program that is saved anew is refused for. The message begins with the place in the value. */
  outdated(message: string): void;
  /** Checks the value, or one inside of it, as a block of steps, one level deeper. */
  block(steps?: unknown, inside?: string): void;
  /** Notes the id of a step; false if another step has it. */
  isNewId(id: string): boolean;
}

/** Called for every key of the step's type, with undefined if the step lacks the key. */
export type Rule = (value: unknown, at: StepCheck) => void;
export type Rules = Readonly<Record<string, Rule>>;

/** Names in scope that a program must not use for its own values. */
const reserved = new Set(["input", "account_url", "app", "__proto__"]);

const anything: Rule = () => {};

const template: Rule = (value, at) => {
  for (const { place, message } of at.templates.mistakes(value)) at.wrong(`is not valid Liquid: ${message}`, place);
};

const steps: Rule = (value, at) => {
  if (value !== undefined) at.block();
};

const requiredSteps: Rule = (value, at) => {
  if (value === undefined) at.wrong("is required");
  else at.block();
};

const branches: Rule = (value, at) => {
  if (!Array.isArray(value) || value.length === 0 || value.length > limits.branches)
    return at.wrong(value === undefined ? "is required" : `must be 1 to ${limits.branches} arrays of steps`);
  // Not undefined, which would be the value itself.
  for (const [index, one] of value.entries()) at.block(one ?? null, `[${index}]`);
};

const code: Rule = (value, at) => {
  if (isBlank(value)) at.wrong("is required");
  else if (typeof value !== "string" || !/^[A-Za-z0-9._-]{1,100}$/.test(value))
    at.wrong("must be a code: letters, digits, - and _");
};

function checkName(value: unknown, at: StepCheck, inside = ""): void {
  if (typeof value !== "string" || !/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(value))
    at.wrong("must be a name: letters, digits, - and _, at most 64, a letter first", inside);
  else if (reserved.has(value)) at.wrong(`must not be "${value}", a reserved name`, inside);
}

const as: Rule = (value, at) => {
  if (value !== undefined && value !== null) checkName(value, at);
};

const params: Rule = (value, at) => {
  if (value === undefined || value === null) return;
  if (isObject(value)) template(value, at);
  else at.wrong("must be an object of name to value");
};

const id: Rule = (value, at) => {
  if (value === undefined || value === null) return;
  if (typeof value !== "string" || !/^[A-Za-z0-9_-]{1,64}$/.test(value))
    at.wrong("must be letters, digits, - and _, at most 64");
  if (typeof value !== "string") return;
  if (!at.isNewId(value)) at.wrong(`"${value}" is already the id of another step`);
  const unnamed = at.step["as"] === undefined || at.step["as"] === null;
  if (at.stores && unnamed && reserved.has(value))
    at.wrong(`must not be "${value}" without \`as\`: the result would be stored under that name`);
};

const retry: Rule = (value, at) => {
  if (value === undefined) return;
  if (!isObject(value)) return at.wrong("must be an object { times, delay }");
  const { times, delay } = value;
  noOthers(value, ["times", "delay"], at);
  if (!isWhole(times, 0, limits.retries)) at.wrong(`must be a whole number up to ${limits.retries}`, ".times");
  if (delay !== undefined && !isNumber(delay, 0, limits.retryDelaySeconds))
    at.wrong(`must be a number of seconds up to ${limits.retryDelaySeconds}`, ".delay");
};

const timeout: Rule = (value, at) => {
  if (value !== undefined && !(isNumber(value, 0, limits.timeoutSeconds) && value > 0))
    at.wrong(`must be a number of seconds above 0, up to ${limits.timeoutSeconds}`);
};

const method: Rule = (value, at) => {
  if (isBlank(value)) at.wrong("is required");
  else if (typeof value !== "string") at.wrong("must be the name of a method");
};

/** The parts of a request: what has no template is checked now. */
const asked: Rule = (value, at) => {
  const found = requestMistakes(at.step, isTemplate);
  for (const message of found[at.key] ?? []) at.wrong(message);
  template(value, at);
};

const secretOf: Rule = (value, at) => {
  if (!isBlank(value)) code(value, at);
};

const set: Rule = (value, at) => {
  if (!isObject(value)) return at.wrong(value === undefined ? "is required" : "must be an object of name to value");
  for (const key of Object.keys(value)) checkName(key, at, `.${key.slice(0, 64)}`);
  template(value, at);
};

/** People write `a = 5`. */
const equalsAdvice = (text: string): string => (/(?:^|[^=!<>])=(?:[^=]|$)/.test(text) ? " (to compare, write ==)" : "");

const condition: Rule = (value, at) => {
  if (isBlank(value)) return at.wrong("is required");
  if (typeof value === "boolean") return;
  if (typeof value === "string") {
    const message = at.templates.conditionMistake(value);
    if (message !== undefined) at.wrong(`is not a valid Liquid condition: ${message}${equalsAdvice(value)}`);
    return;
  }
  if (!isObject(value)) return at.wrong("must be a Liquid condition or { left, op, right }");
  noOthers(value, ["left", "op", "right"], at);
  if (!operators.some((known) => known === value["op"])) at.wrong(`must be one of ${operators.join(", ")}`, ".op");
  for (const side of ["left", "right"]) {
    if (!Object.hasOwn(value, side)) at.wrong("is required", `.${side}`);
    for (const { place, message } of at.templates.mistakes(value[side]))
      at.wrong(`is not valid Liquid: ${message}`, `.${side}${place}`);
  }
};

const then: Rule = (value, at) => {
  if (value === undefined && at.step["else"] === undefined) at.wrong("is required");
  steps(value, at);
};

const op: Rule = (value, at) => {
  if (!dbOps.some((known) => known === value)) at.wrong(`must be one of ${dbOps.join(", ")}`);
};

/** The `id` of `get`, `update` and `delete` is the record's, and a template; otherwise it is the step's. */
const dbId: Rule = (value, at) => {
  if (!["get", "update", "delete"].some((known) => known === at.step["op"])) return id(value, at);
  if (isBlank(value)) at.wrong("is required: the record's id");
  template(value, at);
};

const data: Rule = (value, at) => {
  const { op: named, increment: added } = at.step;
  const isWritten = named === "create" || (named === "update" && (value !== undefined || added === undefined));
  if (isWritten && !isObject(value) && typeof value !== "string")
    at.wrong(value === undefined ? "is required" : "must be an object of field to value");
  template(value, at);
};

const onlyIf: Rule = (value, at) => {
  if (value === undefined) return;
  for (const found of readCondition({ value, template: value }).mistakes) at.outdated(found);
  template(value, at);
};

const increment: Rule = (value, at) => {
  if (value === undefined) return;
  for (const found of readIncrement(value, at.step["data"], isTemplate).mistakes) at.outdated(found);
  template(value, at);
};

const expand: Rule = (value, at) => {
  if (value === undefined || value === null) return;
  const fault = expandFault(value);
  if (fault !== undefined) at.wrong(fault);
};

/** A key of some operations only: with the others it does nothing. */
function only(ops: readonly DbOp[], rule: Rule): Rule {
  return (value, at) => {
    const own = dbOps.find((known) => known === at.step["op"]);
    if (value === undefined || (own && ops.includes(own))) return rule(value, at);
    if (own) at.outdated(` is unknown with \`op: ${own}\`: it is for ${ops.join(" and ")}`);
  };
}

const search: Rule = (value, at) => {
  params(value, at);
  if (!isObject(value) || at.step["op"] !== "search") return;
  for (const found of readSearch({ value, template: value }).mistakes) at.outdated(found);
};

const elements: Rule = (value, at) => {
  if (isBlank(value)) at.wrong("is required");
  else if (Array.isArray(value) ? value.length > limits.elements : typeof value !== "string")
    at.wrong(`must be an array of at most ${limits.elements} elements, or an expression that yields one`);
  template(elementsOf(value), at);
};

const atMost =
  (most: number): Rule =>
  (value, at) => {
    if (value !== undefined && !isWhole(value, 1, most)) at.wrong(`must be a whole number from 1 to ${most}`);
  };

const input: Rule = (value, at) => {
  if (value !== undefined && !isObject(value) && typeof value !== "string")
    at.wrong("must be an object of name to value");
  template(value, at);
};

const message: Rule = (value, at) => {
  if (value !== undefined && typeof value !== "string") at.wrong("must be a text");
  template(value, at);
};

const seconds: Rule = (value, at) => {
  if (typeof value === "string" && value.includes("{{")) return template(value, at);
  if (!isNumber(value, 0, limits.waitSeconds))
    at.wrong(value === undefined ? "is required" : `must be a number of seconds up to ${limits.waitSeconds}`);
};

/** Keys of every step. */
const common: Rules = { type: anything, description: anything, id, retry, timeout, on_error: steps };

interface Shape {
  readonly rules: Rules;
  readonly stores: boolean;
}
const shape = (rules: Rules): Shape => ({ rules: { ...common, ...rules }, stores: Object.hasOwn(rules, "as") });

const builtIn: ReadonlyMap<string, Shape> = new Map([
  ["connector", shape({ connector: code, method, params, as })],
  ["http", shape({ method: asked, url: asked, query: asked, headers: asked, body: asked, connector: secretOf, as })],
  ["mutation", shape({ set })],
  ["if", shape({ condition, then, else: steps })],
  [
    "db",
    shape({
      op,
      db: code,
      id: dbId,
      data: only(["create", "update"], data),
      if: only(["update"], onlyIf),
      increment: only(["update"], increment),
      table_name: template,
      params: only(["search"], search),
      expand: only(["get", "search"], expand),
      as,
    }),
  ],
  // Here `as` names the element, not a result.
  [
    "each",
    { ...shape({ in: elements, as, do: requiredSteps, concurrency: atMost(limits.concurrency) }), stores: false },
  ],
  ["try", shape({ do: requiredSteps, catch: requiredSteps, as })],
  ["parallel", shape({ branches, concurrency: atMost(limits.branches), as })],
  ["flow", shape({ flow: code, input, as })],
  ["return", shape({ value: template })],
  ["fail", shape({ message })],
  ["wait", shape({ seconds })],
]);

export function shapeOf(type: unknown, own: StepTypes): Shape | undefined {
  if (typeof type !== "string") return undefined;
  const registered = own.get(type);
  if (registered && isFlat(type)) return shape({ ...flatRules(registered), as });
  return registered ? shape({ params: ownParams(registered), as }) : builtIn.get(type);
}

export function knownTypes(own: StepTypes): string[] {
  return [...builtIn.keys(), ...own.keys()];
}

function flatRules(own: OwnStepType): Rules {
  const { params: schema } = own;
  const required = new Set(schema.required);
  const rules = Object.keys(schema.properties).map((key): [string, Rule] => [
    key,
    (value, at) => {
      if (value === undefined || value === null) return required.has(key) ? at.wrong("is required") : undefined;
      if (!isPlain(own.type, key)) template(value, at);
      for (const { place, message: mistake } of keyMistakes(own, at.step, key)) at.wrong(mistake, place);
    },
  ]);
  return Object.fromEntries(rules);
}

function ownParams({ params: schema }: OwnStepType): Rule {
  return (value, at) => {
    params(value, at);
    for (const { place, message: mistake } of paramMistakes(schema, value)) at.wrong(mistake, place);
  };
}

function noOthers(value: Readonly<Record<string, unknown>>, known: readonly string[], at: StepCheck): void {
  for (const found of unknownNames(Object.keys(value), known, (name) => `.${name} is unknown`)) at.outdated(found);
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function isNumber(value: unknown, least: number, most: number): value is number {
  return typeof value === "number" && value >= least && value <= most;
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return isNumber(value, least, most) && Number.isInteger(value);
}
