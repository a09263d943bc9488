import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { transaction, withoutTimeouts, type Sql, type Tx } from "./db.ts";
import { codeOf } from "../base/values.ts";
import type { Log } from "../system/log.ts";

/** A numbered SQL file, imported as text. Never edited once landed. */
export interface Migration {
  /** e.g. `001_notes` */
  readonly name: string;
  readonly sql: string;
}

export interface MigrationSet {
  readonly plugin: string;
  readonly migrations: readonly Migration[];
}

/** An arbitrary number for our advisory lock: one process migrates while the others wait. */
const migrationLock = 7_246_139_001;

/**
 * Less than PostgreSQL's `deadlock_timeout` of a second: where an older server's write and a migration wait for each
 * other, the migration gives way and begins again. Only a write that has waited for a second already may still fail.
 */
const lockTimeoutMs = 100;
const allLocksWithinMs = 800;
/**
 * Whoever waits for the first lock holds none, yet all who come after wait behind: an older server may so use up the
 * connections that the holder of that lock still needs.
 */
const firstLockTimeoutMs = 2_000;
/** After so long it waits for the locks like everybody, rather than never to get them. */
const givesWayForMs = 60_000;
const gaveWay: ReadonlySet<unknown> = new Set(["55P03", "40P01"]); // lock_not_available, deadlock_detected

/** The SQLSTATE of a database on which nothing has run. */
const undefinedTable = "42P01";

export interface Applied {
  plugin: string;
  name: string;
  checksum: string;
}

async function mustBeUnicode(tx: Tx): Promise<void> {
  const [row] = await tx`select current_setting('server_encoding') as encoding`;
  if (row?.["encoding"] === "UTF8") return;
  throw new Error(
    `the database has the encoding ${row?.["encoding"]}, and Corestead needs UTF8: create database corestead encoding 'UTF8' template template0`,
  );
}

/** `tables` could not be had while others were held. */
class GaveWay extends Error {
  readonly tables: readonly string[];

  constructor(tables: readonly string[], cause: unknown) {
    super(`no lock of ${tables.join(", ")}`, { cause });
    this.tables = tables;
  }
}

/**
 * Applies the missing migrations of `sets`, in order and in one transaction: all or nothing. Refuses a database if an
 * applied file has been edited since, or if a newer version has migrated it.
 */
export async function migrate(sql: Sql, sets: readonly MigrationSet[], log: Log): Promise<void> {
  const until = performance.now() + givesWayForMs;
  let first: readonly string[] = [];
  while (performance.now() < until)
    try {
      return await migrateOnce(sql, sets, log, first);
    } catch (error) {
      if (!(error instanceof GaveWay)) throw error;
      log.info("a migration gave way to a transaction of another server, and begins again", { error });
      first = [...new Set([...error.tables, ...first])];
      await sleep(100 + Math.random() * 400);
    }
  await migrateOnce(sql, sets, log, undefined);
}

/**
 * `first` are tables that could not be had while others were held: writes hold them already when they come to those. So
 * they are locked before all else. Undefined: no lock gives way.
 */
async function migrateOnce(
  sql: Sql,
  sets: readonly MigrationSet[],
  log: Log,
  first: readonly string[] | undefined,
): Promise<void> {
  await transaction(sql, async (tx) => {
    // An index on a large table takes minutes, and the other processes wait that long for the lock.
    await withoutTimeouts(tx);
    await tx`select pg_advisory_xact_lock(${migrationLock})`;
    await tx`
      create table if not exists migrations (
        plugin text not null, name text not null, checksum text not null,
        applied_at timestamptz not null default now(), primary key (plugin, name))`;
    const applied = await tx<Applied[]>`select plugin, name, checksum from migrations`;
    const isNew = applied.length === 0;
    if (isNew) await mustBeUnicode(tx);
    const due = pending(sets, applied);
    if (first) await lockFirst(tx, first);
    // A person at a first start looks for the password, not for ninety names.
    if (isNew) log.info("making the tables", { migrations: due.length });
    for (const { plugin, name, sql: source } of due) {
      log[isNew ? "debug" : "info"]("migrating", { plugin, migration: name });
      await tx.unsafe(source).catch((cause: unknown) => {
        if (gaveWay.has(codeOf(cause))) throw new GaveWay(tablesOf(source), cause);
        throw new Error(`migration ${plugin}/${name} failed`, { cause });
      });
      await tx`insert into migrations (plugin, name, checksum) values (${plugin}, ${name}, ${checksum(source)})`;
    }
  });
}

async function lockFirst(tx: Tx, tables: readonly string[]): Promise<void> {
  let until: number | undefined;
  for (const table of tables) {
    const [found] = await tx`select to_regclass(${table}) is not null as yes`;
    if (!found?.["yes"]) continue;
    await giveWayAfter(tx, until ? Math.max(lockTimeoutMs, until - performance.now()) : firstLockTimeoutMs);
    await tx`lock table ${tx(table)} in access exclusive mode`.catch((cause: unknown) => {
      throw gaveWay.has(codeOf(cause)) ? new GaveWay([table], cause) : cause;
    });
    until ??= performance.now() + allLocksWithinMs;
  }
  await giveWayAfter(tx, lockTimeoutMs);
}

async function giveWayAfter(tx: Tx, ms: number): Promise<void> {
  await tx`select set_config('lock_timeout', ${`${Math.ceil(ms)}ms`}, true)`;
}

/** Those that a migration changes, which takes their whole lock. */
function tablesOf(source: string): string[] {
  return [...source.matchAll(/^ *alter table (?:only )?(\w+)/gm)].map(([, table = ""]) => table);
}

/** Whether there is nothing to apply: one statement, without the lock. Throws as `migrate` does. */
export async function isUpToDate(sql: Sql, sets: readonly MigrationSet[]): Promise<boolean> {
  const applied = await sql<Applied[]>`select plugin, name, checksum from migrations`.catch((error: unknown) => {
    if (codeOf(error) === undefinedTable) return [];
    throw error;
  });
  return pending(sets, applied).length === 0;
}

/** Whether any migration has run on this database. */
export async function isMigrated(sql: Sql): Promise<boolean> {
  const [found] = await sql`select to_regclass('public.migrations') is not null as yes`;
  return found?.["yes"] === true;
}

/** The migrations still to run. Throws if the applied ones differ from those that this version knows. */
export function pending(sets: readonly MigrationSet[], applied: readonly Applied[]) {
  const known = new Map(
    sets.flatMap(({ plugin, migrations }) =>
      migrations.map((migration) => [`${plugin}/${migration.name}`, { plugin, ...migration }]),
    ),
  );
  const plugins = new Set(sets.map(({ plugin }) => plugin));
  for (const row of applied) {
    const id = `${row.plugin}/${row.name}`;
    const migration = known.get(id);
    if (!migration && plugins.has(row.plugin))
      throw new Error(`the database has migration ${id}, which this version does not know: start the newer version`);
    if (migration && checksum(migration.sql) !== row.checksum)
      throw new Error(`migration ${id} was edited after it was applied: put it back and write a new one`);
    known.delete(id);
  }
  return [...known.values()];
}

function checksum(source: string): string {
  return hash("sha256", source);
}
