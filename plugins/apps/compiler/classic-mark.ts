/**
 * How the compiler tells the page that plain JavaScript is no module: by a comment behind it, so that no line or column
 * moves and what is saved stays one text.
 */
const mark = "\n//# classic script";

export function markedClassic(code: string): string {
  return code + mark;
}

export function isClassic(code: string): boolean {
  return code.endsWith(mark);
}
