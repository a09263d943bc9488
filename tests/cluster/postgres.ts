/**
 * Debian's PostgreSQL as a primary with a hot standby, and its pgbouncer: what an installation of several machines has.
 *
 *     const cluster = await startCluster();
 *     const app = await startTestApp({ target: { url: cluster.url } });
 *     await cluster.failOver();
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, chownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPool } from "../../runtime/db.ts";
import { eventually } from "../../runtime/authors/test-client.ts";

const user = "core";
/** The newest that is installed; undefined without one. */
export const programs = newestPrograms();
export const pgbouncer = Bun.which("pgbouncer", { PATH: `${process.env["PATH"]}:/usr/sbin` });
/** PostgreSQL refuses to run as root. */
const owner = process.getuid?.() === 0 ? { uid: idOf("-u"), gid: idOf("-g") } : undefined;

export interface Cluster {
  /** Names both hosts. */
  readonly url: string;
  /** Of the primary alone. */
  readonly primaryUrl: string;
  readonly standbyUrl: string;
  readonly version: number;
  readonly pids: { readonly primary: number; readonly standby: number };
  /** The standby gets what the primary writes, but shows nothing of it. */
  pauseReplay(): Promise<void>;
  resumeReplay(): Promise<void>;
  /** While it is gone no commit is answered. */
  killStandby(): Promise<void>;
  startStandby(): Promise<void>;
  /** Ends the primary as a power cut does, and makes the standby the primary once it has all that was sent to it. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

/** The standby confirms each commit before it is answered, so that no acknowledged write is lost with the primary. */
export async function startCluster(): Promise<Cluster> {
  const folder = ownFolder();
  const [first = 0, second = 0] = await freePorts(2);
  const [ofPrimary, ofStandby] = [join(folder, "primary"), join(folder, "standby")];
  call("initdb", "-D", ofPrimary, "-U", user, "--auth=trust", "--no-sync");
  appendFileSync(join(ofPrimary, "postgresql.conf"), "max_connections = 60\nfsync = off\nshared_buffers = 32MB\n");
  const primary = await startPostgres(ofPrimary, first);
  const urlOf = (...ports: number[]) =>
    `postgres://${user}@${ports.map((port) => `127.0.0.1:${port}`).join(",")}/corestead`;
  const admin = openPool({ url: urlOf(first).replace(/corestead$/, "postgres") }, { max: 1 });
  await admin.unsafe("create database corestead");
  call(
    "pg_basebackup",
    "-D",
    ofStandby,
    "-h",
    "127.0.0.1",
    "-p",
    `${first}`,
    "-U",
    user,
    "-R",
    "-X",
    "stream",
    "-c",
    "fast",
  );
  let standby = await startPostgres(ofStandby, second);
  await eventually(async () => (await admin`select from pg_stat_replication where state = 'streaming'`).length === 1);
  await admin.unsafe("alter system set synchronous_standby_names = '*'");
  await admin`select pg_reload_conf()`;
  const [row] = await admin`select current_setting('server_version_num')::int / 10000 as version`;
  await admin.end();
  return {
    url: urlOf(first, second),
    primaryUrl: urlOf(first),
    standbyUrl: urlOf(second),
    version: Number(row?.["version"]),
    pids: { primary: primary.pid, standby: standby.pid },
    pauseReplay: () => run(urlOf(second), "select pg_wal_replay_pause()"),
    resumeReplay: () => run(urlOf(second), "select pg_wal_replay_resume()"),
    async killStandby() {
      standby.kill("SIGQUIT");
      await standby.exited;
    },
    async startStandby() {
      standby = await startPostgres(ofStandby, second);
    },
    async failOver() {
      primary.kill("SIGQUIT");
      await primary.exited;
      call("pg_ctl", "promote", "-D", ofStandby, "-w");
      await run(urlOf(second), "alter system set synchronous_standby_names = ''");
      await run(urlOf(second), "select pg_reload_conf()");
    },
    async stop() {
      for (const server of [primary, standby]) server.kill("SIGQUIT");
      await Promise.all([primary.exited, standby.exited]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface Pooler {
  readonly url: string;
  stop(): Promise<void>;
}

/** pgbouncer in transaction mode before one database. */
export async function startPgbouncer(databaseUrl: string): Promise<Pooler> {
  const folder = ownFolder();
  const [port = 0] = await freePorts(1);
  const { hostname, port: behind } = new URL(databaseUrl);
  const file = join(folder, "pgbouncer.ini");
  const lines = [
    "[databases]",
    `corestead = host=${hostname} port=${behind} dbname=corestead user=${user}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "auth_type = any",
    "pool_mode = transaction",
    "default_pool_size = 8",
    "unix_socket_dir =",
  ];
  writeFileSync(file, `${lines.join("\n")}\n`);
  const child = Bun.spawn([pgbouncer ?? "pgbouncer", file], { ...owner, stdout: "ignore", stderr: "ignore" });
  const url = `postgres://${user}@127.0.0.1:${port}/corestead`;
  await untilItAnswers(url, true);
  return {
    url,
    async stop() {
      child.kill("SIGKILL");
      await child.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function run(url: string, statement: string): Promise<void> {
  const sql = openPool({ url }, { max: 1 });
  await sql.unsafe(statement);
  await sql.end();
}

async function startPostgres(dataDir: string, port: number) {
  const words = ["-D", dataDir, "-p", `${port}`, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="];
  const child = Bun.spawn([program("postgres"), ...words], { ...owner, stdout: "ignore", stderr: "ignore" });
  await untilItAnswers(`postgres://${user}@127.0.0.1:${port}/postgres`);
  return child;
}

async function untilItAnswers(url: string, pooled = false): Promise<void> {
  await eventually(async () => {
    const sql = openPool({ url }, { max: 1, pooled, connectTimeoutMs: 1_000 });
    const answer = await sql`select 1`.catch(() => undefined);
    await sql.end({ timeout: 0 });
    return answer !== undefined;
  }, url);
}

/** Throws what the program says if it fails. */
function call(name: string, ...words: string[]): void {
  const { status, stderr } = spawnSync(program(name), words, { ...owner, encoding: "utf8", cwd: tmpdir() });
  if (status !== 0) throw new Error(`${name}: ${stderr}`);
}

function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "corestead-cluster-"));
  chmodSync(folder, 0o700);
  if (owner) chownSync(folder, owner.uid, owner.gid);
  return folder;
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(async (server) => {
      await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
      const address = server.address();
      return typeof address === "object" && address ? address.port : 0;
    }),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => void server.close(resolve))));
  return ports;
}

function newestPrograms(): string | undefined {
  const root = "/usr/lib/postgresql";
  try {
    const [newest] = readdirSync(root).toSorted((a, b) => Number(b) - Number(a));
    return newest && join(root, newest, "bin");
  } catch {
    return undefined;
  }
}

function program(name: string): string {
  return join(programs ?? "", name);
}

function idOf(option: "-u" | "-g"): number {
  return Number(spawnSync("id", [option, "postgres"], { encoding: "utf8" }).stdout);
}
