/**
 * The front matter of a site's files: a strict subset of YAML 1.2, so that every editor knows it and nothing is guessed.
 *
 *     name: About us              a plain word or sentence that begins with a letter or a slash
 *     path: "404"                 else a string in JSON's quotes
 *     position: 3                 any JSON value on one line: numbers, true, false, null, […], {…}
 *     fields:                     a map, indented by two spaces
 *       pl:
 *         lead: |-                text of several lines, indented by two more (`|` keeps a last line break)
 *           First line
 *           Second line
 */

import { isObject, parseExactly, type ExactNumber } from "platform";

export type Value = string | number | ExactNumber | boolean | null | readonly Value[] | Values;
export interface Values {
  readonly [key: string]: Value;
}

/** A mistake at a line of the text (counted from 1). */
export interface LineMistake {
  readonly line: number;
  readonly message: string;
}

export interface Parsed {
  readonly values: Values;
  /** The line of each top-level key. */
  readonly lines: ReadonlyMap<string, number>;
  readonly mistakes: readonly LineMistake[];
}

const maxDepth = 30;
const plainKey = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const plainText = /^(?:[\p{L}/]|\d{4}-\d{2}-\d{2}(?![\d]))[^\p{Cc}\p{Cs}\u2028\u2029\uFEFF]*$/u;
// Other readers of YAML do not read these as plain words.
const reserved = new Set(["true", "false", "null", "yes", "no", "on", "off", "y", "n"]);

export function printYaml(values: Values, indent = ""): string {
  return Object.entries(values)
    .map(([key, value]) => `${indent}${printKey(key)}:${printValue(value, indent)}\n`)
    .join("");
}

function printKey(key: string): string {
  return plainKey.test(key) && !reserved.has(key.toLowerCase()) ? key : jsonText(key);
}

function printValue(value: Value, indent: string): string {
  if (typeof value === "string") return printText(value, indent);
  if (!isObject(value) || Object.keys(value).length === 0 || indent.length >= 2 * (maxDepth - 5))
    return ` ${jsonText(value)}`;
  return `\n${printYaml(value, `${indent}  `).replace(/\n$/, "")}`;
}

function printText(text: string, indent: string): string {
  if (isPlain(text)) return ` ${text}`;
  if (!isBlock(text)) return ` ${jsonText(text)}`;
  const kept = text.endsWith("\n");
  const lines = (kept ? text.slice(0, -1) : text).split("\n");
  return ` ${kept ? "|" : "|-"}\n${lines.map((line) => (line === "" ? "" : `${indent}  ${line}`)).join("\n")}`;
}

/** JSON on one line, also for readers that take U+2028 for a line break. */
function jsonText(value: Value): string {
  const escape = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f\u2028\u2029\uFEFF]/g, escape);
}

function isPlain(text: string): boolean {
  return (
    plainText.test(text) &&
    !/:(\s|$)|\s#|\s$/.test(text) &&
    !/[^\S \u00a0]/.test(text) && // the only blanks allowed are the space and the no-break space
    !reserved.has(text.toLowerCase())
  );
}

/** Text of several lines that can stand as it is: no blanks at the end of a line, nothing invisible. */
function isBlock(text: string): boolean {
  const lines = text.replace(/\n$/, "").split("\n");
  const first = lines[0] ?? "";
  return (
    lines.length > 1 &&
    first !== "" &&
    !first.startsWith(" ") &&
    lines.at(-1) !== "" &&
    !lines.some((line) => /[\p{Cc}\p{Cs}\u2028\u2029\uFEFF]/u.test(line) || (line !== "" && line.trim() === ""))
  );
}

/**
 * Reads what `printYaml` prints, and what people write by hand in that form. Anything else is a mistake at its line.
 */
export function parseYaml(text: string, firstLine = 1): Parsed {
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  const mistakes: LineMistake[] = [];
  const places = new Map<string, number>();
  let at = 0;
  const wrong = (line: number, message: string): void => {
    if (mistakes.length < 100) mistakes.push({ line: firstLine + line, message });
  };

  /** The next line with content: its indentation and text. */
  const peek = (): { indent: number; text: string } | undefined => {
    while (at < lines.length && /^\s*(#.*)?$/.test(lines[at] ?? "")) at++;
    const line = lines[at];
    if (line === undefined) return undefined;
    const indent = /^ */.exec(line)?.[0].length ?? 0;
    return { indent, text: line.slice(indent) };
  };

  const readMap = (indent: number, depth: number): Values => {
    const entries = new Map<string, Value>();
    for (let next = peek(); next && next.indent >= indent; next = peek()) {
      const line = at++;
      if (next.indent > indent || next.text.startsWith("\t")) {
        wrong(line, `is indented by ${next.indent} spaces where ${indent} are expected`);
        continue;
      }
      const entry = readEntry(next.text, line, indent, depth);
      if (!entry) continue;
      if (entries.has(entry.key)) wrong(line, `the key ${entry.key} appears twice`);
      entries.set(entry.key, entry.value);
      if (indent === 0) places.set(entry.key, firstLine + line);
    }
    // Not by assignment: `__proto__` is an ordinary key here.
    return Object.fromEntries(entries);
  };

  const readEntry = (entry: string, line: number, indent: number, depth: number) => {
    const match = /^(?:([A-Za-z_][A-Za-z0-9_-]*)|("(?:[^"\\]|\\.)*"))\s*:(?:\s+(.*))?$/s.exec(entry);
    if (!match) return wrong(line, "must be `key: value`");
    const [, plain, quoted, rest = ""] = match;
    const key = plain ?? json(quoted ?? "");
    if (typeof key !== "string") return wrong(line, "has a key in broken quotes");
    return { key, value: readValue(rest.trimEnd(), line, indent, depth) };
  };

  const readValue = (given: string, line: number, indent: number, depth: number): Value => {
    if (given === "|" || given === "|-") return readBlock(indent + 2) + (given === "|" ? "\n" : "");
    if (given !== "") return scalar(given, (message) => wrong(line, message));
    const next = peek();
    if (next && next.indent > indent) {
      if (depth < maxDepth) return readMap(indent + 2, depth + 1);
      wrong(at, "is nested too deeply");
      at = lines.length;
      return null;
    }
    wrong(line, 'has no value: write null, "" or {}');
    return null;
  };

  const readBlock = (indent: number): string => {
    const block: string[] = [];
    for (; at < lines.length; at++) {
      const line = lines[at] ?? "";
      if (line.trim() !== "" && !line.startsWith(" ".repeat(indent))) break;
      block.push(line.slice(indent));
    }
    while (block.at(-1) === "") block.pop();
    return block.join("\n");
  };

  const values = readMap(0, 1);
  return { values, lines: places, mistakes };
}

function scalar(given: string, wrong: (message: string) => void): Value {
  if (/^["[{\d-]|^(?:true|false|null)$/.test(given)) {
    const value = json(given);
    if (value !== undefined) return value;
  }
  if (!isPlain(given)) wrong('cannot be read: put the text in double quotes, with \\" for a quote in it');
  return given;
}

/** Undefined if the text is not JSON. */
function json(text: string): Value | undefined {
  try {
    return parseExactly(text) as Value; // what it gives is a Value
  } catch {
    return undefined;
  }
}

/** "" if the value is not text. */
export function textOf(value: Value | undefined): string {
  return typeof value === "string" ? value : "";
}
