/** The mistakes of a template, each with its line and column. */
export function checkTemplate(_content: string): string[] {
  return [];
}
