/** `corestead plugin pack FOLDER FILE`: bundles a plugin into one file that PLUGINS_DIR accepts as it is. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { loadPlugin } from "../../plugin/external.ts";
import { withPlace, type Modules } from "../../host/host.ts";
import { withBundledPages } from "../../plugin/studio-pages.ts";

/**
 * Returns the size in bytes. The npm packages that it imports are bundled; "platform" comes from the server. Pages of
 * the Studio that are files of their own are bundled too, each into the text of one module.
 */
export async function packPlugin(folder: string, file: string, modules: Modules): Promise<number> {
  const entry = ["plugin.ts", "plugin.js"].map((name) => resolve(folder, name)).find((path) => existsSync(path));
  if (!entry) throw new Error(`${resolve(folder)} has no plugin.ts`);
  if (!file.endsWith(".js"))
    throw new Error(`the packed file is JavaScript: give it a name that ends in .js, not "${file}"`);
  const text = await bundle(entry);
  // Only an address of a file needs it, and then the plugin must be loaded to know its pages.
  const packed = text.includes("import.meta.url") ? await withPages(entry, modules) : text;
  return Bun.write(resolve(file), packed);
}

async function bundle(entry: string): Promise<string> {
  const result = await Bun.build({
    entrypoints: [entry],
    target: "bun",
    format: "esm",
    external: ["platform", "platform/*"],
    loader: { ".sql": "text", ".md": "text" },
    throw: false,
  });
  const [output] = result.outputs;
  if (!result.success || !output) throw new Error(result.logs.map(withPlace).join("; "));
  return output.text();
}

/** The same plugin, with the modules of its pages in place of their addresses. */
async function withPages(entry: string, modules: Modules): Promise<string> {
  const { studio } = await onlyPages(entry, modules);
  const sources = studio.map(({ module }) => module);
  const work = await mkdtemp(join(tmpdir(), "corestead-pack-"));
  try {
    const outer = join(work, "packed.js");
    await Bun.write(
      outer,
      `import plugin from ${JSON.stringify(entry)};
const sources = ${JSON.stringify(sources)};
export default { ...plugin, studio: plugin.studio.map((page, at) => ({ ...page, module: sources[at] })) };
`,
    );
    return await bundle(outer);
  } finally {
    await rm(work, { recursive: true });
  }
}

async function onlyPages(entry: string, modules: Modules) {
  const { name, studio = [] } = await loadPlugin(entry, modules);
  // A privilege may be one of another plugin.
  const privileges = studio.flatMap(({ privilege }) => (privilege === undefined ? [] : [{ name: privilege }]));
  const [bundled] = await withBundledPages([{ name, studio, privileges }]);
  return { studio: bundled?.studio ?? [] };
}
