/** A program within the `fields` of a flow as text, and its values in one box: what is no JSON yet is kept as it was typed. Pure. */
import { parseJson } from "studio/exact";
import { isStep, type Program } from "./tree.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The text of `fields` with this program in it. One that is no JSON comes last, so that it can be found again. */
export function withProgram(fields: Fields, program: string): string {
  const value = parsed(program);
  if (value !== undefined) return JSON.stringify({ ...fields, program: value }, null, 2);
  return `${headOf(fields)}${program}\n}`;
}

export function programIn(fields: Fields, text: string): string {
  const whole = text.trim() === "" ? {} : parsed(text);
  if (Array.isArray(whole) || isStep(whole)) return shown("program" in whole ? whole.program : []);
  const head = headOf(fields);
  return text.startsWith(head) ? text.slice(head.length, -2) : text;
}

/** What else is in the text of `fields`; undefined while that is no JSON. */
export function othersIn(text: string): Fields | undefined {
  const whole = text.trim() === "" ? {} : parsed(text);
  return isStep(whole) ? { ...whole } : undefined;
}

/** The steps in a text; undefined if it is no list. */
export function stepsOf(text: string): Program | undefined {
  const value = parsed(text);
  return Array.isArray(value) ? value : undefined;
}

export function shown(program: unknown): string {
  return JSON.stringify(program, null, 2);
}

function headOf(fields: Fields): string {
  const others = Object.entries(fields).filter(([name]) => name !== "program");
  const before = others.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)},\n`);
  return `{${before.join("")}"program": `;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

export function shownValue(value: unknown): string {
  if (value === undefined) return "";
  if (typeof value === "string") return readValue(value) === value ? value : JSON.stringify(value);
  return JSON.stringify(value, null, 2);
}

export function readValue(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === "" || /^\{[{%]/.test(trimmed)) return text;
  try {
    return parseJson(trimmed);
  } catch {
    return text;
  }
}

/** A map with a value under another name, in the same place; a name that is taken is left. */
export function renamed(map: Readonly<Record<string, unknown>>, from: string, to: string): Record<string, unknown> {
  if (from !== to && Object.hasOwn(map, to)) return { ...map };
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name === from ? to : name, value]));
}

/** `value2`, if there is a `value` already. */
export function freeName(map: Readonly<Record<string, unknown>>, wanted: string): string {
  if (!Object.hasOwn(map, wanted)) return wanted;
  for (let number = 2; ; number++) if (!Object.hasOwn(map, `${wanted}${number}`)) return `${wanted}${number}`;
}
