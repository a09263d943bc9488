import { join } from "node:path";

/** The command that starts this program again: the executable itself, or `bun plugins/main.ts`. */
export function ownProgram(): string[] {
  const compiled = Bun.main.startsWith("/$bunfs/") || Bun.main.includes("~BUN");
  return compiled ? [process.execPath] : [process.execPath, join(import.meta.dir, "../../plugins/main.ts")];
}
