/** Corestead under Deno, which scripts/test installs. */
import { existsSync, globSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dir, "..");
const tools = join(root, ".tools/deno");

/** The command of a server under Deno; its cache is shared, so that only the first one translates the sources. */
export function fromSourceByDeno(main = join(root, "plugins/main.ts")): string[] {
  const [program] = globSync("node_modules/@deno/*/deno", { cwd: tools }).map((path) => join(tools, path));
  if (program === undefined || !existsSync(program))
    throw new Error(
      "Deno is not installed in .tools/deno: scripts/test installs it, as does scripts/start --deno version",
    );
  return [program, "run", "-A", `--config=${join(root, "deno.json")}`, main];
}

export const denoEnv = { DENO_DIR: join(tools, "cache"), DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" };
