/** Plain JavaScript is a classic script where it can be one: `onclick="…"` then finds its functions, and `x = 5` works. */
import { parseModule } from "./imports.ts";
import { sfc } from "./sfc.ts";
import type { Program } from "./tree.ts";

/** Names that a classic script may not declare, since the window has them for good; in a module they are its own. */
const taken = "\n;let window, document, location, top, core;";

/** Undefined where the source is a module, by what it has in it, or does not parse. */
export function parseClassic(source: string): Program | undefined {
  try {
    const { program } = sfc.babelParse(source + taken, { sourceType: "script", attachComment: false });
    return awaitsAtTop(source) ? undefined : program;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** In a script `await (x)` calls a function of that name. */
function awaitsAtTop(source: string): boolean {
  if (!/\bawait\b/.test(source)) return false;
  const parsed = parseModule(source);
  return "program" in parsed && parsed.program.extra?.["topLevelAwait"] === true;
}
