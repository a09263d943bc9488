/**
 * Files of plugins, under DATA_DIR or in a bucket (bucket-files.ts), named by the SHA-256 of their content, so that no content is stored twice and none
 * ever changes. Several processes may share the folder: a file appears under its name only when it is complete and on
 * disk.
 *
 *     const draft = await ctx.files("media").begin();
 *     for await (const bytes of body) await draft.write(bytes);
 *     const { hash, size } = await draft.end();
 *     await draft.keep(); // or draft.drop()
 */
import { createHash } from "node:crypto";
import { mkdir, open, readdir, rename, rm, stat, unlink, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { host } from "#host";
import { sync } from "../system/whole-folder.ts";
import { diskFull, isDiskFull, type DiskSpace } from "../system/room.ts";

export interface Files {
  /** Begins a file that has no name yet. */
  begin(): Promise<Draft>;
  /** Begins or goes on with a file that arrives in several requests, on this machine; `name` is a UUID. */
  resume(name: string): Promise<Part>;
  /** Undefined if there is no such content. */
  find(hash: string): Promise<Content | undefined>;
  remove(hash: string): Promise<void>;
  /** Whether the disk has so little room that what is no longer used should go now. */
  isShort(): Promise<boolean>;
  /** The hashes of all contents. */
  list(): AsyncGenerator<string>;
  /** Removes drafts that nobody has written to since then: their process has ended. */
  sweep(before: Date): Promise<void>;
}

export interface Content {
  readonly size: number;
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  stream(): ReadableStream<Uint8Array>;
  /** The bytes from the first to before the last, for an answer of this type. */
  part(from: number, to: number, type: string): Promise<Blob | ReadableStream<Uint8Array>>;
}

export interface Draft {
  write(bytes: Uint8Array): Promise<void>;
  /** No more bytes: they are on disk when it resolves. */
  end(): Promise<{ readonly hash: string; readonly size: number }>;
  /** The bytes written so far. */
  readonly content: Blob;
  /** Makes it durable under its hash; the same content that is there already is replaced. */
  keep(): Promise<void>;
  /** Forgets it; does nothing once it is kept. */
  drop(): Promise<void>;
}

/** A draft that outlives the process. */
export interface Part {
  /** How much is here. */
  size(): number;
  write(bytes: Uint8Array): Promise<void>;
  /** Takes back what is beyond this size. */
  cut(size: number): Promise<void>;
  /** Resolves once everything written is on disk. */
  close(): Promise<void>;
  /** The whole as a draft that has ended. Reads it once more for its hash. */
  finish(): Promise<Draft>;
  /** Forgets it. */
  drop(): Promise<void>;
}

/** Read at once for a hash. */
const hashedBytes = 256_000;
const hashPattern = /^[0-9a-f]{64}$/;
const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function isHash(text: string): boolean {
  return hashPattern.test(text);
}

/** `folder` is made with the first draft. */
export function createFiles(folder: string, room: DiskSpace): Files {
  const drafts = join(folder, "drafts");
  const pathOf = (hash: string): string => {
    // The name becomes a path.
    if (!isHash(hash)) throw new Error("not a SHA-256");
    return join(folder, hash.slice(0, 2), hash.slice(2, 4), hash);
  };
  return {
    begin: () => told(() => beginDraft(drafts, pathOf, keepingRoom(room))),
    resume: (name) => told(() => resumePart(drafts, name, pathOf, keepingRoom(room))),
    isShort: room.isShort,
    async find(hash) {
      const path = pathOf(hash);
      return (await exists(path)) ? contentOf(host.file(path)) : undefined;
    },
    async remove(hash) {
      await rm(pathOf(hash), { force: true });
    },
    async *list() {
      for (const path of await readdir(folder, { recursive: true }).catch(() => [])) {
        // A folder in this one is another store.
        const name = basename(path);
        if (isHash(name) && join(folder, path) === pathOf(name)) yield name;
      }
    },
    async sweep(before) {
      const names = await readdir(drafts).catch(() => []);
      for (const name of names) {
        const path = join(drafts, name);
        const found = await stat(path).catch(() => undefined);
        if (found && found.mtime < before) await rm(path, { force: true });
      }
    },
  };
}

function contentOf(file: Blob): Content {
  return {
    size: file.size,
    bytes: () => file.bytes(),
    stream: () => file.stream(),
    // A slice also of the whole, because Bun would answer ranges of a whole file by itself, whatever If-Range says.
    part: (from, to, type) => host.bodyOf(file.slice(from, to, type)),
  };
}

async function beginDraft(drafts: string, pathOf: (hash: string) => string, fits: Fits): Promise<Draft> {
  await fits(0);
  await mkdir(drafts, { recursive: true, mode: 0o700 });
  const path = join(drafts, crypto.randomUUID());
  const file = await open(path, "wx+", 0o600);
  const hasher = createHash("sha256");
  let size = 0;
  let hash = "";
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (isOpen) await file.close();
    isOpen = false;
  };
  return {
    content: host.file(path),
    async write(bytes) {
      await fits(bytes.length);
      hasher.update(bytes);
      size += bytes.length;
      await told(() => writeAll(file, bytes));
    },
    async end() {
      hash ||= hasher.digest("hex");
      if (isOpen) await told(() => file.sync());
      await close();
      return { hash, size };
    },
    keep: () => keepAs(path, pathOf(hash)),
    async drop() {
      await close();
      await unlink(path).catch(() => {});
    },
  };
}

async function hashOf(path: string): Promise<string> {
  const hasher = createHash("sha256");
  // One buffer for the whole file: a stream leaves each piece to the garbage collector.
  const buffer = new Uint8Array(hashedBytes);
  const file = await open(path);
  try {
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, hashedBytes);
      if (bytesRead === 0) return hasher.digest("hex");
      hasher.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

async function resumePart(drafts: string, name: string, pathOf: (hash: string) => string, fits: Fits): Promise<Part> {
  // The name becomes a path.
  if (!uuidPattern.test(name)) throw new Error("not a UUID");
  await mkdir(drafts, { recursive: true, mode: 0o700 });
  const path = join(drafts, name);
  const file = await open(path, "a", 0o600);
  let { size } = await file.stat();
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    try {
      await told(() => file.sync());
    } finally {
      await file.close();
    }
  };
  const drop = async (): Promise<void> => {
    await close();
    await unlink(path).catch(() => {});
  };
  return {
    size: () => size,
    async write(bytes) {
      await fits(bytes.length);
      await told(() => file.appendFile(bytes));
      size += bytes.length;
    },
    async cut(to) {
      await file.truncate(to);
      size = to;
    },
    close,
    drop,
    async finish() {
      await close();
      const hash = await hashOf(path);
      const write = () => Promise.reject(new Error("the file has ended"));
      return {
        content: host.file(path),
        write,
        end: async () => ({ hash, size }),
        keep: () => keepAs(path, pathOf(hash)),
        drop,
      };
    },
  };
}

async function keepAs(path: string, target: string): Promise<void> {
  await told(async () => {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await rename(path, target);
    await sync(dirname(target));
  });
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten;
}

type Fits = (bytes: number) => Promise<void>;

/** Looks at the disk before the first byte, and then every few megabytes. */
function keepingRoom(room: DiskSpace): Fits {
  let unseen = lookEveryBytes;
  return async (bytes) => {
    unseen += bytes;
    if (unseen < lookEveryBytes) return;
    unseen = 0;
    await room.mustHave();
  };
}

const lookEveryBytes = 4_000_000;

/** 503 if the disk is full; any other failure stays what it is. */
async function told<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    throw isDiskFull(cause) ? diskFull(cause) : cause;
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
