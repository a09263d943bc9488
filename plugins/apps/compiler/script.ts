/** kaboom and phaser: TypeScript or JavaScript. Plain JavaScript is checked and served unchanged. */
import { parseClassic } from "./classic.ts";
import { markedClassic } from "./classic-mark.ts";
import { checkImports, checkProgram, compileModule } from "./module.ts";
import type { Code, Task } from "./types.ts";

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
