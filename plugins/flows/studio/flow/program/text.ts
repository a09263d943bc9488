/** The program within the `fields` of a flow, as text: what is no JSON yet is kept as it was typed. Pure. */
import { parseJson } from "studio/exact";
import { isStep, type Program } from "./tree.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The text of `fields` with this program in it. One that is no JSON comes last, so that it can be found again. */
export function withProgram(fields: Fields, program: string): string {
  const value = parsed(program);
  if (value !== undefined) return JSON.stringify({ ...fields, program: value }, null, 2);
  return `${headOf(fields)}${program}\n}`;
}

/** The text of the program in the text of `fields`. */
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
