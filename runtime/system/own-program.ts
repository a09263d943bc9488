import { join } from "node:path";
import { host } from "#host";

/** The command that starts this program again: the executable itself, or the host (Bun) and `plugins/main.ts`. */
export function ownProgram(): string[] {
  return host.ownProgram(join(import.meta.dirname, "../../plugins/main.ts"));
}
