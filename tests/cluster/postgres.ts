/**
 * Debian's PostgreSQL as a primary with a hot standby, and its pgbouncer: what an installation of several machines has.
 *
 *     const cluster = await startCluster();
 *     const app = await startTestApp({ target: { url: cluster.url } });
 *     await cluster.failOver();
 */
// needs: postgresql
import { spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, chownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPool } from "../../runtime/db/db.ts";
import { eventually } from "../../runtime/operations/authors/test-client.ts";

const user = "core";
const settings = [
  "max_connections = 60",
  "fsync = off",
  "shared_buffers = 32MB",
  "shared_preload_libraries = pg_stat_statements",
  "pg_stat_statements.max = 5000",
];
/** The newest that is installed; undefined without one. */
export const programs = newestPrograms();
export const pgbouncer = Bun.which("pgbouncer", { PATH: `${process.env["PATH"]}:/usr/sbin` });
/** PostgreSQL refuses to run as root. */
const owner = process.getuid?.() === 0 ? { uid: idOf("-u"), gid: idOf("-g") } : undefined;

/** What statements a server has run since the last look: their texts, each once, with how often. */
export type Statements = ReadonlyMap<string, number>;

export interface Standby {
  readonly port: number;
  readonly url: string;
  pauseReplay(): Promise<void>;
  resumeReplay(): Promise<void>;
  stop(): Promise<void>;
}

export interface Cluster {
  /** Names both hosts. */
  readonly url: string;
  /** Of the primary alone. */
  readonly primaryUrl: string;
  readonly standbyUrl: string;
  readonly version: number;
  readonly pids: { readonly primary: number; readonly standby: number };
  readonly ports: { readonly primary: number; readonly standby: number };
  /** The standby gets what the primary writes, but shows nothing of it. */
  pauseReplay(): Promise<void>;
  resumeReplay(): Promise<void>;
  /** A second one, which no commit waits for. */
  addStandby(): Promise<Standby>;
  /** While it is gone no commit is answered. */
  killStandby(): Promise<void>;
  startStandby(): Promise<void>;
  /** Ends the primary as a power cut does, and makes the standby the primary once it has all that was sent to it. */
  failOver(): Promise<void>;
  /** Makes a new standby where the old primary was, and it the primary again in the same way. */
  failBack(): Promise<void>;
  stop(): Promise<void>;
}

/** The standby confirms each commit before it is answered, so that no acknowledged write is lost with the primary. */
export async function startCluster(): Promise<Cluster> {
  const folder = ownFolder();
  const [first = 0, second = 0] = await freePorts(2);
  const [ofPrimary, ofStandby] = [join(folder, "primary"), join(folder, "standby")];
  call("initdb", "-D", ofPrimary, "-U", user, "--auth=trust", "--no-sync");
  appendFileSync(join(ofPrimary, "postgresql.conf"), `${settings.join("\n")}\n`);
  let primary = await startPostgres(ofPrimary, first);
  const urlOf = (...ports: number[]) =>
    `postgres://${user}@${ports.map((port) => `127.0.0.1:${port}`).join(",")}/corestead`;
  const admin = openPool({ url: urlOf(first).replace(/corestead$/, "postgres") }, { max: 1 });
  await admin.unsafe("create database corestead");
  await admin`create extension pg_stat_statements`;
  copy(first, ofStandby);
  // The one that commits wait for, by its name.
  const startFirst = () => startPostgres(ofStandby, second, "-c", "cluster_name=one");
  let standby = await startFirst();
  await eventually(async () => (await admin`select from pg_stat_replication where state = 'streaming'`).length === 1);
  await admin.unsafe("alter system set synchronous_standby_names = 'one'");
  await admin`select pg_reload_conf()`;
  const [row] = await admin`select current_setting('server_version_num')::int / 10000 as version`;
  await admin.end();
  return {
    url: urlOf(first, second),
    primaryUrl: urlOf(first),
    standbyUrl: urlOf(second),
    version: Number(row?.["version"]),
    pids: { primary: primary.pid, standby: standby.pid },
    ports: { primary: first, standby: second },
    ...replayOf(urlOf(second)),
    async addStandby() {
      const [port = 0] = await freePorts(1);
      const ofThis = join(folder, "second");
      copy(first, ofThis);
      const server = await startPostgres(ofThis, port);
      return {
        port,
        url: urlOf(port),
        ...replayOf(urlOf(port)),
        async stop() {
          server.kill("SIGQUIT");
          await server.exited;
        },
      };
    },
    async killStandby() {
      standby.kill("SIGQUIT");
      await standby.exited;
    },
    async startStandby() {
      standby = await startFirst();
    },
    async failOver() {
      primary.kill("SIGQUIT");
      await primary.exited;
      call("pg_ctl", "promote", "-D", ofStandby, "-w");
      await run(urlOf(second), "alter system set synchronous_standby_names = ''");
      await run(urlOf(second), "select pg_reload_conf()");
    },
    async failBack() {
      const again = join(folder, "again");
      copy(second, again);
      primary = await startPostgres(again, first, "-c", "cluster_name=again");
      const sql = openPool({ url: urlOf(second) }, { max: 1 });
      await sql.unsafe("alter system set synchronous_standby_names = 'again'");
      await sql`select pg_reload_conf()`;
      await eventually(async () => (await sql`select from pg_stat_replication where sync_state = 'sync'`).length === 1);
      await sql.end();
      standby.kill("SIGQUIT");
      await standby.exited;
      call("pg_ctl", "promote", "-D", again, "-w");
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

/** What ran at a server since this was asked last. */
export async function statementsAt(url: string): Promise<Statements> {
  const sql = openPool({ url: url.replace(/corestead$/, "postgres") }, { max: 1 });
  const rows = await sql<{ query: string; calls: number }[]>`
    select s.query, sum(s.calls)::int as calls from pg_stat_statements s
    join pg_database d on d.oid = s.dbid and d.datname = 'corestead' group by s.query`;
  await sql`select pg_stat_statements_reset()`;
  await sql.end();
  return new Map(rows.map(({ query, calls }) => [query, calls]));
}

/** How many connections the hosts have there for reads on replicas. */
export async function readersAt(url: string): Promise<number> {
  const sql = openPool({ url }, { max: 1 });
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity where application_name = 'corestead read'`;
  await sql.end();
  return row?.count ?? 0;
}

/** A standby of the primary at this port. */
function copy(port: number, to: string): void {
  const from = ["-h", "127.0.0.1", "-p", `${port}`, "-U", user];
  call("pg_basebackup", "-D", to, ...from, "-R", "-X", "stream", "-c", "fast");
}

function replayOf(url: string) {
  return {
    pauseReplay: () => run(url, "select pg_wal_replay_pause()"),
    resumeReplay: () => run(url, "select pg_wal_replay_resume()"),
  };
}

async function run(url: string, statement: string): Promise<void> {
  const sql = openPool({ url }, { max: 1 });
  await sql.unsafe(statement);
  await sql.end();
}

async function startPostgres(dataDir: string, port: number, ...more: string[]) {
  const place = ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="];
  const words = ["-D", dataDir, "-p", `${port}`, ...place, ...more];
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
