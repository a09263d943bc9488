/** kaboom and phaser: TypeScript or JavaScript. Plain JavaScript is checked and served unchanged. */
import { markedClassic, type Code, type Task } from "./task.ts";
import { checkImports, checkProgram, compileModule } from "./module.ts";
import { parseModule, sfc, type Program } from "./tree.ts";

/** The imports of a game's library go first, so that its global is there before the game's own code runs. */
export async function compileGame(library: string, { source, allowed }: Task): Promise<Code> {
  const { code, lines = [] } = await compileModule(source, { loader: "ts", allowed });
  return { code: `import ${JSON.stringify(library)};\n${code}`, css: "", lines: [0, ...lines] };
}

/** behaviour 2.3: the source is the app's code, unchanged to the last character. */
export async function checkScript({ source, allowed }: Task): Promise<Code> {
  const classic = parseClassic(source);
  if (classic) checkProgram(classic, allowed);
  else checkImports(source, allowed);
  return { code: classic ? markedClassic(source) : source, css: "" };
}

// Plain JavaScript becomes a classic script if possible, so that `onclick="…"` finds its functions and `x = 5` works.

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
