/** The commands for authors of plugins. They need no database and no settings. */
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { host } from "#host";
import type { Modules } from "../../host/host.ts";
import { isCompiled } from "../../system/generated.ts";
import type { CommandFacts } from "../../plugin/plugin.ts";
import { newPlugin } from "./new-plugin.ts";
import { packPlugin } from "./pack.ts";
import { runTests } from "./run-tests.ts";

type Options = Readonly<Record<string, string>>;

interface AuthorCommand extends CommandFacts {
  /** Returns the exit code. */
  readonly run: (words: readonly string[], options: Options, builtIn: BuiltIn) => Promise<number>;
}

interface BuiltIn {
  /** The names of the built-in plugins. */
  readonly names: readonly string[];
  readonly modules: Modules;
}

export const authorCommands: readonly AuthorCommand[] = [
  {
    name: "plugin new",
    usage: "plugin new NAME [--dir FOLDER]",
    doc: "write a small working plugin to begin with",
    async run([name = ""], options, { names: taken }) {
      const parent = resolve(options["dir"] ?? standardFolder());
      const folder = await newPlugin(name, parent, taken);
      if (!isInCheckout(parent)) await writeEditorFiles(parent);
      return say(nextSteps(folder, parent));
    },
  },
  {
    name: "plugin pack",
    usage: "plugin pack FOLDER FILE",
    doc: "make one file of a plugin, to hand on",
    async run([folder = "", file = ""], _options, { modules }) {
      checkTools("plugin pack");
      if (file === "") throw new Error("which folder, into which file? corestead plugin pack FOLDER FILE");
      const bytes = await packPlugin(folder, file, modules);
      return say([`wrote ${file} (${(bytes / 1000).toFixed(0)} kB): put it into PLUGINS_DIR`]);
    },
  },
  {
    name: "test",
    usage: "test FOLDER",
    doc: "run a plugin's tests, each file on a server of its own",
    run([folder = ""], options) {
      checkTools("test");
      if (folder === "") throw new Error("which plugin? corestead test FOLDER");
      return runTests(
        folder,
        Object.entries(options).map(([name, value]) => `--${name}=${value}`),
      );
    },
  },
  {
    name: "types",
    usage: "types [FILE]",
    doc: "write platform.d.ts for authors of plugins",
    async run([file = "platform.d.ts"]) {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, await platformTypes());
      return say([`wrote ${file}`]);
    },
  },
];

/** Undefined if the words name another command. */
export function authorCommand(words: readonly string[]): AuthorCommand | undefined {
  return authorCommands.find(({ name }) => words.slice(0, name.split(" ").length).join(" ") === name);
}

/** Both are made of Bun's. */
function checkTools(command: string): void {
  if (!host.hasAuthorTools) throw new Error(`\`${command}\` needs Bun's bundler and test runner: run it with Bun`);
}

/** A checkout's own plugins, or the likely PLUGINS_DIR. */
function standardFolder(): string {
  return isCompiled() ? process.env["PLUGINS_DIR"] || "plugins" : join(import.meta.dirname, "../../../plugins");
}

function isInCheckout(parent: string): boolean {
  return !isCompiled() && !relative(resolve(import.meta.dirname, "../../.."), parent).startsWith("..");
}

const tsconfig = {
  compilerOptions: {
    target: "esnext",
    module: "preserve",
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    lib: ["esnext", "dom"],
    types: [],
  },
};

/** Writes the types of "platform" beside the plugins. An existing file stays; `corestead types` updates it. */
async function writeEditorFiles(parent: string): Promise<void> {
  const files = { "tsconfig.json": `${JSON.stringify(tsconfig, null, 2)}\n`, "platform.d.ts": await platformTypes() };
  for (const [name, text] of Object.entries(files)) {
    const file = join(parent, name);
    if (!existsSync(file)) await writeFile(file, text);
  }
}

function nextSteps(folder: string, parent: string): string[] {
  const shown = relative(process.cwd(), folder) || ".";
  const corestead = isCompiled() ? "corestead" : "scripts/start";
  const isBuiltIn = !isCompiled() && parent === join(resolve(import.meta.dirname, "../../.."), "plugins");
  const name = shown.split("/").at(-1);
  const use = isBuiltIn
    ? `list it in plugins/index.ts:  import … from "./${name}/plugin.ts";`
    : `PLUGINS_DIR=${relative(process.cwd(), parent) || "."} ${corestead} serve --watch`;
  const test = isBuiltIn ? `scripts/test ${shown}` : `${corestead} test ${shown}`;
  return [`wrote ${shown}: read its plugin.ts first`, `  test it:  ${test}`, `  use it:   ${use}`];
}

function say(lines: readonly string[]): number {
  for (const line of lines) process.stdout.write(`${line}\n`);
  return 0;
}

/** The text of `platform.d.ts`; generated by scripts/platform-types.ts, and a test says when it is stale. */
async function platformTypes(): Promise<string> {
  const { default: text } = await import("../../platform-types.txt", { with: { type: "text" } });
  return text;
}
