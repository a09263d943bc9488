/** Writes files for browsers as a server sends them: as they are, and compressed once by gzip and brotli. */
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const gzipped = promisify(gzip);
const brotlied = promisify<Uint8Array, object, Buffer>(brotliCompress);

/**
 * Replaces what is in `folder` by `files` (name -> content) and `manifest.json`. The manifest comes last: with it the
 * folder is complete. Another process may be reading, or doing the same.
 */
export async function writeWebFiles(
  folder: string,
  files: ReadonlyMap<string, string | Uint8Array>,
  manifest: unknown,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await Promise.all(
    [...files].map(async ([name, content]) => {
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      // The highest quality takes seconds for a megabyte.
      const quality = bytes.length > 500_000 ? 9 : 11;
      const brotli = await brotlied(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
      await Promise.all([
        replace(folder, name, bytes),
        replace(folder, `${name}.gz`, await gzipped(bytes, { level: 9 })),
        replace(folder, `${name}.br`, brotli),
      ]);
    }),
  );
  await replace(folder, "manifest.json", new TextEncoder().encode(`${JSON.stringify(manifest, undefined, 2)}\n`));
  const kept = new Set(["manifest.json", ...[...files.keys()].flatMap((name) => [name, `${name}.gz`, `${name}.br`])]);
  for (const name of await readdir(folder))
    if (!kept.has(name) && !name.startsWith(".")) await rm(join(folder, name), { force: true });
}

async function replace(folder: string, name: string, bytes: Uint8Array): Promise<void> {
  const unfinished = join(folder, `.${name}.${process.pid}`);
  await Bun.write(unfinished, bytes);
  await rename(unfinished, join(folder, name));
}
