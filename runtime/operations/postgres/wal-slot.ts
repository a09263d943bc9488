/**
 * The replication slot that keeps WAL until it is archived (backups/wal-archive.ts). It is named after the chain of
 * archived WAL, and its position is how far that goes: so PostgreSQL itself says what is still to be archived, and a
 * copy of the cluster, which has no slots, begins a chain of its own.
 */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

export const slotPrefix = "corestead_wal_";

/** Beyond that much WAL PostgreSQL gives the slot up, rather than fill the disk. */
const keptMegabytes = 1024;

/** Settings of a server whose WAL is archived. */
export const walSettings = ["wal_level=replica", `max_slot_wal_keep_size=${keptMegabytes}MB`] as const;

/** Without archiving less WAL is written, and then PostgreSQL does not start with a slot. Only while it is stopped. */
export async function dropSlots(cluster: string): Promise<void> {
  const folder = join(cluster, "pg_replslot");
  for (const name of await readdir(folder))
    if (name.startsWith(slotPrefix)) await rm(join(folder, name), { recursive: true });
}
