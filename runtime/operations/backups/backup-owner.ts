/**
 * Whose BACKUP_DIR it is: a file there names the lineage. Another installation's is refused, as two would remove each
 * other's backups; `corestead serve --adopt` takes it over.
 */
import { codeOf } from "../../base/values.ts";
import type { Queryable } from "../../db/db.ts";
import { S3Fault } from "../s3/retry.ts";
import type { Lineage } from "../../lineage/lineage.ts";
import { lineageIn, type BackupPlaces, type BackupStore } from "./backup-store.ts";
import { runsByFile } from "./run-store.ts";
import { lineageOf, parseWalName } from "./wal-names.ts";
import { chainNames } from "./wal-store.ts";

const ownerFile = "corestead.lineage";

/** Rejects if it is another's. One that nobody owns becomes ours. */
export async function mustOwn({ backups, wal }: BackupPlaces, sql: Queryable, { id }: Lineage): Promise<void> {
  const owner = await ownerOf(backups);
  if (owner === id) return;
  if (owner !== undefined) throw new Error(foreign(backups.place, `of the lineage ${owner}, and this one is ${id}`));
  const names = [...(await backups.list()), ...(await wal.list())].map(({ name }) => name);
  if (names.length > 0 && !(await knowsOneOf(sql, names, id)))
    throw new Error(foreign(backups.place, "whose backups this database does not know"));
  await own(backups, id);
}

export async function own(backups: BackupStore, id: string): Promise<void> {
  await backups.write(ownerFile, oneChunk(`${id}\n`));
}

/** Undefined if nobody has said so. */
export async function ownerOf(backups: BackupStore): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  try {
    for await (const part of backups.read(ownerFile)) parts.push(part);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  return Buffer.concat(parts).toString().trim();
}

/** Whether it is this lineage's own. What has no lineage in its name was made before there were any. */
export function isOwnBackup(name: string, { id, isFirst }: Lineage): boolean {
  const lineage = namedLineage(name);
  return lineage === undefined ? isFirst : lineage === id;
}

function namedLineage(name: string): string | undefined {
  const file = parseWalName(name);
  return file ? lineageOf(file) : lineageIn(name);
}

async function knowsOneOf(sql: Queryable, names: readonly string[], id: string): Promise<boolean> {
  const [runs, chains] = [await runsByFile(sql), await chainNames(sql)];
  return names.some((name) => {
    const chain = parseWalName(name)?.chain;
    return namedLineage(name) === id || runs.has(name) || (chain !== undefined && chains.includes(chain));
  });
}

function foreign(place: string, whose: string): string {
  return `${place} belongs to another installation, ${whose}: set another BACKUP_DIR, or take it over with \`corestead serve --adopt\``;
}

function isMissing(error: unknown): boolean {
  if (error instanceof S3Fault) return error.status === 404;
  return codeOf(error) === "ENOENT";
}

async function* oneChunk(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
