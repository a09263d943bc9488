/** Finds the place in a JSON text that a message names: `program[2].then[0].connector is required`. */
import { placeOf, type Fault } from "./faults.ts";

const mostPath = 400;

/** The keys and indexes that a message begins with, without the name of the field itself. */
export function pathIn(message: string, field: string): string[] {
  const end = message.slice(0, mostPath).search(/[ :]/);
  const path = message.slice(0, end === -1 ? 0 : end);
  const parts = path.replaceAll("[", ".").replaceAll("]", "").split(".").filter(Boolean);
  return parts[0] === field ? parts.slice(1) : parts;
}

/** The fault that a message is, at the deepest part of its path that the text has; undefined if it names no place. */
export function jsonPlace(text: string, message: string, field: string): Fault | undefined {
  const path = pathIn(message, field);
  if (path.length === 0) return undefined;
  const offset = offsetAt(text, path);
  return offset === undefined ? undefined : { ...placeOf(text, offset), message };
}

/** Where the value at a path begins: its key in an object. Undefined if not even the first step leads anywhere. */
function offsetAt(text: string, path: readonly string[]): number | undefined {
  let at = skipped(text, 0);
  let found: number | undefined;
  for (const step of path) {
    const next = childOf(text, at, step);
    if (!next) break;
    found = next.shown;
    at = next.value;
  }
  return found;
}

interface Child {
  readonly shown: number;
  readonly value: number;
}

function childOf(text: string, open: number, step: string): Child | undefined {
  const isList = text[open] === "[";
  if (!isList && text[open] !== "{") return undefined;
  let at = skipped(text, open + 1);
  for (let index = 0; at < text.length && text[at] !== "]" && text[at] !== "}"; index++) {
    const shown = at;
    let key = String(index);
    if (!isList) {
      const end = valueEnd(text, at);
      key = keyOf(text.slice(at, end));
      at = skipped(text, skipped(text, end) + 1); // past the colon
    }
    if (key === step) return { shown, value: at };
    at = skipped(text, valueEnd(text, at));
    if (text[at] === ",") at = skipped(text, at + 1);
    if (at <= shown) return undefined; // no JSON
  }
  return undefined;
}

function keyOf(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return "";
  }
}

/** Past a value: its brackets are counted, those within texts are not. */
function valueEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      at = quoteEnd(text, at);
      if (depth === 0) return at + 1;
    } else if (char === "{" || char === "[") depth++;
    else if (char === "}" || char === "]") {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (char === "," && depth === 0) return at;
  }
  return text.length;
}

function quoteEnd(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}

function skipped(text: string, from: number): number {
  let at = from;
  while (at < text.length && " \t\r\n".includes(text[at] ?? "")) at++;
  return at;
}
