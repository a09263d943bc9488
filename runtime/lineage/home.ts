/**
 * Where a database lives: what a copy of it does not share, and what stays as it is when a machine or a container starts
 * again and a volume is mounted anew.
 */
import { readFile, realpath, stat, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { Type, type Static } from "@sinclair/typebox";
import { writeWhole } from "../system/whole-folder.ts";

/** Of an external server only `database` is known: the rest is "". */
export const Home = Type.Object({
  /** PostgreSQL's identifier of its cluster, and the database's within it. */
  database: Type.String(),
  /** Which file of the embedded cluster it is: no copy has the same. */
  file: Type.String(),
  path: Type.String(),
  /** What is mounted there, such as the folder of a container's volume. */
  mount: Type.String(),
  machine: Type.String(),
});
export type Home = Static<typeof Home>;

/**
 * A file system of the network may number its files anew at each mount, and a folder that is moved keeps them: only
 * another file in another place is a copy.
 */
export function isSameHome(before: Home, now: Home): boolean {
  if (before.database !== now.database) return false;
  if (before.file === "" || now.file === "" || before.file === now.file) return true;
  return before.path === now.path && before.mount === now.mount && before.machine === now.machine;
}

/** Of the embedded cluster in `dataDir`, if it is there. */
export async function folderFacts(dataDir: string): Promise<Omit<Home, "database">> {
  // Written once, by initdb.
  const found = await stat(join(dataDir, "postgres", "PG_VERSION")).catch(() => undefined);
  if (!found) return { file: "", path: "", mount: "", machine: "" };
  const path = await realpath(dataDir);
  const mounts = await readText("/proc/self/mountinfo");
  const machine = (await readText("/etc/machine-id")).trim();
  return { file: `${found.ino} ${Math.trunc(found.birthtimeMs)}`, path, mount: mountedAt(path, mounts), machine };
}

/** The folder of its file system that is mounted where `path` is, from /proc/self/mountinfo. Pure. */
export function mountedAt(path: string, mountinfo: string): string {
  let [longest, found] = ["", ""];
  for (const line of mountinfo.split("\n")) {
    const [, , , root = "", escaped = ""] = line.split(" ");
    const point = unescaped(escaped);
    const isAbove = point === "/" || path === point || path.startsWith(`${point}/`);
    // Of two at one place, the later one covers the other.
    if (point !== "" && isAbove && point.length >= longest.length) [longest, found] = [point, unescaped(root)];
  }
  return found;
}

function unescaped(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

async function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}

/**
 * One small text of each plugin in DATA_DIR: whoever writes to the database cannot reach it. A restore removes them, as
 * they tell of what was there before.
 */
export interface Anchor {
  read(): Promise<string | undefined>;
  /** It is on disk when this resolves. */
  write(text: string): Promise<void>;
}

export function openAnchor(dataDir: string, plugin: string): Anchor {
  const folder = folderIn(dataDir);
  const file = join(folder, plugin);
  return {
    read: () =>
      readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      }),
    async write(text) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeWhole(file, oneChunk(text));
    },
  };
}

export async function dropAnchors(dataDir: string): Promise<void> {
  await rm(folderIn(dataDir), { recursive: true, force: true });
}

function folderIn(dataDir: string): string {
  return join(dataDir, "anchors");
}

async function* oneChunk(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
