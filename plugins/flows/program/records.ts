/**
 * The `params` of a search step, and the `if` and `increment` of an update. They are read twice: when a program is saved, for its mistakes, and when the step runs.
 * Whatever is no condition is a mistake, because a search without it finds every record. Pure.
 */
import { exactly, ExactNumber, isNumber, isObject, unknownNames } from "platform";
import { pathFault, type RecordSearch, type SearchCondition } from "../../jsondb/api.ts";
import { isTemplate } from "./template.ts";

export const searchLimits = { limit: 1000, all: 10_000 } as const;

export interface ReadSearch {
  readonly search: RecordSearch;
  /** Finding more than that is an error; undefined: the program itself asked for no more. */
  readonly mostFound: number | undefined;
  /** Each begins with its place in the params. */
  readonly mistakes: readonly string[];
  /** Those that are filtered, sorted, searched in or answered with. */
  readonly fields: ReadonlySet<string>;
}

/** Gives the text of a template; undefined while a program is saved, when nothing is known of its expressions. */
export type Render = (template: string) => string;

/** A value, and what the program has in its place: the same, or the expression that gave it or something around it. */
export interface TemplatedValue {
  readonly value: unknown;
  readonly template: unknown;
}

interface SearchReader {
  readonly render: Render | undefined;
  readonly mistakes: string[];
  readonly fields: Set<string>;
  readonly conditions: SearchCondition[];
  readonly params: Record<string, string | readonly string[]>;
}

const textKeys = ["q", "sort", "table_name"] as const;
const nameKeys = ["search_in", "fields"] as const;
const keys = [...textKeys, ...nameKeys, "filter", "any", "limit", "offset", "all"];
/** Was read without effect by earlier versions. */
const harmless: ReadonlySet<string> = new Set(["count"]);
const comparing = ["gt", "gte", "lt", "lte"] as const;
const operators = [...comparing, "ne", "in", "null"] as const;

/** `table`: the step's own `table_name`. */
export function readSearch(params: TemplatedValue, table?: string | null, render?: Render): ReadSearch {
  const reading: SearchReader = {
    render,
    mistakes: [],
    fields: new Set(),
    conditions: [],
    params: table ? { table_name: table } : {},
  };
  if (!isObject(params.value)) reading.mistakes.push(" must be an object");
  const given = isObject(params.value) ? params.value : {};
  for (const key of Object.keys(given)) readKey(reading, key, at(params, key));
  const { limit, all } = given;
  const asked = readLimit(reading, limit);
  if (render === undefined && all === true && limit !== undefined && limit !== null)
    reading.mistakes.push(".all must be left out beside `limit`");
  const most = asked ?? (all === true ? searchLimits.all : searchLimits.limit);
  const mostFound = asked === undefined ? most : undefined;
  const { conditions, mistakes, fields } = reading;
  return { search: { params: reading.params, conditions, limit: most + (asked ? 0 : 1) }, mostFound, mistakes, fields };
}

/** What a record must match, as the `filter` of a search. Without a condition it would be any record. */
export function readCondition(
  given: TemplatedValue,
  render?: Render,
): Pick<SearchReader, "conditions" | "mistakes" | "fields"> {
  const reading: SearchReader = { render, mistakes: [], fields: new Set(), conditions: [], params: {} };
  if (isObject(given.value) && Object.keys(given.value).length === 0) reading.mistakes.push(" has no condition");
  readGroup(reading, "", given, undefined);
  return reading;
}

function readKey(reading: SearchReader, key: string, given: TemplatedValue): void {
  const { mistakes, params, render } = reading;
  const { value } = given;
  if (key === "filter") return readGroup(reading, ".filter", given, undefined);
  if (key === "any") return readGroups(reading, given);
  const named = conditionOf(key);
  if (named) return readField(reading, `.${key}`, named.group, named.field, named.op, given);
  if (!keys.includes(key) && render && harmless.has(key)) return;
  if (!keys.includes(key))
    return void mistakes.push(...unknownNames([key], keys, (name) => `.${name} is unknown in the params of a search`));
  if (value === null || value === undefined || isOpen(reading, value)) return;
  if (nameKeys.some((one) => one === key)) {
    const names = Array.isArray(value) ? value : [value];
    if (!names.every((one) => typeof one === "string")) mistakes.push(`.${key} must be a list of names`);
    else {
      params[key] = typeof value === "string" ? value : names;
      const each = typeof value === "string" ? value.split(",") : names;
      for (const one of each) if (one.trim() !== "") reading.fields.add(one.trim());
    }
  } else if (textKeys.some((one) => one === key)) {
    if (!isScalar(value)) return void mistakes.push(`.${key} must be a text`);
    params[key] = text(value);
    if (key === "sort") reading.fields.add(text(value).replace(/^-/, ""));
  } else if (key === "offset") {
    if (isWhole(value)) params[key] = `${value}`;
    else mistakes.push(".offset must be a whole number");
  } else if (key === "all" && typeof value !== "boolean") mistakes.push(".all must be true or false");
}

/** A limit above the greatest one is none: then more records are an error, as without it. */
function readLimit({ mistakes, render }: SearchReader, limit: unknown): number | undefined {
  if (limit === undefined || limit === null || (!render && isTemplate(limit))) return undefined;
  if (!isWhole(limit) || Number(limit) < 1)
    mistakes.push(`.limit must be a whole number from 1 to ${searchLimits.limit}`);
  else if (Number(limit) <= searchLimits.limit) return Number(limit);
  else if (!render) mistakes.push(`.limit may be at most ${searchLimits.limit}: \`all: true\` finds up to 10,000`);
  return undefined;
}

function readGroups(reading: SearchReader, given: TemplatedValue): void {
  const { value } = given;
  if (isOpen(reading, value)) return;
  if (!Array.isArray(value)) return void reading.mistakes.push(".any must be an array of filters");
  if (value.length === 0) reading.mistakes.push(".any has no filter");
  for (const [index, one] of value.entries()) {
    const place = `.any[${index}]`;
    if (isObject(one) && Object.keys(one).length === 0) reading.mistakes.push(`${place} has no condition`);
    readGroup(reading, place, at(given, index), `${index}`);
  }
}

function readGroup(reading: SearchReader, place: string, given: TemplatedValue, group: string | undefined): void {
  const { value } = given;
  if (isOpen(reading, value)) return;
  if (!isObject(value)) return void reading.mistakes.push(`${place} must be an object of field to value`);
  for (const field of Object.keys(value)) {
    const here = `${place}.${field.slice(0, 60)}`;
    const one = at(given, field);
    if (!isObject(one.value)) {
      readField(reading, here, group, field, "eq", one);
      continue;
    }
    if (Object.keys(one.value).length === 0) reading.mistakes.push(`${here} has no operator`);
    for (const op of Object.keys(one.value)) {
      const known = operators.find((operator) => operator === op);
      if (known) readField(reading, `${here}.${op}`, group, field, known, at(one, op));
      else reading.mistakes.push(...unknownNames([op], operators, (name) => `${here}.${name} is no operator`));
    }
  }
}

function readField(
  { render, mistakes, fields, conditions }: SearchReader,
  place: string,
  group: string | undefined,
  field: string,
  op: SearchCondition["op"],
  { value, template }: TemplatedValue,
): void {
  fields.add(field);
  if (!render && isTemplate(value)) return;
  if (op === "in") {
    const isList = Array.isArray(value) && value.every(isScalar);
    if (!isList && (typeof value !== "string" || value === "")) mistakes.push(`${place} must be a list of values`);
    else conditions.push({ group, field, op, value: isList ? value.map(text) : text(value) });
    return;
  }
  if (!isScalar(value) && value !== null) {
    const hint = Array.isArray(value) ? ", a list is for `in`" : "";
    return void mistakes.push(`${place} must be one value${hint}`);
  }
  if (value === null && op !== "eq" && op !== "ne") return void mistakes.push(`${place} must not be null`);
  const isExact = render !== undefined && (op === "eq" || op === "ne") && isTemplate(template);
  const pattern = isExact && typeof value === "string" ? patternOf(template, render) : undefined;
  const compared = isExact ? { isPattern: pattern !== undefined } : {};
  conditions.push({ group, field, op, value: pattern ?? text(value), ...compared });
}

/** `filter[age][gt]` and `any[0][city]`, as in addresses. */
function conditionOf(key: string): Pick<SearchCondition, "group" | "field" | "op"> | undefined {
  const [, group, inside] = /^(?:filter|any\[(\d{1,3})\])\[(.+)\]$/.exec(key) ?? [];
  if (inside === undefined) return undefined;
  const split = inside.lastIndexOf("][");
  const op = operators.find((one) => one === inside.slice(split + 2));
  return split > 0 && op ? { group, field: inside.slice(0, split), op } : { group, field: inside, op: "eq" };
}

/**
 * The LIKE pattern of a text whose wildcards stand beside its expressions: `{{ code }}*`. What an expression gives has no
 * wildcards, so that nobody whose input it is finds more than was meant.
 */
function patternOf(template: unknown, render: Render): string | undefined {
  if (typeof template !== "string" || /\{%|\{\{-|-\}\}/.test(template)) return undefined;
  const [begin = "", ...rest] = template.split("{{");
  const parts = rest.map((part) => part.split("}}"));
  const written = [begin, ...parts.flatMap((part) => part.slice(1))];
  if (!written.some((one) => /[*%]/.test(one))) return undefined;
  const literal = (one: string) => one.replaceAll(/[\\_]/g, String.raw`\$&`).replaceAll("*", "%");
  const exact = (one: string) => one.replaceAll(/[\\_%]/g, String.raw`\$&`);
  return (
    literal(begin) + parts.map(([inner, ...tail]) => exact(render(`{{${inner}}}`)) + literal(tail.join("}}"))).join("")
  );
}

function at({ value, template }: TemplatedValue, key: string | number): TemplatedValue {
  return { value: member(value, key), template: isTemplate(template) ? template : member(template, key) };
}

function member(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return value[Number(key)];
  return isObject(value) ? value[key] : undefined;
}

/** An expression while a program is saved: its value is checked when the step runs. */
function isOpen({ render }: SearchReader, value: unknown): boolean {
  return !render && isTemplate(value);
}

type Scalar = string | number | bigint | boolean | ExactNumber;

function isScalar(value: unknown): value is Scalar {
  return value instanceof ExactNumber || ["string", "number", "bigint", "boolean"].includes(typeof value);
}

function isWhole(value: unknown): value is string | number {
  return typeof value === "string" ? /^\d{1,15}$/.test(value) : Number.isSafeInteger(value) && Number(value) >= 0;
}

function text(value: Scalar | null): string {
  return value === null ? "" : String(value);
}

/** The links that a step follows: a list, or a text with commas. None for what is neither. */
export function expandPaths({ expand }: { readonly expand?: unknown }): readonly string[] {
  const given = typeof expand === "string" ? expand.split(",") : Array.isArray(expand) ? expand : [];
  const names = given.map((path: unknown) => (typeof path === "string" ? path.trim() : ""));
  return [...new Set(names)].filter((path) => path !== "");
}

/** No expression: whoever saves a program must hold what it reads. */
export function expandFault(expand: unknown): string | undefined {
  const isList = Array.isArray(expand) && expand.every((one) => typeof one === "string");
  const paths = expandPaths({ expand });
  if ((!isList && typeof expand !== "string") || paths.length === 0 || paths.some(isTemplate))
    return "must be links without expressions, such as customer,customer.owner";
  return pathFault(paths);
}

const mostIncrements = 100;
/** As JSON writes it. Bounded, because a few characters make a number of any length. */
const numberForm = /^-?(?:0|[1-9]\d{0,400})(?:\.\d{1,400})?(?:e[+-]?\d{1,3})?$/i;

/** `isUnknown`: an expression while a program is saved, of whose value nothing is known. Mistakes begin with their place. */
export function readIncrement(
  given: unknown,
  data: unknown,
  isUnknown: (value: unknown) => boolean = () => false,
): { readonly amounts: Readonly<Record<string, number | ExactNumber>>; readonly mistakes: readonly string[] } {
  if (isUnknown(given)) return { amounts: {}, mistakes: [] };
  if (!isObject(given)) return { amounts: {}, mistakes: [" must be an object of field to number"] };
  const fields = Object.entries(given);
  const mistakes: string[] = [];
  const amounts: [string, number | ExactNumber][] = [];
  if (fields.length === 0 || fields.length > mostIncrements) mistakes.push(` must have 1 to ${mostIncrements} fields`);
  for (const [field, value] of fields.slice(0, mostIncrements)) {
    const place = `.${field.slice(0, 60)}`;
    if (isObject(data) && Object.hasOwn(data, field)) mistakes.push(`${place} is set by \`data\` too`);
    const amount = typeof value === "string" && numberForm.test(value) ? exactly(value) : value;
    if (isNumber(amount)) amounts.push([field, amount]);
    else if (!isUnknown(value)) mistakes.push(`${place} must be a number`);
  }
  return { amounts: Object.fromEntries(amounts), mistakes };
}
