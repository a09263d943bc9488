import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Plugin } from "./plugin.ts";
import * as sdk from "./sdk.ts";

/**
 * Plugins from PLUGINS_DIR: each is a folder with a `plugin.ts` (or `.js`), or such a file itself, that default-exports
 * a `definePlugin(…)`. They import "platform" and their own files, also inside the compiled binary, and run with the
 * server's full rights.
 */
export async function loadExternalPlugins(folder: string): Promise<Plugin[]> {
  if (folder === "") return [];
  Bun.plugin({
    name: "platform",
    setup: (build) => {
      build.module("platform", () => ({ exports: sdk, loader: "object" }));
    },
  });
  const root = resolve(folder);
  const entries = await readdir(root, { withFileTypes: true }).catch((cause: unknown) => {
    throw new Error(`PLUGINS_DIR: ${root} cannot be read`, { cause });
  });
  const plugins: Plugin[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = await entryFile(root, entry.name, entry.isDirectory());
    if (file) plugins.push(await load(file));
  }
  return plugins;
}

async function entryFile(root: string, name: string, isFolder: boolean): Promise<string | undefined> {
  if (!isFolder) return /\.(ts|js)$/.test(name) && !/\.(test|d)\.ts$/.test(name) ? join(root, name) : undefined;
  for (const file of ["plugin.ts", "plugin.js"]) {
    const path = join(root, name, file);
    if (await Bun.file(path).exists()) return path;
  }
  return undefined;
}

async function load(file: string): Promise<Plugin> {
  const loaded: unknown = await import(file).catch((cause: unknown) => {
    throw new Error(`plugin ${file} does not load`, { cause });
  });
  const plugin = typeof loaded === "object" && loaded !== null && "default" in loaded ? loaded.default : undefined;
  if (!isPlugin(plugin)) throw new Error(`plugin ${file} must default-export what definePlugin() returns`);
  return plugin;
}

function isPlugin(value: unknown): value is Plugin {
  return typeof value === "object" && value !== null && "start" in value && "name" in value && "needs" in value;
}
