/** The tables of a token, between JSON and what is chosen. Pure. */
import { isMap, levels, type Level } from "studio/exact";

export type Databases = Readonly<Record<string, Level>>;

/** Of an answer, or of the text that a form keeps. Null: all tables. */
export function databasesIn(value: unknown): Databases | null {
  const given: unknown = typeof value === "string" ? parsed(value) : value;
  if (!isMap(given)) return null;
  const known = Object.entries(given).flatMap(([key, level]) => {
    const found = levels.find((one) => one === level);
    return found ? [[key, found] as const] : [];
  });
  return Object.fromEntries(known);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
