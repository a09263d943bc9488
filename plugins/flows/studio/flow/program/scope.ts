/** The names that a step may use: the input, and what the steps before it have stored. Pure. */
import type { Start } from "studio";
import { idOf, isStep, rowsOf, spotOf, stepAt, type Program, type Step } from "./tree.ts";

export interface ScopeName {
  readonly name: string;
  /** Where it comes from: the path of a step, or what starts the flow; "" for what every step has. */
  readonly from: string;
}

const always = ["input", "account_url", "app", "app.id", "app.action", "app.user"];
const ofError = ["error", "error.message", "error.step", "error.status", "error.data"];
const ofRecord = ["id", "data", "table_name", "created_at", "updated_at"];

/** What few people want of what starts a flow; it can be typed. */
export const isTechnical = (name: string): boolean => technical.has(name) || /^app\b|^input$|^headers\b/.test(name);

const technical = new Set(
  "data kind source_type event data.db_code data.table_name cron_id account_url body query hook_id message_id".split(
    " ",
  ),
);

/** The names of a table's fields. */
export type FieldsOf = (db: unknown, table: unknown) => readonly string[];

/**
 * `given`: the keys of an input that is known, e.g. of the last test. `started`: what those give that start the flow.
 * `known`: the values of the last test.
 */
export function namesAt(
  program: Program,
  path: string,
  given: readonly string[] = [],
  started: readonly ScopeName[] = [],
  known: Readonly<Record<string, unknown>> = {},
  fieldsOf: FieldsOf = () => [],
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
      for (const { path: inner, step } of stepsBelow(program, sibling)) add(storedBy(step, fieldsOf), inner);
    }
    const step = stepAt(program, here);
    const branch = parts[length];
    if (branch === "do" && isStep(step) && step["type"] !== "try") {
      const element = typeof step["as"] === "string" && step["as"] !== "" ? step["as"] : "item";
      const elements = searched(program, step["in"], fieldsOf).map((field) => `${element}.${field}`);
      add([element, ...elements, `${element}_index`], here);
    }
    if (branch === "on_error" || branch === "catch") add(ofError, here);
  }
  const input = [...new Set([...given, ...inputKeysIn(program)])].map((key) => `input.${key}`);
  add([...always.slice(0, 1), ...input, ...always.slice(1)], "");
  for (const { name, from } of started) add([name], from);
  const inside = [...found].map(([name, from]) => [insideOf(name, known), from] as const);
  for (const [names, from] of inside) add(names, from);
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
export function storedBy(step: unknown, fieldsOf: FieldsOf = () => []): string[] {
  if (!isStep(step)) return [];
  const { type } = step;
  if (type === "mutation") return isStep(step["set"]) ? Object.keys(step["set"]) : [];
  const stores =
    ["connector", "http", "db", "flow", "ask", "script", "try", "parallel", "wait_for"].some((one) => one === type) ||
    (typeof type === "string" && type.includes("."));
  if (!stores) return [];
  const name = typeof step["as"] === "string" && step["as"] !== "" ? step["as"] : idOf(step);
  if (name === undefined) return [];
  const isRecord = type === "db" && ["create", "get", "update"].some((op) => op === step["op"]);
  const fields = isRecord ? fieldsOf(step["db"], step["table_name"]).map((field) => `data.${field}`) : [];
  if (type === "ask") return [name, ...[...ofAnswer, ...askedIn(step)].map((key) => `${name}.${key}`)];
  if (type === "try") return [name, `${name}.ok`, `${name}.error.message`];
  if (type === "wait_for") {
    const { db_code: db, table_name: table } = isStep(step["filter"]) ? step["filter"] : {};
    const values = ["id", ...fieldsOf(db, table)].map((field) => `data.${field}`);
    return [name, ...["event", "timed_out", "data", ...values].map((key) => `${name}.${key}`)];
  }
  return [name, ...(isRecord ? [...ofRecord, ...fields].map((key) => `${name}.${key}`) : [])];
}

const ofAnswer = ["choice", "comment", "by.name", "at"];
const askedIn = ({ fields }: Step) => (isStep(fields) ? Object.keys(fields).map((field) => `fields.${field}`) : []);

/** The fields of the records that a search has found, which a loop goes through. */
function searched(program: Program, list: unknown, fieldsOf: FieldsOf): readonly string[] {
  const name = typeof list === "string" ? list.replaceAll(/[{}\s]/g, "") : "";
  const search = rowsOf(program).find(
    (row) =>
      row.kind === "step" && isStep(row.step) && row.step["op"] === "search" && storedBy(row.step).includes(name),
  );
  return search?.kind === "step" && isStep(search.step)
    ? ["id", ...fieldsOf(search.step["db"], search.step["table_name"])]
    : [];
}

const mostInside = 40;

/** What a value of the last test holds, two levels deep. */
function insideOf(name: string, known: Readonly<Record<string, unknown>>): string[] {
  const value = valueAt(known, name);
  if (!isStep(value) || name.split(".").length > 2) return [];
  return Object.keys(value)
    .filter((key) => /^[A-Za-z_][\w-]*$/.test(key))
    .slice(0, mostInside)
    .flatMap((key) => [`${name}.${key}`, ...insideOf(`${name}.${key}`, known)]);
}

/** What a name stands for in the last test. */
export function valueAt(known: Readonly<Record<string, unknown>>, name: string): unknown {
  return name
    .split(".")
    .reduce<unknown>((value, key) => (isStep(value) && Object.hasOwn(value, key) ? value[key] : undefined), known);
}

/** A text in its parts: words, and the expressions that stand between braces. */
export function partsOf(text: string): readonly ({ readonly words: string } | { readonly expression: string })[] {
  return text
    .split(/(\{\{[^{}]*\}\})/)
    .filter(Boolean)
    .map((part) =>
      part.startsWith("{{") && part.endsWith("}}") ? { expression: part.slice(2, -2).trim() } : { words: part },
    );
}

/** The name that an expression begins with, before its filters. */
export function nameIn(expression: string): string {
  return /^[\w.-]+/.exec(expression.trim())?.[0] ?? "";
}

/** The names that these starts give a flow; without any, those that a record would give. */
export function givenBy(starts: readonly Start[], fieldsOf: FieldsOf): ScopeName[] {
  const webhooks = starts.filter(({ kind }) => kind === "webhook");
  const fields = webhooks.flatMap(({ db, table }) =>
    db === "" ? [] : [...fieldsOf(db, table), "id", "db_code", "table_name"],
  );
  const names = ["data", ...[...new Set(fields)].map((field) => `data.${field}`), "kind", "source_type", "event"];
  const ofHook = starts.some(({ kind }) => kind === "hook") ? ["body", "query", "headers"] : [];
  const ofCron = starts.some(({ kind }) => kind === "cron") ? ["kind", "cron_id"] : [];
  return [
    ...(webhooks.length > 0 || starts.length === 0 ? names.map((name) => ({ name, from: "when" })) : []),
    ...[...ofHook, ...ofCron].map((name) => ({ name, from: "when" })),
  ];
}

/** The keys of the input that the program names somewhere. */
export function inputKeysIn(program: Program): string[] {
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

/** A step about the record of the start is about its table too. */
export function ofStart(step: Step, starts: readonly Start[]): Step {
  const { op, id, db } = step;
  const start = starts.find((one) => one.kind === "webhook" && one.db !== "");
  if (!start || id !== "{{ data.id }}" || db !== "") return step;
  return { ...step, db: start.db, ...(op === "update" && start.table !== "" && { table_name: start.table }) };
}
