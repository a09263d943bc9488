/** Makes one ES module of a page of the Studio that is written in several files, in TypeScript, with npm packages. */
import { readFile, realpath } from "node:fs/promises";
import { existsSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { host } from "#host";
import type { Bundled } from "../host/host.ts";

/** A page that takes longer to load than its data is a mistake, such as a whole library that is used for one function. */
export const mostPageBytes = 2_000_000;

/** Returns the module's source. Throws one line that names the file, and the line where there is one. */
export async function bundlePage(url: URL): Promise<string> {
  if (url.protocol !== "file:") throw new Error(`${url.href} is not the address of a file`);
  const file = fileURLToPath(url);
  if (!existsSync(file)) throw new Error(`${file} does not exist`);
  const { text, mistakes, others, exports, inputs } = await host.bundlePage(file);
  if (text === undefined) throw new Error(mistakes.join("; ") || `${file} cannot be bundled`);
  await checkInputs(file, inputs);
  const [other] = others;
  if (other !== undefined) throw new Error(`${file} imports ${other} ${onlyCode}`);
  if (!exports.includes("mount")) throw new Error(`${file} exports no mount(element, ctx)`);
  return text;
}

const onlyCode =
  'as a file: a page is one module, so import styles and pictures as text (with { type: "text" }) or draw them in code';

/** Everything that goes in is the plugin's own, or a package of it; and nothing is left to be fetched by a browser. */
async function checkInputs(page: string, inputs: Bundled["inputs"]): Promise<void> {
  const folder = await pluginFolder(page);
  for (const [name, { imports }] of Object.entries(inputs)) {
    const importer = resolve(name);
    for (const { path, original = path, external } of imports) {
      if (path.startsWith("node:")) continue; // Bun brings what a browser can do of it
      const refuse = async (why: string) => new Error(`"${original}" ${why} (${await placeOf(importer, original)})`);
      if (external) throw await refuse("cannot be imported: a page brings all of its code with it");
      if (!isOwn(await realpath(resolve(path)), folder))
        throw await refuse("cannot be imported: it is outside of the plugin's folder");
    }
  }
}

/** The nearest folder above with a plugin.ts or a package.json. */
async function pluginFolder(page: string): Promise<string> {
  const start = dirname(await realpath(page));
  const marks = ["plugin.ts", "plugin.js", "package.json"];
  for (let folder = start; ; folder = dirname(folder)) {
    if (marks.some((mark) => existsSync(join(folder, mark)))) return folder;
    if (folder === dirname(folder)) return start;
  }
}

/** Packages are found where Node finds them: in `node_modules` of the folder and of those above. */
function isOwn(path: string, folder: string): boolean {
  if (path.startsWith(folder + sep)) return true;
  for (let above = folder; ; above = dirname(above)) {
    if (path.startsWith(join(above, "node_modules") + sep)) return true;
    if (above === dirname(above)) return false;
  }
}

/** `file:line` of an import. */
async function placeOf(file: string, specifier: string): Promise<string> {
  const lines = (await readFile(file, "utf8")).split("\n");
  const at = lines.findIndex((line) => line.includes(`"${specifier}"`) || line.includes(`'${specifier}'`));
  return at < 0 ? file : `${file}:${at + 1}`;
}
