/**
 * Cleans up what an earlier server leaves in the data folder when its machine loses power or its container is killed:
 * processes, `postmaster.pid`, and the lock file of the socket. PostgreSQL refuses to start beside them if the process
 * id in a file belongs to any live process of its user, or if the file is empty.
 *
 * All of this requires that this process holds the folder's lock, so that no other process starts a server here.
 */
import { codeOf } from "../../base/values.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

const goneWithinMs = 10_000;

/** Removes unfinished folders. */
export async function clearUnfinished(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    // If an orphaned initdb still writes there, the folder is removed at the next start.
    if (name.includes(".tmp-")) await rm(join(dataDir, name), { recursive: true, force: true }).catch(() => {});
  }
}

/** One server's place: its cluster and its socket. */
export interface ServerPlace {
  readonly cluster: string;
  readonly socketDir: string;
  readonly port: number;
}

/**
 * Ends what still runs in the cluster, then removes `postmaster.pid` and the socket's lock file, whatever they contain.
 * Throws if a process remains, because two servers would destroy the cluster.
 */
export async function clearLeftovers({ cluster, socketDir, port }: ServerPlace): Promise<void> {
  const pidFile = join(cluster, "postmaster.pid");
  const socket = join(socketDir, `.s.PGSQL.${port}`);
  const before = textOf(pidFile);
  if (before === undefined && textOf(`${socket}.lock`) === undefined) return;
  if (process.platform === "linux") {
    await endServers(cluster, pidOf(before));
    rmSync(pidFile, { force: true });
  } else if (pidOf(before) === undefined) {
    // On other systems we cannot see which processes use the cluster, so PostgreSQL decides by the ids that it can
    // read.
    rmSync(pidFile, { force: true });
  }
  for (const file of [`${socket}.lock`, socket]) rmSync(file, { force: true });
}

/**
 * Ends what an earlier process left running in the cluster. Where processes cannot be listed, it waits for the guard to
 * do so.
 */
export async function endLeftServers(cluster: string): Promise<void> {
  const named = pidOf(textOf(join(cluster, "postmaster.pid")));
  if (process.platform === "linux") return endServers(cluster, named);
  if (named === undefined || (await untilGone(() => isAlive(named)))) return;
  throw new Error(`PostgreSQL still runs in ${cluster} (pid ${named}): end it first`);
}

/** Our guard stops a server whose parent was killed, but the guard may have been killed too. */
async function endServers(cluster: string, named: number | undefined): Promise<void> {
  for (const pid of serversIn(cluster)) {
    const command = commandOf(pid);
    if (command.includes("cluster_name=corestead")) await endOrphan(pid, cluster);
    // One that has ended just now has no command any more.
    else if (pid === named && command !== "")
      throw new Error(`the data folder is in use by a PostgreSQL that is not ours (pid ${pid}): stop it first`);
  }
  // Backends may briefly outlive their postmaster.
  if (await untilGone(() => serversIn(cluster).length > 0)) return;
  throw new Error(`PostgreSQL still runs in ${cluster} (pid ${serversIn(cluster).join(", ")}): end it first`);
}

async function endOrphan(pid: number, cluster: string): Promise<void> {
  const isThere = () => serversIn(cluster).includes(pid);
  signal(pid, "SIGINT");
  if (await untilGone(isThere)) return;
  signal(pid, "SIGQUIT");
  await untilGone(isThere);
}

async function untilGone(isThere: () => boolean): Promise<boolean> {
  for (const end = Date.now() + goneWithinMs; Date.now() < end; await sleep(5)) if (!isThere()) return true;
  return false;
}

/** Every process of a server has the cluster as its working folder; zombies and other users' processes show none. */
function serversIn(cluster: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => worksIn(pid, cluster) && commandOf(pid).includes("postgres"));
}

function worksIn(pid: number, cluster: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === cluster;
  } catch {
    return false;
  }
}

function commandOf(pid: number): string {
  return textOf(`/proc/${pid}/cmdline`) ?? "";
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** It may have ended meanwhile. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function pidOf(text: string | undefined): number | undefined {
  const pid = Number.parseInt(text ?? "", 10);
  return pid > 0 ? pid : undefined;
}
