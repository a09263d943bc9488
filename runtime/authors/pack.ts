/** `corestead plugin pack FOLDER FILE`: bundles a plugin into one file that PLUGINS_DIR accepts as it is. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";

/** Returns the size in bytes. The npm packages that it imports are bundled; "platform" comes from the server. */
export async function packPlugin(folder: string, file: string): Promise<number> {
  const entry = ["plugin.ts", "plugin.js"].map((name) => resolve(folder, name)).find((path) => existsSync(path));
  if (!entry) throw new Error(`${resolve(folder)} has no plugin.ts`);
  if (!file.endsWith(".js"))
    throw new Error(`the packed file is JavaScript: give it a name that ends in .js, not "${file}"`);
  const result = await Bun.build({
    entrypoints: [entry],
    target: "bun",
    format: "esm",
    external: ["platform", "platform/*"],
    loader: { ".sql": "text", ".md": "text" },
    throw: false,
  });
  const [output] = result.outputs;
  if (!result.success || !output) throw new Error(result.logs.map(({ message }) => message).join("; "));
  return Bun.write(resolve(file), await output.text());
}
