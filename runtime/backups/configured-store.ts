import type { Config } from "../config.ts";
import type { BackupStore } from "./backup-store.ts";
import { createFolderStore } from "./folder-store.ts";

/** Where the settings say that backups are kept; undefined = nowhere. */
export function configuredStore({ backupDir }: Pick<Config, "backupDir">): BackupStore | undefined {
  return backupDir === "" ? undefined : createFolderStore(backupDir);
}
