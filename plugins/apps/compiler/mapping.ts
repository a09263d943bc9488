/** Reads just enough of a source map to find where a place in generated code was written. */

export interface Mapping {
  readonly mappings: string;
}

export interface Position {
  /** From 1. */
  readonly line: number;
  /** From 0. */
  readonly column: number;
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The last known place on the same line, else before it. Only mistakes need this, so it may read the whole map. */
export function originalPosition({ mappings }: Mapping, line: number, column: number): Position {
  let found: Position = { line: 1, column: 0 };
  let sourceLine = 0;
  let sourceColumn = 0;
  let index = 0;
  for (const text of mappings.split(";")) {
    index++;
    let generated = 0;
    for (const segment of text === "" ? [] : text.split(",")) {
      const [step = 0, , lines = 0, columns = 0, ...rest] = numbers(segment);
      generated += step;
      sourceLine += lines;
      sourceColumn += columns;
      if (index > line || (index === line && generated > column)) return found;
      if (rest.length > 0 || numbers(segment).length >= 4) found = { line: sourceLine + 1, column: sourceColumn };
    }
    if (index >= line) return found;
  }
  return found;
}

/**
 * For each of `count` lines of the generated code the line of the source that its first known place was written in,
 * from 1; 0 for a line that nobody wrote. `maps` lead from the generated code to the source, one after another.
 */
export function sourceLines(count: number, maps: readonly Mapping[]): number[] {
  const own = Array.from({ length: count }, (_, at) => at + 1);
  return maps.map(linesOf).reduce((lines, map) => lines.map((line) => map[line - 1] ?? 0), own);
}

/** The same for one map. */
function linesOf({ mappings }: Mapping): number[] {
  let sourceLine = 0;
  return mappings.split(";").map((text) => {
    let first = 0;
    for (const segment of text === "" ? [] : text.split(",")) {
      const values = numbers(segment);
      sourceLine += values[2] ?? 0;
      if (first === 0 && values.length >= 4) first = sourceLine + 1;
    }
    return first;
  });
}

/** Base 64 VLQ. */
function numbers(segment: string): number[] {
  const values: number[] = [];
  let value = 0;
  let shift = 0;
  for (const character of segment) {
    const digit = digits.indexOf(character);
    value += (digit & 31) << shift;
    shift += 5;
    if ((digit & 32) !== 0) continue;
    values.push((value & 1) === 1 ? -(value >> 1) : value >> 1);
    value = 0;
    shift = 0;
  }
  return values;
}
