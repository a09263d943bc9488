/** A file that is whole and on disk, or absent. */
import { createWriteStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";

/** Writes a file and renames it into place only when it is complete and on disk. Other users cannot read it. */
export async function writeWhole(file: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  // Two at once must not write into one file.
  const partial = `${file}.${crypto.randomUUID().slice(0, 8)}${partialEnding}`;
  try {
    await pipeline(chunks, createWriteStream(partial, { mode: 0o600 }));
    const written = await open(partial, "r");
    await written.sync();
    await written.close();
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

const partialEnding = ".partial";

/** The name that a file would have had whose writing was interrupted; undefined if it is no such file. */
export function nameOfPartial(partial: string): string | undefined {
  return /^(.+?)(?:\.[\da-f]{8})?\.partial$/s.exec(partial)?.[1];
}
