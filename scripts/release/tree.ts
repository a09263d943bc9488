/** Files as a package holds them, and a tar of them whose bytes depend on nothing else. */
import { chmod, cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface Entry {
  /** Without a slash before it: `usr/bin/corestead`. */
  readonly path: string;
  /** A file that is copied, a text, a link's target; undefined: an empty folder. */
  readonly from?: string;
  readonly text?: string;
  readonly link?: string;
  /** Default: 0644, of folders 0755. */
  readonly mode?: number;
}

export interface TarOptions {
  /** Seconds since 1970, of every file. */
  readonly time: number;
  /** Owner of every file. Default: root. */
  readonly owner?: number;
  /** Only these paths, without the folders above them. */
  readonly only?: readonly string[];
}

/** A tar in ustar's successor of GNU: sorted, one time and one owner for all. Needs GNU tar. */
export async function tarOf(entries: readonly Entry[], options: TarOptions): Promise<Uint8Array<ArrayBuffer>> {
  const folder = await mkdtemp(join(tmpdir(), "corestead-release-"));
  try {
    for (const entry of entries) await lay(folder, entry);
    return await tarOfFolder(folder, options);
  } finally {
    await rm(folder, { recursive: true });
  }
}

export async function tarOfFolder(
  folder: string,
  { time, owner = 0, only = ["."] }: TarOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  // A new temporary folder is its maker's alone; here it stands for the root of a file system.
  await chmod(folder, 0o755);
  const same = ["--sort=name", `--mtime=@${time}`, `--owner=${owner}`, `--group=${owner}`, "--numeric-owner"];
  const tar = Bun.spawn(["tar", "-cf", "-", "--format=gnu", ...same, "-C", folder, ...only], { stderr: "inherit" });
  const bytes = await new Response(tar.stdout).bytes();
  if ((await tar.exited) !== 0) throw new Error(`${folder} could not be packed`);
  return bytes;
}

/** Reproducible: without the time and the system that made it. */
export function gzipped(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const packed = Bun.gzipSync(bytes, { level: 9 });
  packed.fill(0, 4, 8);
  packed[9] = 255;
  return packed;
}

async function lay(folder: string, { path, from, text, link, mode }: Entry): Promise<void> {
  const place = join(folder, path);
  await mkdir((from ?? text ?? link) ? dirname(place) : place, { recursive: true, mode: 0o755 });
  if (from !== undefined) await cp(from, place);
  else if (text !== undefined) await Bun.write(place, text);
  else if (link !== undefined) return symlink(link, place);
  const isFile = from !== undefined || text !== undefined;
  await chmod(place, mode ?? (isFile ? 0o644 : 0o755));
}
