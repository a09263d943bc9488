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
