import { access, constants, readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { host } from "#host";
import type { Plugin } from "./plugin.ts";
import type { Modules } from "../host/host.ts";
import { exists } from "../system/whole-folder.ts";
import { platformMismatch, platformVersion } from "./facts.ts";

/**
 * Plugins from PLUGINS_DIR, in the order of their names: each is a folder with a `plugin.ts` (or `.js`), or such a file
 * itself, that default-exports a `definePlugin(…)`. They import `modules` ("platform" and the like), their own files
 * and npm packages beside them, even inside the compiled binary, and run with the server's full rights. Names that
 * begin with `.` or `_` are ignored. Throws an Error that names the file that is not a plugin.
 */
export async function loadExternalPlugins(folder: string, modules: Modules): Promise<Plugin[]> {
  if (folder === "") return [];
  host.provideModules(modules);
  const root = resolve(folder);
  const names = await readdir(root).catch((cause: unknown) => {
    throw new Error(`PLUGINS_DIR: ${root} cannot be read`, { cause });
  });
  const plugins: Plugin[] = [];
  for (const name of names.filter(mayBePlugin).toSorted()) {
    const file = await entryFile(join(root, name));
    if (file) plugins.push(await load(file));
  }
  return plugins;
}

/** The plugin of one file, e.g. a `plugin.ts`. */
export function loadPlugin(file: string, modules: Modules): Promise<Plugin> {
  host.provideModules(modules);
  return load(file);
}

function mayBePlugin(name: string): boolean {
  return !/^[._]/.test(name) && name !== "node_modules";
}

/** The file to import; undefined if `path` is another kind of file, such as a README. */
async function entryFile(path: string): Promise<string | undefined> {
  const isFolder = (await stat(path)).isDirectory();
  if (!isFolder) return /\.(ts|js)$/.test(path) && !/\.(test|d)\.ts$/.test(path) ? path : undefined;
  await access(path, constants.R_OK | constants.X_OK).catch((cause: unknown) => {
    throw new Error(`PLUGINS_DIR: ${path} cannot be read by this user: give it the mode 0755`, { cause });
  });
  for (const name of ["plugin.ts", "plugin.js"]) {
    const file = join(path, name);
    if (await exists(file)) return file;
  }
  throw new Error(`PLUGINS_DIR: ${path} has no plugin.ts; a name that begins with "_" is left alone`);
}

async function load(file: string): Promise<Plugin> {
  const loaded: unknown = await import(file).catch((error: unknown) => {
    throw new Error(`plugin ${file} does not load`, { cause: readable(error) });
  });
  const plugin = typeof loaded === "object" && loaded !== null && "default" in loaded ? loaded.default : undefined;
  if (!isPlugin(plugin)) throw new Error(`plugin ${file} must default-export what definePlugin() returns`);
  const mismatch = platformMismatch(plugin.platform);
  if (mismatch) throw new Error(`plugin "${plugin.name}" (${file}): ${mismatch}`);
  return plugin;
}

function readable(error: unknown): unknown {
  // Probably written for another version of "platform": its `platform: "^…"` could not be read yet.
  if (error instanceof SyntaxError && error.message.includes("module 'platform'"))
    return new Error(`${error.message} This Corestead has platform ${platformVersion}.`);
  return host.explainLoadError(error);
}

function isPlugin(value: unknown): value is Plugin {
  return typeof value === "object" && value !== null && "start" in value && "name" in value && "needs" in value;
}
