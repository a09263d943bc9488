/**
 * Writes a small working plugin to begin with: scripts/new-plugin/, which is one, under another name.
 *
 *     bun scripts/new-plugin.ts shopping-list                    plugins/shopping-list
 *     bun scripts/new-plugin.ts shopping-list --dir ../mine      ../mine/shopping-list, for PLUGINS_DIR
 */
import { existsSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { plugins } from "../plugins/index.ts";
import { parseArguments } from "../runtime/arguments.ts";

const root = resolve(import.meta.dir, "..");
const template = join(import.meta.dir, "new-plugin");

try {
  const { words, options } = parseArguments(process.argv.slice(2));
  const [name, ...more] = words;
  if (!name || more.length > 0) throw new Error("usage: bun scripts/new-plugin.ts NAME [--dir FOLDER]");
  checkName(name);
  const parent = options["dir"] ? resolve(options["dir"]) : join(root, "plugins");
  await write(name, join(parent, name));
  process.stdout.write(`${nextSteps(name, parent)}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

function checkName(name: string): void {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || name.length > 40)
    throw new Error(
      `a plugin's name is at most 40 lower-case letters, digits and dashes, like shopping-list: "${name}"`,
    );
  if (["platform", "runtime", ...plugins.map((plugin) => plugin.name)].includes(name))
    throw new Error(`the name "${name}" is taken`);
}

async function write(name: string, folder: string): Promise<void> {
  if (existsSync(folder)) throw new Error(`${folder} exists: nothing was written`);
  const files = await readdir(template, { recursive: true, withFileTypes: true });
  for (const file of files.filter((entry) => entry.isFile())) {
    const source = join(file.parentPath, file.name);
    const path = join(folder, named(relative(template, source), name));
    await mkdir(dirname(path), { recursive: true });
    const text = named(await Bun.file(source).text(), name);
    // Only its test reaches out of a plugin's folder.
    await Bun.write(path, text.replaceAll(`"../../`, `"${relative(folder, root)}/`));
  }
  if (isOutside(folder)) await writeConfig(dirname(folder));
  // Other names make other lines: broken anew where they are too long now.
  await Bun.spawn([join(root, "node_modules/.bin/oxfmt"), folder], { cwd: root, stdout: "ignore" }).exited;
}

/** The template's name in its three spellings becomes the new one's. */
function named(text: string, name: string): string {
  const words = name.split("-");
  const pascal = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("");
  return text
    .replaceAll("sample-plugin", name)
    .replaceAll("sample_plugin", words.join("_"))
    .replaceAll("SamplePlugin", pascal);
}

function isOutside(folder: string): boolean {
  return relative(root, folder).startsWith("..");
}

/** Outside of the repository nothing says yet what "platform" is. */
async function writeConfig(folder: string): Promise<void> {
  const file = join(folder, "tsconfig.json");
  if (existsSync(file)) return;
  const up = relative(folder, root);
  const config = {
    extends: `${up}/tsconfig.json`,
    compilerOptions: { typeRoots: [`${up}/node_modules/@types`] },
    include: [".", `${up}/runtime/*.d.ts`, `${up}/plugins/**/*.d.ts`],
  };
  await Bun.write(file, `${JSON.stringify(config, null, 2)}\n`);
}

function nextSteps(name: string, parent: string): string {
  const folder = relative(process.cwd(), join(parent, name));
  const use =
    parent === join(root, "plugins")
      ? `list it in plugins/index.ts:  import … from "./${name}/plugin.ts";`
      : `start with PLUGINS_DIR=${relative(process.cwd(), parent) || "."}`;
  return [`wrote ${folder}: read its plugin.ts first`, `  test it:  bun test ${folder}`, `  use it:   ${use}`].join(
    "\n",
  );
}
