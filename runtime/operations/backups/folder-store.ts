/** BACKUP_DIR. */
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { nameOfPartial, writeWhole } from "../../system/whole-file.ts";
import { timeOf } from "./backup-name.ts";
import type { BackupStore, StoredBackup } from "./backup-store.ts";

export function createFolderStore(folder: string, timeIn = timeOf): BackupStore {
  return {
    place: folder,
    async list() {
      const found: StoredBackup[] = [];
      for (const name of await readdir(folder).catch(ifMissing)) {
        const at = timeIn(name);
        const facts = at && (await stat(join(folder, name)).catch(() => undefined));
        if (at && facts?.isFile()) found.push({ name, at, bytes: facts.size });
      }
      return found.toSorted((a, b) => b.at.getTime() - a.at.getTime());
    },
    async write(name, chunks) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeWhole(join(folder, name), chunks);
      await syncFolder(folder);
    },
    read: (name) => createReadStream(join(folder, name)),
    async has(name) {
      return (await stat(join(folder, name)).catch(() => undefined))?.isFile() === true;
    },
    remove: (name) => rm(join(folder, name), { force: true }),
    async tidy() {
      for (const name of await readdir(folder).catch(ifMissing))
        if (timeIn(nameOfPartial(name) ?? "")) await rm(join(folder, name), { force: true });
    },
  };
}

function ifMissing(error: unknown): string[] {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
  throw error;
}

/** A renamed file is certain to have its new name only when its folder is on disk. */
async function syncFolder(folder: string): Promise<void> {
  const opened = await open(folder, "r");
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}
