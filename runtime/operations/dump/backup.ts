/**
 * Backs up a whole database, embedded or not, to one file, and restores it. The binary contains no pg_dump: this copies
 * a consistent snapshot of every table in the schema `public` while others go on writing.
 *
 *     await backup(sql, "monday.backup", log);
 *     await restore(sql, "monday.backup", log);
 *
 * The file does not contain table definitions, which migrations create. So a backup is restored with the migrations it
 * was made with; the database can then be upgraded.
 */
import { isDeepStrictEqual } from "node:util";
import { pipeline } from "node:stream/promises";
import manifest from "../../../package.json" with { type: "json" };
import { jsonFrame, parseHeader, parseJson, packed, readFrames } from "./backup-file.ts";
import type { Frame, Header, BackupSource } from "./backup-file.ts";
import { writeWhole } from "../../system/whole-folder.ts";
import {
  databaseTables,
  foreignKeys,
  loadOrder,
  migrationsOf,
  quoted,
  quotedName,
  sequences,
} from "./backup-schema.ts";
import type { ForeignKey, MigrationRow, Table } from "./backup-schema.ts";
import { fileFrames, filesToCheck, filesToRestore, hasFiles, type FileFolders } from "./backup-files.ts";
import { createFiles } from "../../files/files.ts";
import { roomIn } from "../../system/room.ts";
import { transaction, withoutTimeouts, type Sql, type Tx } from "../../db/db.ts";
import type { Log } from "../../system/log.ts";

export interface RestoreOptions {
  /** Replaces existing data. */
  force?: boolean;
  /** Where files go that the backup has. */
  files?: FileFolders;
  /** Reads and compares the files of the backup, and writes none. */
  checkFilesOnly?: boolean;
  /** Of a sealed backup. */
  key?: string;
}

const noFiles: FileFolders = { folders: [], open: () => createFiles("", roomIn("", 0)) };

const batchBytes = 64 * 1024;

/** Where the bytes of a backup go: a file's path, or elsewhere. */
export type BackupSink = string | ((chunks: AsyncIterable<Uint8Array>) => Promise<void>);

/** Writes a consistent snapshot of every row of the database, and the files of plugins, to `to`; `key` seals it. */
export async function backup(
  sql: Sql,
  to: BackupSink,
  log: Log,
  files: FileFolders = noFiles,
  key = "",
): Promise<void> {
  await sql.begin("isolation level repeatable read read only", async (tx) => {
    await withoutTimeouts(tx);
    const tables = await databaseTables(tx);
    const { ordered } = loadOrder(tables, await foreignKeys(tx));
    const header: Header = {
      format: (await hasFiles(files)) ? 2 : 1,
      application: manifest.version,
      createdAt: new Date().toISOString(),
      migrations: await migrationsOf(tx),
      tables: ordered,
      // Sequences have no snapshots; read after the snapshot, they are at least as high as any number in it.
      sequences: await sequences(tx),
    };
    const bytes = packed(framesOf(tx, header, files, log), key);
    await (typeof to === "string" ? writeWhole(to, bytes) : to(bytes));
  });
}

async function* framesOf(tx: Tx, header: Header, files: FileFolders, log: Log): AsyncGenerator<Frame> {
  yield jsonFrame("H", header);
  for (const table of header.tables) {
    yield jsonFrame("T", { name: table.name });
    let rows = 0;
    const where = table.unlogged ? " where false" : "";
    const copy = `copy (select ${columnsOf(table)} from ${quoted(table.name)}${where}) to stdout`;
    for await (const bytes of inBatches(await tx.unsafe(copy).readable())) {
      rows += countRows(bytes);
      yield { letter: "D", bytes };
    }
    yield jsonFrame("E", { rows });
    log.info("backed up", { table: table.name, rows });
  }
  // Without files the format has no frames for them, and older versions can read it.
  if (header.format === 2) yield* fileFrames(files);
}

/** PostgreSQL sends each row separately; a frame for each would cost more than the row. */
async function* inBatches(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    waiting.push(chunk);
    bytes += chunk.length;
    if (bytes < batchBytes) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}

/** The migrations of the backed-up database, so that an empty one can be brought to the same state first. */
export async function backupMigrations(from: BackupSource, key = ""): Promise<MigrationRow[]> {
  const frames = readFrames(from, key);
  const { migrations } = await headerOf(frames);
  await frames.return(undefined);
  return migrations;
}

/**
 * Loads a backup into a migrated database that is still empty (`force` replaces existing data). All or nothing: a
 * damaged file, or a row that does not fit, leaves the database as it was. Returns how many rows each table has got.
 */
export async function restore(
  sql: Sql,
  from: BackupSource,
  log: Log,
  options: RestoreOptions = {},
): Promise<ReadonlyMap<string, number>> {
  const frames = readFrames(from, options.key);
  const files = options.checkFilesOnly ? filesToCheck() : filesToRestore(options.files ?? noFiles);
  const loaded = new Map<string, number>();
  try {
    const header = await headerOf(frames);
    await transaction(sql, async (tx) => {
      await withoutTimeouts(tx);
      sameMigrations(header.migrations, await migrationsOf(tx));
      const tables = await databaseTables(tx);
      sameTables(header.tables, tables);
      await makeRoom(tx, tables, options);
      const after = await relaxed(tx, tables);
      for (const table of header.tables) loaded.set(table.name, await load(tx, table, frames, log));
      // The checksum comes last; only then is it certain that nothing is missing.
      for (let next = await frames.next(); !next.done; next = await frames.next()) await files.take(next.value, frames);
      await after();
      for (const { name, lastValue, isCalled } of header.sequences) {
        await tx`select setval(${quoted(name)}::text::regclass, ${lastValue}::text::bigint, ${isCalled})`;
      }
      // Before the commit: no row may name a file that is not there.
      await files.keep();
    });
    log.info("restored", { from: header.createdAt, application: header.application, tables: header.tables.length });
    return loaded;
  } finally {
    await files.drop();
    await frames.return(undefined);
  }
}

async function headerOf(frames: AsyncGenerator<Frame>): Promise<Header> {
  const first = await frames.next();
  if (first.done) throw new Error("the backup is empty");
  return parseHeader(first.value);
}

function sameMigrations(inFile: readonly MigrationRow[], here: readonly MigrationRow[]): void {
  const ours = new Set(here.map(identity));
  const theirs = new Set(inFile.map(identity));
  const unknown = inFile.find((row) => !ours.has(identity(row)));
  if (unknown)
    throw new Error(
      `the backup has migration ${unknown.plugin}/${unknown.name}, which this database does not have: restore it with the version that made it, or a newer one`,
    );
  const missing = here.find((row) => !theirs.has(identity(row)));
  if (missing)
    throw new Error(
      `the backup is older than migration ${missing.plugin}/${missing.name} of this database: restore it with the version that made it, then upgrade`,
    );
}

function identity({ plugin, name, checksum }: MigrationRow): string {
  return `${plugin}/${name} ${checksum}`;
}

function sameTables(inFile: readonly Table[], here: readonly Table[]): void {
  if (isDeepStrictEqual(shape(inFile), shape(here))) return;
  throw new Error("the tables of the backup are not those of this database, though their migrations are");
}

/** Ignores column order, which differs between an altered table and one created in its final form. */
function shape(tables: readonly Table[]): Set<string> {
  return new Set(tables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column}`)));
}

async function makeRoom(tx: Tx, tables: readonly Table[], { force = false }: RestoreOptions): Promise<void> {
  if (tables.length === 0) return;
  // Locks all tables first, so that nobody writes between the check and the load.
  await tx.unsafe(`lock table ${tables.map(({ name }) => quoted(name)).join(", ")} in access exclusive mode`);
  // Rows that a migration wrote have its transaction, and do not make a database used.
  const written = "xmin::text not in (select xmin::text from public.migrations)";
  const kept = tables.filter(({ unlogged }) => !unlogged);
  for (const { name } of force ? [] : kept) {
    const [row] = await tx.unsafe(`select 1 from ${quoted(name)} where ${written} limit 1`);
    if (row)
      throw new Error(
        `the database is not empty (table ${name} has rows): restore into an empty one, or say --force to replace what is there`,
      );
  }
  await tx.unsafe(`truncate ${tables.map(({ name }) => quoted(name)).join(", ")}`);
}

/**
 * Disables our triggers while rows are loaded, because the file also contains what they wrote, and defers the foreign
 * keys of cycles to the end. Neither needs more rights than owning the tables.
 */
async function relaxed(tx: Tx, tables: readonly Table[]): Promise<() => Promise<void>> {
  const { circular } = loadOrder(tables, await foreignKeys(tx));
  const alter = async (key: ForeignKey, how: string) =>
    tx.unsafe(`alter table ${quoted(key.table)} alter constraint ${quotedName(key.name)} ${how}`);
  for (const { name } of tables) await tx.unsafe(`alter table ${quoted(name)} disable trigger user`);
  for (const key of circular) if (!key.deferrable) await alter(key, "deferrable");
  await tx`set constraints all deferred`;
  return async () => {
    await tx`set constraints all immediate`;
    for (const key of circular) if (!key.deferrable) await alter(key, "not deferrable");
    for (const { name } of tables) await tx.unsafe(`alter table ${quoted(name)} enable trigger user`);
  };
}

async function load(tx: Tx, table: Table, frames: AsyncGenerator<Frame>, log: Log): Promise<number> {
  const begin = await frames.next();
  if (begin.done || begin.value.letter !== "T") throw new Error(`the backup lacks table ${table.name}`);
  let loaded = 0;
  let expected: unknown;
  const rows = async function* () {
    for (let next = await frames.next(); !next.done; next = await frames.next()) {
      const { letter, bytes } = next.value;
      if (letter !== "D") {
        expected = parseJson(bytes);
        break;
      }
      loaded += countRows(bytes);
      yield bytes;
    }
  };
  await pipeline(rows, await tx.unsafe(`copy ${quoted(table.name)} (${columnsOf(table)}) from stdin`).writable());
  if (!isDeepStrictEqual(expected, { rows: loaded })) throw new Error(`the backup lacks rows of table ${table.name}`);
  log.info("restored", { table: table.name, rows: loaded });
  return loaded;
}

function columnsOf({ columns }: Table): string {
  return columns.map(quotedName).join(", ");
}

/** In COPY's text format every line feed ends a row. */
function countRows(bytes: Uint8Array): number {
  let rows = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) rows++;
  return rows;
}
