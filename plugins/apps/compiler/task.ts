/** The messages between the server (build/compile.ts) and its compiler process (main.ts). */
import type { AppEngine, CssEngine } from "../choices.ts";

export interface Task {
  readonly appEngine: AppEngine;
  readonly cssEngine: CssEngine;
  readonly source: string;
  /** The specifiers that an app of this engine may import. */
  readonly allowed: readonly string[];
}

export interface Compiled {
  /** For `html` the page itself, otherwise a module that mounts the app. */
  readonly appCode: string;
  /** A style sheet for the page, possibly "". */
  readonly cssCode: string;
  /**
   * For each line of the code the line of the source that it comes from, 0 where none does; undefined where the code is
   * the source. Lines behind the last one are the compiler's own.
   */
  readonly lines?: readonly number[];
  /** Whole milliseconds. */
  readonly appBuildMs: number;
  readonly cssBuildMs: number;
}

export type CompileResult =
  | { readonly ok: true; readonly compiled: Compiled }
  /** Each is `line:column message`, both counted from 1. */
  | { readonly ok: false; readonly mistakes: readonly string[] };

/** An engine's output. */
export interface Code {
  readonly code: string;
  /** The component's own style sheet, scoped; "" if it has none. */
  readonly css: string;
  /** As in `Compiled`. */
  readonly lines?: readonly number[];
}

/** Source that does not compile: each mistake as `line:column message` (behaviour B.10), both counted from 1. */
export class Mistakes extends Error {
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(mistakes.join("; "));
    this.name = "Mistakes";
    this.mistakes = mistakes.slice(0, 20);
  }
}

export function mistake(line: number, column: number, message: string): string {
  return `${line}:${column} ${message.split("\n", 1)[0]?.trim().slice(0, 500)}`;
}

/** The mistake at a place in `source`, given by its offset. */
export function mistakeAt(source: string, offset: number, message: string): string {
  const before = source.slice(0, Math.max(0, offset));
  const lines = before.split(/\r\n|\r|\n/);
  return mistake(lines.length, (lines.at(-1)?.length ?? 0) + 1, message);
}

/**
 * The compiler marks plain JavaScript that is not a module with a comment at its end. This keeps the code one text and
 * moves no line or column.
 */
const mark = "\n//# classic script";

export function markedClassic(code: string): string {
  return code + mark;
}

export function isClassic(code: string): boolean {
  return code.endsWith(mark);
}
