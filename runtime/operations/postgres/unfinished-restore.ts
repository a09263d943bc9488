/**
 * A note in DATA_DIR for as long as a restore is under way. A start that finds it would make a new, empty installation, or
 * serve what the restore was to replace: the restore was killed, or failed with nothing there before it.
 */
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** `what` is for people: the file, or the moment. */
export async function noteRestore(dataDir: string, what: string): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  await writeFile(noteIn(dataDir), `${what}\n`, { flush: true });
}

export async function forgetRestore(dataDir: string): Promise<void> {
  await rm(noteIn(dataDir), { force: true });
}

export function refuseUnfinished(dataDir: string): void {
  const note = noteIn(dataDir);
  if (!existsSync(note)) return;
  throw new Error(
    `a restore into ${dataDir} was begun and did not finish: say \`corestead restore\` again, or remove ${note} to start with what is there`,
  );
}

function noteIn(dataDir: string): string {
  return join(dataDir, "restore.unfinished");
}
