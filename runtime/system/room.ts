/** The room that is left on the disk of DATA_DIR. behaviour B.3.22. */
import { codeOf } from "../base/values.ts";
import { stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../settings/config.ts";
import { HttpError } from "../base/errors.ts";

export interface DiskSpace {
  /** Whether less is free than the reserve for PostgreSQL, which stops on a full disk. */
  isShort(): Promise<boolean>;
  /** Throws the 503 of a full disk if space is short; for large writes. */
  mustHave(): Promise<void>;
}

type DiskSettings = Pick<Config, "dataDir" | "diskReserveBytes">;

/** With less than this PostgreSQL can write no further segment of its log. */
const leastForDatabase = 16_777_216;

export function roomIn(folder: string, reserveBytes: number): DiskSpace {
  const isShort = async () => (await freeIn(folder)) < reserveBytes;
  return {
    isShort,
    async mustHave() {
      if (await isShort()) throw diskFull();
    },
  };
}

/** For the database: another server has a disk of its own, of which nothing is known here. */
export function roomOfDatabase({ databaseUrl, dataDir, diskReserveBytes }: Config): DiskSpace {
  return databaseUrl === ""
    ? roomIn(dataDir, diskReserveBytes)
    : { isShort: async () => false, mustHave: async () => {} };
}

/** `full`: PostgreSQL, if it is here, takes no more writes. */
export async function stateOfDisk({ dataDir, diskReserveBytes }: DiskSettings): Promise<"ok" | "short" | "full"> {
  const free = await freeIn(dataDir);
  if (free < Math.min(leastForDatabase, diskReserveBytes)) return "full";
  return free < diskReserveBytes ? "short" : "ok";
}

/** Bytes that this user may still write. Of a folder that is not there or cannot be looked at: as much as one likes. */
export async function freeIn(folder: string): Promise<number> {
  const found = await statfs(folder).catch(() => undefined);
  return found ? found.bavail * found.bsize : Number.POSITIVE_INFINITY;
}

/** The nearest folder above that is there. */
export async function existing(path: string): Promise<string> {
  const isThere = (await stat(path).catch(() => undefined)) !== undefined;
  const parent = join(path, "..");
  return isThere || parent === path ? path : existing(parent);
}

export function diskFull(cause?: unknown): HttpError {
  const refusal = new HttpError(
    503,
    { error: "no space left in DATA_DIR: nothing was stored" },
    { "retry-after": "60" },
  );
  return Object.assign(refusal, cause !== undefined && { cause });
}

/** Whether that is what an error of the system, or of PostgreSQL on the same disk, says. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ["ENOSPC", "EDQUOT", "53100"].includes(codeOf(error)) || error.message.includes("No space left on device");
}
