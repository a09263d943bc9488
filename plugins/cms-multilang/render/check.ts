import { siteEngine } from "./engine.ts";

/** The mistakes of a template, each with its line and column; none where it can be rendered. */
export function checkTemplate(content: string): string[] {
  const mistake = siteEngine().syntaxError(content);
  return mistake ? [`line ${mistake.line}, column ${mistake.column}: ${mistake.message}`] : [];
}
