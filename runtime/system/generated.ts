/**
 * Files that scripts make before a server starts, such as the browser runtimes of scripts/runtimes.ts. In development
 * they are in dist/; in the compiled binary the entry point names those that were compiled in:
 *
 *     import file from "../../dist/runtimes/svelte.js" with { type: "file" };
 *     setGeneratedFiles({ "runtimes/svelte.js": file });
 */
import { chmod, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress, zstdDecompress } from "node:zlib";
import { unpack } from "./unpack.ts";
import { once } from "./whole-folder.ts";

const unzstd = promisify(zstdDecompress);
const unbrotli = promisify<Uint8Array, Buffer>(brotliDecompress);
let compiledIn: Readonly<Record<string, string>> | undefined;

/**
 * Declares what the compiled binary contains: name -> path inside it.
 *
 * @public for what scripts/build.ts writes
 */
export function setGeneratedFiles(files: Readonly<Record<string, string>>): void {
  compiledIn = files;
}

/** Whether this is the compiled executable, which has no access to the repository. */
export function isCompiled(): boolean {
  return compiledIn !== undefined;
}

/**
 * Reads a file such as `runtimes/manifest.json`. Throws an Error that names the command that makes it. `source` is where
 * one stands that no script makes at the start, because it is in the repository or in a package.
 */
export async function generatedFile(name: string, source?: () => URL): Promise<Uint8Array<ArrayBuffer>> {
  // What is seldom asked for is in it compressed only.
  const packed = compiledIn?.[name] === undefined ? compiledIn?.[`${name}.br`] : undefined;
  if (packed !== undefined) return new Uint8Array(await unbrotli(await readFile(packed)));
  const path = compiledIn ? compiledIn[name] : (source?.() ?? join(import.meta.dirname, "../../dist", name));
  if (path === undefined) throw new Error(`${name} is not in this executable`);
  return readFile(path).catch((cause: unknown) => {
    throw new Error(`dist/${name} is missing: run scripts/start once`, { cause });
  });
}

/**
 * The path of a program that the binary contains as `programs/<name>-<version>.zst`, or the folder of one that it
 * contains as `.tar.zst`, unpacked once under the data folder. Undefined if it contains none: the npm package then finds
 * its own.
 */
export async function generatedProgram(name: string, dataDir: string): Promise<string | undefined> {
  const [key, packed] = Object.entries(compiledIn ?? {}).find(([each]) => each.startsWith(`programs/${name}-`)) ?? [];
  if (key === undefined || packed === undefined) return undefined;
  const folder = join(dataDir, basename(basename(key, ".zst"), ".tar"));
  if (key.endsWith(".tar.zst")) return once(folder, (unfinished) => unpack(packed, unfinished));
  await once(folder, async (unfinished) => {
    const program = join(unfinished, name);
    await writeFile(program, await unzstd(await generatedFile(key)));
    await chmod(program, 0o755);
  });
  return join(folder, name);
}

/**
 * A package with parts that cannot be compiled in: from the folder of `generatedProgram` that this variable of a child
 * names, else the installed one.
 */
export function packageIn(variable: string, name: string): unknown {
  const folder = process.env[variable];
  return createRequire(folder ? `${folder}/` : import.meta.url)(name);
}
