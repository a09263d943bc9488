import { join } from "node:path";

/** The words that start this program once more: in the binary the executable itself, else `bun plugins/main.ts`. */
export function ownProgram(): string[] {
  const compiled = Bun.main.startsWith("/$bunfs/") || Bun.main.includes("~BUN");
  return compiled ? [process.execPath] : [process.execPath, join(import.meta.dir, "../../plugins/main.ts")];
}
