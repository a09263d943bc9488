/**
 * One small text of each plugin in DATA_DIR: whoever writes to the database cannot reach it. A restore removes them, as
 * they tell of what was there before.
 */
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeWhole } from "../system/whole-file.ts";

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
