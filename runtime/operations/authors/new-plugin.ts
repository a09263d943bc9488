/** Writes a small working plugin to start from: a copy of scripts/new-plugin/ under another name. */
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { start } from "../../system/process.ts";
import { generatedFile, isCompiled } from "../../system/generated.ts";

const root = resolve(import.meta.dirname, "../../..");

/** Writes it into `parent`; `taken` are the names of the built-in plugins. Returns the new folder. If it cannot be written, throws one line and leaves nothing behind. */
export async function newPlugin(name: string, parent: string, taken: readonly string[]): Promise<string> {
  checkName(name, taken);
  const folder = join(parent, name);
  if (existsSync(folder)) throw new Error(`${folder} exists: nothing was written`);
  const files = await pluginTemplate();
  await mkdir(parent, { recursive: true });
  // Renamed when complete, so that the folder appears whole or not at all.
  const unfinished = await mkdtemp(join(parent, ".new-plugin-"));
  try {
    // mkdtemp's folder is its maker's alone: the server may be another user.
    await chmod(unfinished, 0o755);
    for (const [path, text] of files) {
      const file = join(unfinished, named(path, name));
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, named(inPlace(text, parent), name));
    }
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
  await format(folder);
  return folder;
}

function checkName(name: string, taken: readonly string[]): void {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name.slice(0, 41)) || name.length > 40)
    throw new Error(
      `a plugin's name is at most 40 lower-case letters, digits and dashes, like shopping-list: "${name}"`,
    );
  if (["platform", "runtime", ...taken].includes(name)) throw new Error(`the name "${name}" is taken`);
}

/** Path -> text. The executable contains them; a checkout has the folder. */
export async function pluginTemplate(): Promise<ReadonlyMap<string, string>> {
  if (isCompiled()) {
    const files: Record<string, string> = JSON.parse(new TextDecoder().decode(await generatedFile("new-plugin.json")));
    return new Map(Object.entries(files));
  }
  const template = join(root, "scripts/new-plugin");
  const entries = await readdir(template, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = paths.map(async (path) => [relative(template, path), await readFile(path, "utf8")] as const);
  return new Map(await Promise.all(texts));
}

/** Replaces the template's name, in its four spellings, by the new one. */
function named(text: string, name: string): string {
  const words = name.split("-");
  const pascal = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("");
  return text
    .replaceAll("sample-plugin", name)
    .replaceAll("sample_plugin", words.join("_"))
    .replaceAll("SAMPLE_PLUGIN", words.join("_").toUpperCase())
    .replaceAll("SamplePlugin", pascal);
}

/** Among the built-in plugins the template imports their files; elsewhere "platform/accounts" and "platform/test". */
function inPlace(text: string, parent: string): string {
  if (isCompiled() || parent !== join(root, "plugins")) return text;
  return text
    .replaceAll(/"platform\/test"/g, `"../../tests/harness.ts"`)
    .replaceAll(/"platform\/(?!studio")([a-z-]{1,40})"/g, `"../$1/api.ts"`);
}

/** Other names change the line breaks. Only a development install has the formatter. */
async function format(folder: string): Promise<void> {
  const formatter = join(root, "node_modules/.bin/oxfmt");
  if (isCompiled() || !existsSync(formatter)) return;
  await start([formatter, folder], { cwd: root, stdio: "ignore" }).exited;
}
