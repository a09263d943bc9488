/**
 * Folders that are whole or absent, after kill -9 and after a power cut.
 *
 * `once` makes one that is on disk before it has its name. `soon` makes one that can be used before it is on disk, as
 * syncing PostgreSQL's files takes as long as writing them. While a power cut could spoil it there is a note in it, which
 * is on disk before the folder has its name, and a start that finds the note makes the folder anew: until `sync` has
 * ended, nobody may be told that something is kept there.
 */
import { constants, createWriteStream } from "node:fs";
import { access, mkdtemp, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { failpoint } from "./failpoints.ts";
import { pipeline } from "node:stream/promises";

export interface Folder {
  readonly isNew: boolean;
  /** Resolves when it is on disk. */
  readonly sync: () => Promise<void>;
}

const note = "corestead.unsynced";

export function isUnsynced(folder: string): Promise<boolean> {
  return exists(join(folder, note));
}

/** Makes a folder by `make` unless it is there whole. Only the process that holds the lock of the folder above may. */
export async function soon(folder: string, make: (folder: string) => Promise<void>): Promise<Folder> {
  if (await isUnsynced(folder)) await discard(folder);
  if (await exists(folder)) return { isNew: false, sync: async () => {} };
  const unfinished = await mkdtemp(`${folder}.tmp-`);
  await make(unfinished);
  await leaveNote(unfinished);
  failpoint("unpacked");
  await rename(unfinished, folder);
  failpoint("unsynced");
  return { isNew: true, sync: () => settle(folder) };
}

/** Makes a folder by `make` unless it exists: it is complete and on disk, or absent. */
export async function once(folder: string, make: (folder: string) => Promise<void>): Promise<string> {
  if (await exists(folder)) return folder;
  const unfinished = await mkdtemp(`${folder}.tmp-`);
  await make(unfinished);
  await syncInto(unfinished, folder);
  return folder;
}

/** Renames a folder into its place: it is complete and on disk there, or absent. */
export async function syncInto(unfinished: string, folder: string): Promise<void> {
  await syncTree(unfinished);
  await rename(unfinished, folder).catch(async (error: unknown) => {
    // Another process was faster.
    if (!(await exists(folder))) throw error;
    await rm(unfinished, { recursive: true });
  });
}

export async function exists(path: string): Promise<boolean> {
  return access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
}

/** A folder with all that is in it. What PostgreSQL removes meanwhile needs it no more. */
async function syncTree(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const own = entries.filter((entry) => entry.isFile() || entry.isDirectory());
  const paths = own.map((entry) => join(entry.parentPath, entry.name));
  // Several at once, so that the file system needs few commits, but not all: other work waits for the same threads.
  const worker = async () => {
    for (let path = paths.pop(); path !== undefined; path = paths.pop()) await syncIfThere(path);
  };
  await Promise.all(Array.from({ length: 64 }, worker));
  await sync(folder);
}

async function leaveNote(folder: string): Promise<void> {
  await writeFile(join(folder, note), "");
  await sync(join(folder, note));
  await sync(folder);
}

async function settle(folder: string): Promise<void> {
  await syncTree(folder);
  await sync(dirname(folder));
  failpoint("synced");
  await rm(join(folder, note));
  await sync(folder);
}

/** First out of its place: half of a folder must not be taken for one. */
async function discard(folder: string): Promise<void> {
  const old = await mkdtemp(`${folder}.tmp-`);
  await rename(folder, old);
  await rm(old, { recursive: true });
}

async function syncIfThere(path: string): Promise<void> {
  await sync(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}

/** Of a folder: a renamed file is certain to have its new name only when that is on disk. */
export async function sync(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

// A file that is whole and on disk, or absent.

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
