/** The inside of a child process: `corestead child <plugin> <name>`, started by child-process.ts alone. */
import { parseExactly } from "../base/exact-number.ts";
import { linesOf } from "./child-output.ts";

export type Children = Readonly<Record<string, () => Promise<{ readonly default: ChildFunction }>>>;
/** Input and output are JSON. An exception ends its process. */
type ChildFunction = (input: unknown) => unknown;

interface WithChildren {
  readonly name: string;
  readonly children?: Children;
}

/**
 * Answers each line `{"input": …}` on standard input with a line `{"ok": true, "output": …}`. An exception of the
 * function ends the process, because it may have left any state behind.
 */
export async function runChild(plugins: readonly WithChildren[], pluginName = "", name = ""): Promise<never> {
  const load = plugins.find((plugin) => plugin.name === pluginName)?.children?.[name];
  if (!load) throw new Error(`plugin "${pluginName}" has no child "${name}"`);
  // Standard output is reserved for answers.
  for (const method of ["log", "info", "debug"] as const) console[method] = console.error;
  const { default: run } = await load();
  await print({ ready: true });
  for await (const line of linesOf(process.stdin, Infinity)) {
    if (line === undefined) break;
    const { input } = parseExactly(line) as { input: unknown }; // child-process.ts writes it
    try {
      const output = await run(input);
      await print({ ok: true, output, rss: process.memoryUsage.rss() });
    } catch (error) {
      await print({ ok: false, error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
    }
  }
  process.exit(0);
}

async function print(line: unknown): Promise<void> {
  process.stdout.write(JSON.stringify(line)); // not with the end of the line: a large answer would be copied for it
  await new Promise((written) => process.stdout.write("\n", written));
}
