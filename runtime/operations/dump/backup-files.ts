/**
 * The files of plugins (files/files.ts) in a backup: after the tables, for each file a frame F with its folder and hash,
 * its bytes in frames D, and a frame E. A backup made without files has the older format, which has no such frames.
 */
import { createHash } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Draft, Files } from "../../files/files.ts";
import { type Frame, jsonFrame, parseJson } from "./backup-file.ts";

/** Folders of plugins' files. */
export interface FileFolders {
  readonly folders: readonly string[];
  readonly open: (folder: string) => Files;
}

const FileBegin = Type.Object({ folder: Type.String(), hash: Type.String({ pattern: "^[0-9a-f]{64}$" }) });

export async function hasFiles({ open, folders }: FileFolders): Promise<boolean> {
  for (const folder of folders) for await (const _ of open(folder).list()) return true;
  return false;
}

/** A content that is removed meanwhile is left out: no row of the snapshot has named it for a day. */
export async function* fileFrames({ open, folders }: FileFolders): AsyncGenerator<Frame> {
  for (const folder of folders) {
    const files = open(folder);
    for await (const hash of files.list()) {
      const content = await files.find(hash);
      if (!content) continue;
      yield jsonFrame("F", { folder, hash });
      for await (const bytes of content.stream()) yield { letter: "D", bytes };
      yield jsonFrame("E", {});
    }
  }
}

/** Files of a backup, on disk but not in their place before `keep`: nothing changes if the rest is damaged. */
export interface FilesToRestore {
  /** Reads one file, whose first frame is given. */
  take(begin: Frame, frames: AsyncGenerator<Frame>): Promise<void>;
  keep(): Promise<number>;
  drop(): Promise<void>;
}

/** Compares each file with its hash, and writes nothing. */
export function filesToCheck(): FilesToRestore {
  let checked = 0;
  return {
    async take(begin, frames) {
      const { hash } = parseBegin(begin);
      const hasher = createHash("sha256");
      for await (const bytes of contentOf(frames)) hasher.update(bytes);
      mustBe(hash, hasher.digest("hex"));
      checked++;
    },
    keep: async () => checked,
    drop: async () => {},
  };
}

function parseBegin({ letter, bytes }: Frame): Static<typeof FileBegin> {
  const begin: unknown = letter === "F" ? parseJson(bytes) : undefined;
  if (!Value.Check(FileBegin, begin)) throw new Error("the backup holds more than it says");
  return begin;
}

async function* contentOf(frames: AsyncGenerator<Frame>): AsyncGenerator<Uint8Array> {
  for (let next = await frames.next(); !next.done && next.value.letter === "D"; next = await frames.next())
    yield next.value.bytes;
}

function mustBe(hash: string, found: string): void {
  if (found !== hash) throw new Error(`the backup lacks bytes of the file ${hash}`);
}

export function filesToRestore({ open, folders }: FileFolders): FilesToRestore {
  const drafts: Draft[] = [];
  const filesOf = (folder: string): Files => {
    // The name becomes a path.
    if (!folders.includes(folder)) throw new Error(`the backup has files of "${folder}", which no plugin here has`);
    return open(folder);
  };
  return {
    async take(begin, frames) {
      const { folder, hash } = parseBegin(begin);
      const draft = await filesOf(folder).begin();
      drafts.push(draft);
      for await (const bytes of contentOf(frames)) await draft.write(bytes);
      mustBe(hash, (await draft.end()).hash);
    },
    async keep() {
      for (const draft of drafts) await draft.keep();
      return drafts.length;
    },
    async drop() {
      for (const draft of drafts) await draft.drop();
    },
  };
}
