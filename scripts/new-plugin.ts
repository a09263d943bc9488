/**
 * `corestead plugin new`, without starting Corestead:
 *
 *     bun scripts/new-plugin.ts shopping-list                    plugins/shopping-list
 *     bun scripts/new-plugin.ts shopping-list --dir ../mine      ../mine/shopping-list, for PLUGINS_DIR
 */
import { plugins } from "../plugins/index.ts";
import { modules } from "../plugins/modules.ts";
import { parseArguments } from "../runtime/operations/command/arguments.ts";
import { authorCommand } from "../runtime/operations/authors/commands.ts";

try {
  const { words, options } = parseArguments(process.argv.slice(2));
  if (words.length !== 1) throw new Error("usage: bun scripts/new-plugin.ts NAME [--dir FOLDER]");
  const builtIn = { names: plugins.map(({ name }) => name), modules };
  process.exitCode = await authorCommand(["plugin", "new"])?.run(words, options, builtIn);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
