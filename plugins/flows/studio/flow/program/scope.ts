/** The names that a step may use: the input, and what the steps before it have stored. Pure. */
import { idOf, isStep, rowsOf, spotOf, stepAt, type Program } from "./tree.ts";

export interface ScopeName {
  readonly name: string;
  /** Where it comes from: the path of a step, or what starts the flow; "" for what every step has. */
  readonly from: string;
}

const always = ["input", "account_url", "app", "app.id", "app.action", "app.user"];
const ofError = ["error", "error.message", "error.step", "error.status", "error.data"];
const ofRecord = ["id", "data", "table_name", "created_at", "updated_at"];

/** `given`: the keys of an input that is known, e.g. of the last test. `started`: what those give that start the flow. */
export function namesAt(
  program: Program,
  path: string,
  given: readonly string[] = [],
  started: readonly ScopeName[] = [],
): ScopeName[] {
  const found = new Map<string, string>();
  const add = (names: readonly string[], from: string) => {
    for (const name of names) if (!found.has(name)) found.set(name, from);
  };
  const parts = path.split(".");
  for (let length = 1; length <= parts.length; length += 2) {
    const here = parts.slice(0, length).join(".");
    const { block, at } = spotOf(here);
    for (let before = 0; before < at; before++) {
      const sibling = block === "" ? `${before}` : `${block}.${before}`;
      for (const { path: inner, step } of stepsBelow(program, sibling)) add(storedBy(step), inner);
    }
    const step = stepAt(program, here);
    const branch = parts[length];
    if (branch === "do" && isStep(step)) {
      const element = typeof step["as"] === "string" && step["as"] !== "" ? step["as"] : "item";
      add([element, `${element}_index`], here);
    }
    if (branch === "on_error") add(ofError, here);
  }
  const input = [...new Set([...given, ...inputKeysIn(program)])].map((key) => `input.${key}`);
  add([...always.slice(0, 1), ...input, ...always.slice(1)], "");
  for (const { name, from } of started) add([name], from);
  return [...found].map(([name, from]) => ({ name, from }));
}

/** A step and those in its branches. */
function stepsBelow(program: Program, path: string): { path: string; step: unknown }[] {
  // Of a program that has this step alone, the paths begin with 0.
  return rowsOf([stepAt(program, path)]).flatMap((row) =>
    row.kind === "step" ? [{ path: path + row.path.slice(1), step: row.step }] : [],
  );
}

/** The names under which a step stores what it has got. */
export function storedBy(step: unknown): string[] {
  if (!isStep(step)) return [];
  const { type } = step;
  if (type === "mutation") return isStep(step["set"]) ? Object.keys(step["set"]) : [];
  const stores =
    ["connector", "db", "flow"].some((one) => one === type) || (typeof type === "string" && type.includes("."));
  if (!stores) return [];
  const name = typeof step["as"] === "string" && step["as"] !== "" ? step["as"] : idOf(step);
  if (name === undefined) return [];
  const isRecord = type === "db" && ["create", "get", "update"].some((op) => op === step["op"]);
  return [name, ...(isRecord ? ofRecord.map((key) => `${name}.${key}`) : [])];
}

/** The keys of the input that the program names somewhere. */
function inputKeysIn(program: Program): string[] {
  const text = JSON.stringify(program);
  return [...text.matchAll(/\binput\.([A-Za-z_][A-Za-z0-9_-]{0,63})/g)].map(([, key = ""]) => key);
}

export interface Completion {
  /** Where the word begins that is completed. */
  readonly from: number;
  readonly names: readonly ScopeName[];
}

const most = 50;

/**
 * What can stand at the caret. `template`: a text with `{{ expressions }}`; otherwise the whole is an expression.
 * Undefined where no name can stand.
 */
export function completionAt(
  text: string,
  caret: number,
  names: readonly ScopeName[],
  kind: "template" | "expression",
): Completion | undefined {
  const before = text.slice(0, caret);
  const open = before.lastIndexOf("{{");
  const isOpen = open >= 0 && before.indexOf("}}", open) === -1;
  if (kind === "template" && !isOpen) return undefined;
  const start = isOpen ? open + 2 : 0;
  const expression = before.slice(start);
  let from = before.length;
  while (from > start && /[\w.-]/.test(before[from - 1] ?? "")) from--;
  const head = before.slice(start, from).trimEnd();
  // A filter follows, or the caret is within a text.
  if (head.endsWith("|") || isOdd(expression, '"') || isOdd(expression, "'")) return undefined;
  const word = before.slice(from).toLowerCase();
  const fitting = names.filter(({ name }) => name.toLowerCase().startsWith(word) && name.toLowerCase() !== word);
  return fitting.length > 0 ? { from, names: fitting.slice(0, most) } : undefined;
}

/** The codes that a text can become; none while there are expressions in it. */
export function codesFor(
  text: string,
  codes: readonly { readonly value: string; readonly label: string }[],
): Completion | undefined {
  const typed = text.trim().toLowerCase();
  if (text.includes("{{")) return undefined;
  const fitting = codes.filter(
    ({ value, label }) => value.toLowerCase() !== typed && `${value} ${label}`.toLowerCase().includes(typed),
  );
  const names = fitting.slice(0, most).map(({ value, label }) => ({ name: value, from: label === value ? "" : label }));
  return names.length > 0 ? { from: 0, names } : undefined;
}

function isOdd(text: string, sign: string): boolean {
  return text.split(sign).length % 2 === 0;
}
