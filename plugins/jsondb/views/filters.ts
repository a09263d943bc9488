/** The filters of a view, checked as a search would read them. Pure. */
import { HttpError, isNumber, isObject } from "platform";
import type { Table } from "../databases/schema.ts";
import { operators, readFilters, type Condition } from "../search/filters.ts";

/** Each begins with its place. `filters`: field to value, or to { operator: value }. */
export function mistakesInFilters(table: Table, filters: object): string[] {
  const mistakes: string[] = [];
  const conditions = Object.entries(filters).flatMap(([field, value]: [string, unknown]) =>
    conditionsOn(field, value, (message) => void mistakes.push(message)),
  );
  if (mistakes.length > 0) return mistakes.slice(0, 50);
  try {
    readFilters(table, conditions);
  } catch (error) {
    if (error instanceof HttpError) return [error.message];
    throw error;
  }
  return [];
}

function conditionsOn(field: string, value: unknown, say: (message: string) => void): Condition[] {
  const place = field.slice(0, 60);
  if (!isObject(value)) return conditionOf(field, "eq", value, (message) => say(`${place} ${message}`));
  const entries = Object.entries(value);
  if (entries.length === 0) say(`${place} has no operator`);
  return entries.flatMap(([given, one]) => {
    const op = operators.find((known) => known === given);
    if (op) return conditionOf(field, op, one, (message) => say(`${place}.${op} ${message}`));
    say(`${place}.${given.slice(0, 60)} is no operator: they are ${operators.join(", ")}`);
    return [];
  });
}

function conditionOf(field: string, op: Condition["op"], value: unknown, say: (message: string) => void): Condition[] {
  if (Array.isArray(value) && op !== "in") return (say("must be one value, a list is for `in`"), []);
  const given = Array.isArray(value) ? value : [value];
  const texts = given.map(textOf).filter((text) => text !== undefined);
  if (texts.length < given.length) return (say("must be a text, a number, true or false"), []);
  return [{ field, op, value: Array.isArray(value) ? texts : (texts[0] ?? "") }];
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "boolean" || isNumber(value) ? String(value) : undefined;
}
