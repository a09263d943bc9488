/** Reads and writes whole folders of text files for commands, and nothing outside them. */
import { lstat, mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Text by path. Paths are relative, with "/" between their parts. */
export type TextFiles = ReadonlyMap<string, string>;

export interface FolderLimits {
  readonly maxFiles: number;
  readonly maxFileBytes: number;
  readonly maxBytes: number;
  readonly maxDepth: number;
}

const standard: FolderLimits = { maxFiles: 250_000, maxFileBytes: 10_000_000, maxBytes: 1_000_000_000, maxDepth: 8 };

/**
 * Reads every file of a folder except those whose names begin with a dot. Refuses by name: links, anything that is
 * neither a file nor a folder, files that are not UTF-8, and files beyond a limit.
 */
export async function readFolder(folder: string, limits: Partial<FolderLimits> = {}): Promise<TextFiles> {
  const { maxFiles, maxFileBytes, maxBytes, maxDepth } = { ...standard, ...limits };
  const files = new Map<string, string>();
  let bytes = 0;

  const read = async (path: string): Promise<void> => {
    const { size } = await lstat(join(folder, path));
    bytes += size;
    if (size > maxFileBytes) throw new Error(`${path} has more than ${maxFileBytes} bytes`);
    if (bytes > maxBytes) throw new Error(`the files of ${folder} have more than ${maxBytes} bytes together`);
    if (files.size >= maxFiles) throw new Error(`${folder} has more than ${maxFiles} files`);
    files.set(path, utf8(path, await readFile(join(folder, path))));
  };
  const walk = async (within: string, depth: number): Promise<void> => {
    if (depth > maxDepth) throw new Error(`${within}: folders are nested too deeply`);
    const entries = await readdir(join(folder, within), { withFileTypes: true });
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith(".")) continue;
      const path = within === "" ? entry.name : `${within}/${entry.name}`;
      if (entry.isDirectory()) await walk(path, depth + 1);
      else if (entry.isFile()) await read(path);
      else throw new Error(`${path} is neither a file nor a folder (links are not followed)`);
    }
  };
  await walk("", 1);
  return files;
}

export interface FolderChanges {
  readonly written: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Makes the folder contain `files`: writes those that differ, and removes existing ones that are `ours` but not among
 * them. Leaves everything else alone, and never writes through a link.
 */
export async function writeFolder(
  folder: string,
  files: TextFiles,
  ours: (path: string) => boolean,
): Promise<FolderChanges> {
  for (const path of files.keys()) {
    if (!isPlain(path)) throw new Error(`${JSON.stringify(path)} is not a path within the folder`);
  }
  await mkdir(folder, { recursive: true });
  const there = await readFolder(folder);
  const written: string[] = [];
  for (const [path, text] of files) {
    if (there.get(path) === text) continue;
    await mkdir(join(folder, dirname(path)), { recursive: true });
    await refuseLinks(folder, dirname(path));
    // Renamed into place, so that there is never half a file, and an existing link is replaced rather than followed.
    const beside = join(folder, dirname(path), `.${crypto.randomUUID()}`);
    await writeFile(beside, text, { flag: "wx" });
    await rename(beside, join(folder, path));
    written.push(path);
  }
  const removed = [...there.keys()].filter((path) => !files.has(path) && ours(path));
  for (const path of removed) await rm(join(folder, path));
  return { written, removed };
}

/** Reads one text file. */
export async function readTextFile(path: string, maxBytes: number = standard.maxFileBytes): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (!found || found.isDirectory()) throw new Error(`there is no file ${path}`);
  if (found.size > maxBytes) throw new Error(`${path} has more than ${maxBytes} bytes`);
  return utf8(path, await readFile(path));
}

function isPlain(path: string): boolean {
  const parts = path.split("/");
  return parts.every((part) => part !== "" && part.length <= 255 && !part.startsWith(".") && !/[\\\0]/.test(part));
}

async function refuseLinks(folder: string, within: string): Promise<void> {
  if ((await realpath(join(folder, within))) !== join(await realpath(folder), within))
    throw new Error(`${join(folder, within)} is a link`);
}

function utf8(path: string, bytes: Uint8Array): string {
  try {
    // Keeps a byte order mark, so that writing the file back changes nothing.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new Error(`${path} is not UTF-8 text`, { cause });
  }
}
