/** The pages that plugins add to the Studio: what they are, what is wrong with them, and their modules. */
import { host } from "#host";
import { generatedFile, isCompiled } from "../system/generated.ts";
import { readFile, realpath } from "node:fs/promises";
import { existsSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Bundled } from "../host/host.ts";

export const studioIcons = [
  "bell",
  "book",
  "box",
  "calendar",
  "cart",
  "chart",
  "clock",
  "file",
  "folder",
  "globe",
  "heart",
  "home",
  "image",
  "list",
  "mail",
  "phone",
  "settings",
  "star",
  "table",
  "tag",
  "user",
  "users",
] as const;
export type StudioIcon = (typeof studioIcons)[number];

/** A page that a plugin adds to the Studio: in its menu, its palette and its breadcrumbs. */
export interface StudioPage {
  /** Below /studio, e.g. `crm/contacts` or `crm/contacts/:id`; the first word is the module of the menu that it is in. */
  readonly path: string;
  /** By language; English stands in for a missing one. */
  readonly title: { readonly en: string; readonly pl?: string; readonly de?: string };
  /** Its picture in the menu. */
  readonly icon?: StudioIcon;
  /** Whom it is shown to; everyone who is signed in without one. Others can not load its module either. */
  readonly privilege?: string;
  /** The view that apps may be injected into, e.g. `contacts/index` (`show_in_module`). */
  readonly view?: string;
  /**
   * An ES module that exports `mount(element, ctx)`, which gives back a function that takes the page away again: see
   * "platform/studio". Either the address of its file, `new URL("./studio/contacts.page.ts", import.meta.url)`, which
   * may import others and npm packages, or the source of a module without imports.
   */
  readonly module: URL | string;
}

/** Facts about a plugin that its pages need. */
interface Paged {
  readonly name: string;
  readonly privileges: readonly { readonly name: string }[];
  readonly studio?: readonly StudioPage[];
}

/** A module that an app may name in `show_in_module`. */
const viewForm = /^[a-z][a-z0-9_]*(?:\/[a-z][a-z0-9_]*){1,3}$/;
const mostTitleChars = 80;
/** Control characters, line ends, and those that turn the direction of what follows. */
const unprintable = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;

/** Throws where a page could not be reached, or its title could not be shown. */
export function checkPages(plugin: string, pages: readonly StudioPage[]): void {
  for (const { path, title, icon, view } of pages) {
    if (path.length > 200 || !/^[a-z][a-z0-9_-]*(\/:?[a-z][a-z0-9_-]*)*$/.test(path))
      throw new Error(`plugin "${plugin}": the path of a Studio page is like crm/contacts/:id, not "${path}"`);
    if (view !== undefined && (view.length > 100 || !viewForm.test(view)))
      throw new Error(`plugin "${plugin}": the view of the page ${path} is like contacts/index, not "${view}"`);
    if (icon !== undefined && !studioIcons.includes(icon))
      throw new Error(`plugin "${plugin}": the icon of the page ${path} is one of ${studioIcons.join(", ")}`);
    for (const words of [title.en, ...Object.values(title)]) {
      // Plugins in JavaScript have not been checked by a compiler.
      if (typeof words !== "string" || words.trim() === "" || words.length > mostTitleChars || unprintable.test(words))
        throw new Error(
          `plugin "${plugin}": the title of the page ${path} is one line of at most ${mostTitleChars} characters, not ${JSON.stringify(words)?.slice(0, 100)}`,
        );
    }
  }
}

/**
 * The same plugins, with the sources of all pages. Throws one line that names the plugin where a page does not compile,
 * is too large, stands at the address of another, or asks for a privilege that nobody declares.
 */
export async function withBundledPages<P extends Paged>(plugins: readonly P[]): Promise<P[]> {
  checkTogether(plugins);
  const bundled: P[] = [];
  for (const plugin of plugins) {
    const studio: StudioPage[] = [];
    for (const page of plugin.studio ?? []) studio.push({ ...page, module: await sourceOf(plugin.name, page) });
    bundled.push(studio.length === 0 ? plugin : { ...plugin, studio });
  }
  return bundled;
}

function checkTogether(plugins: readonly Paged[]): void {
  const known = new Set(plugins.flatMap(({ privileges }) => privileges.map(({ name }) => name)));
  const owners = new Map<string, string>();
  for (const { name, studio = [] } of plugins) {
    for (const { path, privilege } of studio) {
      if (privilege !== undefined && !known.has(privilege))
        throw new Error(
          `plugin "${name}": the page ${path} needs the privilege "${privilege}", which no plugin declares`,
        );
      // `contacts/:id` and `contacts/:code` are the same addresses.
      const address = path.replaceAll(/:[^/]+/g, ":");
      const owner = owners.get(address);
      if (owner !== undefined)
        throw new Error(`plugin "${name}": the page ${path} stands at an address of plugin "${owner}" already`);
      owners.set(address, name);
    }
  }
}

/** Throws one line. */
async function sourceOf(plugin: string, { path, module }: StudioPage): Promise<string> {
  const source = await (module instanceof URL ? bundledFile(plugin, path, module) : checked(module)).catch(
    (cause: unknown) => {
      throw new Error(`plugin "${plugin}": the page ${path} does not load`, { cause });
    },
  );
  const bytes = Buffer.byteLength(source);
  if (bytes > mostPageBytes)
    throw new Error(
      `plugin "${plugin}": the page ${path} is ${megabytes(bytes)} of code, and may be ${megabytes(mostPageBytes)}`,
    );
  return source;
}

/** Files of built-in plugins are not in the executable; scripts/build.ts has bundled their pages. */
async function bundledFile(plugin: string, path: string, module: URL): Promise<string> {
  if (!isCompiled() || !module.pathname.startsWith("/$bunfs/")) return bundlePage(module);
  const pages: Record<string, string> = JSON.parse(new TextDecoder().decode(await generatedFile(builtInPages)));
  return pages[`${plugin} ${path}`] ?? "";
}

/** By plugin and path. */
export const builtInPages = "plugin-pages.json";

async function checked(source: string): Promise<string> {
  const [first] = await host.importsOf(source);
  if (first === undefined) return source;
  throw new Error(
    `it imports "${first}", but is given as text: give the address of its file, new URL("./…", import.meta.url)`,
  );
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

// Makes one ES module of a page of the Studio that is written in several files, in TypeScript, with npm packages.

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
