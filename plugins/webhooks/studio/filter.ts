/** A webhook's filter as conditions that a person can choose: exact values that the record must have. Pure. */
import { isLongNumber, numberOf, parseJson } from "studio/exact";
import { matches } from "../subscriptions/match.ts";

export const types = ["text", "number", "flag", "none", "json"] as const;
export type ConditionType = (typeof types)[number];

export interface Condition {
  readonly name: string;
  readonly type: ConditionType;
  /** What is typed: "true" or "false" of a flag, nothing of none. */
  readonly text: string;
}

type Values = Readonly<Record<string, unknown>>;

/** The conditions of a filter's text; undefined if it is no JSON object. An empty text has none. */
export function conditionsOf(text: string): Condition[] | undefined {
  const filter = objectIn(text);
  return filter && Object.entries(filter).map(([name, value]) => ({ name, ...typedText(value) }));
}

/** The text of the filter, empty without a condition. A value that is not what its type says makes it no JSON. */
export function filterText(conditions: readonly Condition[]): string {
  const named = new Map(conditions.filter(({ name }) => name !== "").map((one) => [one.name, jsonOf(one)]));
  if (named.size === 0) return "";
  const text = `{${[...named].map(([name, json]) => `${JSON.stringify(name)}: ${json}`).join(",\n")}}`;
  const filter = objectIn(text);
  return filter ? JSON.stringify(filter, null, 2) : text;
}

/** Whether what is typed is a value of the chosen type. */
export function isValue({ type, text }: Condition): boolean {
  if (type === "number") return text.trim() !== "" && Number.isFinite(Number(text));
  return type !== "json" || parsed(text) !== undefined;
}

/** A condition on a field with the value that the sample has there. */
export function conditionOn(name: string, sample: Values): Condition {
  return { name, ...typedText(Object.hasOwn(sample, name) ? sample[name] : "") };
}

/** Whether the sample would be sent; undefined if the filter is no filter. */
export function letsThrough(text: string, sample: Values): boolean | undefined {
  const filter = objectIn(text);
  // The browser compares what a double holds; the server all digits.
  const rounded = (values: Values): Values => JSON.parse(JSON.stringify(values));
  return filter && matches(rounded(filter), rounded(sample));
}

/** A stored filter in one line: `db_code = orders, paid = true`. */
export function lineOf(filter: unknown): string {
  const conditions = typeof filter === "object" && filter !== null ? Object.entries(filter) : [];
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  return conditions
    .map(([name, value]) => `${name} = ${text(value)}`)
    .join(", ")
    .slice(0, 120);
}

function typedText(value: unknown): Pick<Condition, "type" | "text"> {
  if (typeof value === "string") return { type: "text", text: value };
  if (typeof value === "number" || isLongNumber(value)) return { type: "number", text: JSON.stringify(value) };
  if (typeof value === "boolean") return { type: "flag", text: String(value) };
  return value === null ? { type: "none", text: "" } : { type: "json", text: JSON.stringify(value) };
}

function jsonOf(condition: Condition): string {
  const { type, text } = condition;
  if (type === "text") return JSON.stringify(text);
  if (type === "none") return "null";
  if (type === "flag") return text === "true" ? "true" : "false";
  // "1e400" and "0x10" are texts that no JSON has.
  if (type === "number" && isValue(condition)) return JSON.stringify(numberOf(text.trim()));
  return text.trim() === "" ? "?" : text;
}

function objectIn(text: string): Values | undefined {
  if (text.trim() === "") return {};
  const value = parsed(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isLongNumber(value)
    ? Object.fromEntries(Object.entries(value))
    : undefined;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
