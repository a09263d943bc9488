/** Finds the mistakes of a program, each with its step and key: `program[2].then[0].connector is required`. Pure. */
import { isObject } from "platform";
import { dbOps, limits } from "./program.ts";
import { paramMistakes } from "./step-params.ts";
import type { OwnStepType, StepTypes } from "./step-types.ts";
import { elementsOf, operators, type Templates } from "./template.ts";

type Given = Readonly<Record<string, unknown>>;

const types = ["connector", "mutation", "if", "db", "each", "flow", "return", "fail", "wait"] as const;
type Type = (typeof types)[number];

const common = ["type", "id", "retry", "timeout", "on_error", "description"];
const keys: Record<Type, readonly string[]> = {
  connector: ["connector", "method", "params", "as"],
  mutation: ["set"],
  if: ["condition", "then", "else"],
  db: ["op", "db", "table_name", "data", "params", "as"],
  each: ["in", "as", "do", "concurrency"],
  flow: ["flow", "input", "as"],
  return: ["value"],
  fail: ["message"],
  wait: ["seconds"],
};
/** Of a step of a plugin's own type. */
const ownKeys = ["params", "as"];
const maxMistakes = 50;
/** Names of the scope that a program cannot take. */
const reserved = new Set(["input", "account_url", "app", "__proto__"]);
/** A step of such a type stores its result under its `id` where it has no `as`. */
const storing: readonly Type[] = ["connector", "db", "flow"];

export interface Checked {
  /** What a program is refused for. */
  readonly mistakes: readonly string[];
  /** Keys that no step of the type has: they do nothing. */
  readonly unknownKeys: readonly string[];
}

export function checkProgram(given: unknown, templates: Templates, own: StepTypes): Checked {
  const refused = (message: string): Checked => ({ mistakes: [message], unknownKeys: [] });
  if (!Array.isArray(given)) return refused("program must be an array of steps");
  if (JSON.stringify(given).length > limits.programChars)
    return refused(`program may have at most ${limits.programChars} characters as JSON`);
  const { block, mistakes, unknownKeys } = createChecker(templates, own);
  block(given, "program", 1);
  return { mistakes: mistakes.slice(0, maxMistakes), unknownKeys: unknownKeys.slice(0, maxMistakes) };
}

function createChecker(templates: Templates, own: StepTypes) {
  const mistakes: string[] = [];
  const unknownKeys: string[] = [];
  const ids = new Set<string>();
  let steps = 0;
  const wrong = (place: string, message: string) => {
    mistakes.push(`${place} ${message}`);
  };

  const value = (given: unknown, place: string) => {
    for (const { place: inner, message } of templates.mistakes(given))
      wrong(`${place}${inner}`, `is no Liquid: ${message}`);
  };
  const block = (given: unknown, place: string, depth: number) => {
    if (given === undefined) return;
    if (!Array.isArray(given)) return wrong(place, "must be an array of steps");
    if (depth > limits.nesting) return wrong(place, `nests deeper than ${limits.nesting} levels`);
    for (const [at, one] of given.entries()) {
      steps += 1;
      if (steps === limits.steps + 1) wrong(place, `: a program may have at most ${limits.steps} steps`);
      if (steps > limits.steps || mistakes.length > maxMistakes) return;
      step(one, `${place}[${at}]`, depth);
    }
  };
  const step = (given: unknown, place: string, depth: number) => {
    if (!isObject(given)) return wrong(place, "must be an object { type, … }");
    const type = types.find((known) => known === given["type"]);
    const ownType = typeof given["type"] === "string" ? own.get(given["type"]) : undefined;
    if (!type && !ownType) return wrong(`${place}.type`, `must be one of ${[...types, ...own.keys()].join(", ")}`);
    const known = type ? keys[type] : ownKeys;
    for (const key of Object.keys(given)) {
      if (!common.includes(key) && !known.includes(key)) unknownKeys.push(`${place}.${key.slice(0, 60)}`);
    }
    const namesRecord = type === "db" && ["get", "update", "delete"].some((op) => op === given["op"]);
    if (!namesRecord) id(given["id"], `${place}.id`);
    const unnamed = given["as"] === undefined || given["as"] === null;
    if (
      !namesRecord &&
      unnamed &&
      (!type || storing.includes(type)) &&
      typeof given["id"] === "string" &&
      reserved.has(given["id"])
    )
      wrong(`${place}.id`, `must not be "${given["id"]}" without \`as\`: the result would be stored under that name`);
    attempts(given, place, depth);
    if (type) checks[type](given, place, depth);
    if (ownType) ownStep(ownType, given, place);
  };
  const id = (given: unknown, place: string) => {
    if (given === undefined || given === null) return;
    if (typeof given !== "string" || !/^[A-Za-z0-9_-]{1,64}$/.test(given))
      return wrong(place, "must be letters, digits, - and _, at most 64");
    if (ids.has(given)) wrong(place, `"${given}" is another step's id already`);
    ids.add(given);
  };
  const attempts = (given: Given, place: string, depth: number) => {
    const { retry, timeout, on_error: onError } = given;
    if (retry !== undefined) {
      if (!isObject(retry)) wrong(`${place}.retry`, "must be an object { times, delay }");
      else {
        if (!isWhole(retry["times"], 0, limits.retries))
          wrong(`${place}.retry.times`, `must be a whole number up to ${limits.retries}`);
        if (retry["delay"] !== undefined && !isNumber(retry["delay"], 0, limits.retryDelaySeconds))
          wrong(`${place}.retry.delay`, `must be a number of seconds up to ${limits.retryDelaySeconds}`);
      }
    }
    if (timeout !== undefined && !(isNumber(timeout, 0, limits.timeoutSeconds) && timeout > 0))
      wrong(`${place}.timeout`, `must be a number of seconds above 0, up to ${limits.timeoutSeconds}`);
    block(onError, `${place}.on_error`, depth + 1);
  };
  const code = (given: Given, key: string, place: string) => {
    const text = given[key];
    if (text === undefined || text === null || text === "") wrong(`${place}.${key}`, "is required");
    else if (typeof text !== "string" || !/^[A-Za-z0-9._-]{1,100}$/.test(text))
      wrong(`${place}.${key}`, "must be a code: letters, digits, - and _");
  };
  const as = (given: unknown, place: string) => {
    if (given !== undefined && given !== null) name(given, place);
  };
  const name = (given: unknown, place: string) => {
    if (typeof given !== "string" || !/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(given))
      wrong(place, "must be a name: letters, digits, - and _, at most 64, a letter first");
    else if (reserved.has(given)) wrong(place, `must not be "${given}", which has a meaning of its own`);
  };
  const params = (given: unknown, place: string) => {
    if (given === undefined || given === null) return;
    if (isObject(given)) value(given, place);
    else wrong(place, "must be an object of name to value");
  };
  const ownStep = ({ params: schema }: OwnStepType, given: Given, place: string) => {
    params(given["params"], `${place}.params`);
    for (const { place: inner, message } of paramMistakes(schema, given["params"]))
      wrong(`${place}.params${inner}`, message);
    as(given["as"], `${place}.as`);
  };
  const condition = (given: unknown, place: string) => {
    if (given === undefined || given === null || given === "") return wrong(place, "is required");
    if (typeof given === "boolean") return;
    if (typeof given === "string") {
      const message = templates.conditionMistake(given);
      if (message !== undefined) wrong(place, `is no Liquid condition: ${message}`);
      return;
    }
    if (!isObject(given)) return wrong(place, "must be a Liquid condition or { left, op, right }");
    if (!Object.hasOwn(given, "left")) wrong(`${place}.left`, "is required");
    if (!Object.hasOwn(given, "right")) wrong(`${place}.right`, "is required");
    if (!operators.some((known) => known === given["op"]))
      wrong(`${place}.op`, `must be one of ${operators.join(", ")}`);
    value(given["left"], `${place}.left`);
    value(given["right"], `${place}.right`);
  };

  const checks: Record<Type, (given: Given, place: string, depth: number) => void> = {
    connector: (given, place) => {
      code(given, "connector", place);
      const { method } = given;
      if (method === undefined || method === null || method === "") wrong(`${place}.method`, "is required");
      else if (typeof method !== "string") wrong(`${place}.method`, "must be the name of a method");
      params(given["params"], `${place}.params`);
      as(given["as"], `${place}.as`);
    },
    mutation: ({ set }, place) => {
      if (!isObject(set))
        return wrong(`${place}.set`, set === undefined ? "is required" : "must be an object of name to value");
      for (const key of Object.keys(set)) name(key, `${place}.set.${key.slice(0, 64)}`);
      value(set, `${place}.set`);
    },
    if: (given, place, depth) => {
      condition(given["condition"], `${place}.condition`);
      if (given["then"] === undefined && given["else"] === undefined) wrong(`${place}.then`, "is required");
      block(given["then"], `${place}.then`, depth + 1);
      block(given["else"], `${place}.else`, depth + 1);
    },
    db: (given, place) => {
      const op = dbOps.find((known) => known === given["op"]);
      if (!op) wrong(`${place}.op`, `must be one of ${dbOps.join(", ")}`);
      code(given, "db", place);
      if (
        op &&
        op !== "create" &&
        op !== "search" &&
        (given["id"] === undefined || given["id"] === null || given["id"] === "")
      )
        wrong(`${place}.id`, "is required: the record's id");
      if ((op === "create" || op === "update") && !(isObject(given["data"]) || typeof given["data"] === "string"))
        wrong(`${place}.data`, given["data"] === undefined ? "is required" : "must be an object of field to value");
      for (const key of ["table_name", "data"]) value(given[key], `${place}.${key}`);
      if (op && op !== "create" && op !== "search") value(given["id"], `${place}.id`);
      params(given["params"], `${place}.params`);
      as(given["as"], `${place}.as`);
    },
    each: (given, place, depth) => {
      const elements = given["in"];
      if (elements === undefined || elements === null || elements === "") wrong(`${place}.in`, "is required");
      else if (Array.isArray(elements) ? elements.length > limits.elements : typeof elements !== "string")
        wrong(
          `${place}.in`,
          `must be an array of at most ${limits.elements} elements, or an expression that gives one`,
        );
      value(elementsOf(elements), `${place}.in`);
      as(given["as"], `${place}.as`);
      if (given["do"] === undefined) wrong(`${place}.do`, "is required");
      block(given["do"], `${place}.do`, depth + 1);
      const { concurrency } = given;
      if (concurrency !== undefined && !isWhole(concurrency, 1, limits.concurrency))
        wrong(`${place}.concurrency`, `must be a whole number from 1 to ${limits.concurrency}`);
    },
    flow: (given, place) => {
      code(given, "flow", place);
      if (given["input"] !== undefined && !isObject(given["input"]) && typeof given["input"] !== "string")
        wrong(`${place}.input`, "must be an object of name to value");
      value(given["input"], `${place}.input`);
      as(given["as"], `${place}.as`);
    },
    return: (given, place) => value(given["value"], `${place}.value`),
    fail: ({ message }, place) => {
      if (message !== undefined && typeof message !== "string") wrong(`${place}.message`, "must be a text");
      value(message, `${place}.message`);
    },
    wait: ({ seconds }, place) => {
      if (typeof seconds === "string" && seconds.includes("{{")) return value(seconds, `${place}.seconds`);
      if (!isNumber(seconds, 0, limits.waitSeconds))
        wrong(
          `${place}.seconds`,
          seconds === undefined ? "is required" : `must be a number of seconds up to ${limits.waitSeconds}`,
        );
    },
  };

  return { mistakes, unknownKeys, block };
}

function isNumber(value: unknown, least: number, most: number): value is number {
  return typeof value === "number" && value >= least && value <= most;
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return isNumber(value, least, most) && Number.isInteger(value);
}
