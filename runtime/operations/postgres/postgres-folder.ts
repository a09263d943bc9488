/**
 * The data folder of the embedded PostgreSQL: its permissions, its lock, and the cluster inside.
 *
 *     postgres/        the cluster        corestead.lock   held for as long as a process of ours uses the folder
 *     run/             the socket         corestead.pid    which process that is
 *     postgres.log     what the server says
 */
import { codeOf } from "../../base/values.ts";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { start, textOf } from "../../system/process.ts";
import { bundledCluster, noPostgresHere, postgresMajor, type Home } from "./postgres-binaries.ts";
import { endLeftServers } from "./postgres-leftovers.ts";
import { unpack } from "../../system/unpack.ts";
import { exists, isUnsynced, soon, type Folder } from "../../system/whole-folder.ts";

/** The user that PostgreSQL runs as; undefined if it is our own. */
export interface RunAs {
  uid?: number;
  gid?: number;
  /** Whether it must pass through folders that are closed to that user, such as root's home or a fresh `mktemp -d`. */
  throughClosed?: boolean;
}

/** PostgreSQL refuses to run as root. No other account should have this uid, so nobody else can read the folder. */
const privateId = 50_432;
/** initdb, unlike the server, needs a user with a name. */
const nobodyId = 65_534;
const socketPathBytes = 107;

/**
 * Creates the folder if it is missing, and decides which user runs the server in it. Synchronous, because every start
 * waits for it, and to hand each of its calls to another thread takes longer than the call.
 */
export async function prepareFolder(folder: string): Promise<{ dataDir: string; cluster: string; runAs: RunAs }> {
  mustBeKind(folder, "folder");
  mkdirSync(folder, { recursive: true });
  const dataDir = realpathSync(folder);
  const cluster = join(dataDir, "postgres");
  const owner = existsSync(cluster) ? statSync(cluster).uid : undefined;
  const self = process.getuid?.() ?? 0;
  if (self !== 0) {
    if (owner === undefined || owner === self) return { dataDir, cluster, runAs: {} };
    throw new Error(
      `the data folder ${dataDir} belongs to another user (uid ${owner}, we are ${self}): start as that user, or give it to this one with chown -R`,
    );
  }
  const { mode, uid: folderOwner } = statSync(dataDir);
  const uid = owner || folderOwner || privateId;
  const runAs = { uid, gid: uid };
  // The server only needs to pass through this folder; secret files in it have their own modes.
  if ((mode & 0o001) === 0 && folderOwner !== uid) chmodSync(dataDir, mode | 0o001);
  if (await mayEnter(dataDir, runAs)) return { dataDir, cluster, runAs };
  const privileged = { ...runAs, throughClosed: true };
  if (!(await mayEnter(dataDir, privileged))) {
    throw new Error(
      `the data folder ${dataDir} cannot be entered by uid ${uid}, under which PostgreSQL runs because it refuses to run as root: set DATA_DIR to a folder whose parents are open to all (chmod a+x), e.g. /var/lib/corestead`,
    );
  }
  return { dataDir, cluster, runAs: privileged };
}

const kinds: readonly (readonly [string, "folder" | "file"])[] = [
  ["postgres", "folder"],
  ["postgres/PG_VERSION", "file"],
  ["postgres/postmaster.pid", "file"],
  ["anchors", "folder"],
  ["media", "folder"],
  ["run", "folder"],
  ["run/.s.PGSQL.5432", "file"],
  ["run/.s.PGSQL.5432.lock", "file"],
  ["corestead.lock", "file"],
  ["corestead.pid", "file"],
  ["postgres.log", "file"],
];

/** The system says EISDIR, often without a path, and PostgreSQL that another postmaster runs. */
function mustBeKind(path: string, kind: "folder" | "file"): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found || found.isDirectory() === (kind === "folder")) return;
  const other = kind === "folder" ? "file" : "folder";
  throw new Error(`${path} is a ${other}, and must be a ${kind}: move it away`);
}

/**
 * The command and options with which `start` runs it as that user. To pass through closed parent folders it gets
 * one capability from setpriv (util-linux): to look up names in any folder.
 */
export function spawnAs(
  command: string[],
  { uid, gid, throughClosed }: RunAs,
): [string[], { uid?: number; gid?: number }] {
  if (uid === undefined || gid === undefined) return [command, {}];
  if (!throughClosed) return [command, { uid, gid }];
  const capabilities = ["--inh-caps=-all,+dac_read_search", "--ambient-caps=+dac_read_search"];
  // PostgreSQL checks its programs with access(), which would otherwise consider only the user.
  capabilities.push("--securebits=+no_setuid_fixup");
  return [["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", ...capabilities, "--", ...command], {}];
}

async function mayEnter(folder: string, runAs: RunAs): Promise<boolean> {
  // Nearly always, and asking that user takes a process.
  if (!runAs.throughClosed && isOpen(folder)) return true;
  return (await run(["/bin/sh", "-c", 'cd "$1"', "sh", folder], runAs)).code === 0;
}

/** Whether everybody may pass through it and all folders above it. */
function isOpen(folder: string): boolean {
  const parent = dirname(folder);
  return (statSync(folder).mode & 0o001) !== 0 && (parent === folder || isOpen(parent));
}

/** Whether that user can run this program: the folder may be closed, or the program built for another C library. */
export async function mayRun(program: string, runAs: RunAs): Promise<boolean> {
  return (await run(["/bin/sh", "-c", 'test -x "$1"', "sh", program], runAs)).code === 0;
}

async function run(command: string[], runAs: RunAs): Promise<{ code: number; output: string }> {
  const [words, user] = spawnAs(command, runAs);
  const child = start(words, { cwd: "/", stdio: ["ignore", "ignore", "pipe"], ...user });
  const output = await textOf(child.stderr);
  const code = await child.exited.catch((error: Error) => {
    if (runAs.throughClosed) return 127; // there is no setpriv
    throw error;
  });
  return { code, output: output.trim() };
}

/**
 * Locks the folder for this process, or throws and says who holds it. The lock is SQLite's: the kernel releases it
 * however the process ends, and of two processes that start at once exactly one gets it.
 */
export function lockFolder(dataDir: string): () => void {
  for (const [name, kind] of kinds) mustBeKind(join(dataDir, name), kind);
  const pidFile = join(dataDir, "corestead.pid");
  const lock = lockFile(join(dataDir, "corestead.lock"), () => {
    const holder = holderOf(pidFile);
    return `the data folder ${dataDir} is in use by another corestead process${holder}: stop it, or set another DATA_DIR`;
  });
  writeFileSync(pidFile, `${process.pid}\n`);
  return () => {
    rmSync(pidFile, { force: true });
    lock.close();
  };
}

function lockFile(path: string, busy: () => string): DatabaseSync {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(path);
    lock.exec("begin exclusive");
    return lock;
  } catch (cause) {
    lock?.close();
    // SQLite's own words: under Deno its errors have no code.
    const said = cause instanceof Error ? cause.message : "";
    if (/\bis locked\b/.test(said)) throw new Error(busy(), { cause });
    // We never remove it: another process may hold a lock on this very file.
    if (/\bnot a database\b|\bmalformed\b/.test(said))
      throw new Error(`${path} is damaged: make sure that no other corestead process runs, and remove the file`, {
        cause,
      });
    const advice = /readonly|unable to open/.test(said) ? `: this user may not write into ${dirname(path)}` : "";
    throw new Error(`the data folder cannot be locked with ${path}${advice}`, { cause });
  }
}

/** The holder writes its id right after it gets the lock; at worst we look in between. */
function holderOf(pidFile: string): string {
  for (let attempt = 0; attempt < 100; attempt++) {
    const pid = readPid(pidFile);
    if (pid !== undefined && isAlive(pid)) return ` (pid ${pid})`;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
  return "";
}

function readPid(file: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(file, "utf8"), 10);
    return pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

/** A file in a cluster without our database: a start that finds it makes the database, and others need not ask. */
export const unnamed = "corestead.unnamed";

/** Creates the cluster if it is missing, from the archive in the binary or by initdb. */
export async function seedCluster(
  programs: Promise<Home>,
  cluster: string,
  runAs: RunAs,
  onWait?: () => void,
): Promise<Folder> {
  // What was killed while it was new is made anew, but not under a server that ends.
  if (await isUnsynced(cluster)) await endLeftServers(cluster);
  else if (await exists(cluster)) {
    const version = (await readFile(join(cluster, "PG_VERSION"), "utf8")).trim();
    if (version !== postgresMajor)
      throw new Error(
        `the data folder was made by PostgreSQL ${version}, and this version has ${postgresMajor}: back up with the old version and restore with this one`,
      );
  }
  const archive = bundledCluster();
  return soon(cluster, async (folder) => {
    if (archive) await unpack(archive, folder);
    else {
      await initdb((await programs).home, folder, runAs, onWait);
      await writeFile(join(folder, unnamed), "");
    }
    await chmod(folder, 0o700);
    await giveTo(folder, runAs);
  });
}

async function initdb(home: string, folder: string, runAs: RunAs, onWait?: () => void): Promise<void> {
  const initAs = runAs.uid === undefined ? {} : { ...runAs, uid: nobodyId, gid: nobodyId };
  await giveTo(folder, initAs);
  const options = ["--username=corestead", "--auth=trust", "--encoding=UTF8", "--locale-provider=builtin"];
  // `soon` syncs what is made here.
  options.push("--locale=C.UTF-8", "--no-instructions", "--no-sync", `--pgdata=${folder}`, ...clusterSettings);
  const made = run([join(home, "bin/initdb"), ...options], initAs); // starts it before it waits
  onWait?.();
  const { code, output } = await made.catch((error: Error) => {
    throw noPostgresHere(error.message);
  });
  if (code === 126 || code === 127) throw noPostgresHere(output);
  if (code !== 0) throw new Error(`initdb failed (status ${code}): ${output}`);
}

/** Enough for two processes of the usual size. */
export const usualConnections = 40;

/** Written to postgresql.conf once, so that an administrator can change them there. Suited to a small company. */
const clusterSettings = [
  `max_connections=${usualConnections}`,
  "synchronous_commit=on", // off loses acknowledged rows in a power cut
  "jit=off", // compiling takes longer than our short statements
  "random_page_cost=1.1",
  "wal_level=minimal", // nothing replicates from it, so less is written
  "max_wal_senders=0",
  "max_logical_replication_workers=0",
  "max_wal_size=512MB",
  "autovacuum_vacuum_scale_factor=0.05",
  "timezone=UTC",
  "log_timezone=UTC",
  // A refused row concerns the caller only, and its statement may contain what must not be logged.
  "log_min_messages=log",
  "log_min_error_statement=panic",
  "log_checkpoints=off",
].flatMap((setting) => ["-c", setting]);

export async function giveTo(folder: string, runAs: RunAs): Promise<void> {
  if (runAs.uid === undefined) return;
  own(folder, runAs);
  // Synchronous: ten times faster for a thousand small files.
  for (const name of await readdir(folder, { recursive: true })) own(join(folder, name), runAs);
}

function own(path: string, { uid, gid }: RunAs): void {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

/** The folder of the socket: in the data folder, or a temporary one if that path is too long for a socket. */
export function socketFolder(dataDir: string, runAs: RunAs): string {
  const inside = join(dataDir, "run");
  const base = fits(join(tmpdir(), "corestead-XXXXXX")) ? tmpdir() : "/tmp";
  const folder = fits(inside) ? inside : mkdtempSync(join(base, "corestead-"));
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o700);
  // Alone: a server that a killed process has left may be taking its socket away right now.
  own(folder, runAs);
  return folder;
}

function fits(folder: string): boolean {
  return Buffer.byteLength(`${folder}/.s.PGSQL.5432`) <= socketPathBytes;
}
