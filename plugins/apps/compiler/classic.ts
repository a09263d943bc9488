/**
 * Plain JavaScript becomes a classic script if possible, so that `onclick="…"` finds its functions and `x = 5` works.
 */
import { parseModule } from "./imports.ts";
import { sfc } from "./sfc.ts";
import type { Program } from "./tree.ts";

/** Names that a classic script cannot declare, because the window owns them. A module can declare them. */
const taken = "\n;let window, document, location, top, core;";

/** Undefined if the source can only be a module, or does not parse. */
export function parseClassic(source: string): Program | undefined {
  try {
    const { program } = sfc.babelParse(source + taken, { sourceType: "script", attachComment: false });
    return awaitsAtTop(source) ? undefined : program;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** In a classic script `await (x)` calls a function named `await`. */
function awaitsAtTop(source: string): boolean {
  if (!/\bawait\b/.test(source)) return false;
  const parsed = parseModule(source);
  return "program" in parsed && parsed.program.extra?.["topLevelAwait"] === true;
}
