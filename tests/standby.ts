/**
 * A primary and a hot standby that follows it, both embedded PostgreSQL servers behind TCP ports of their own.
 *
 *     const pair = await startPair();
 *     const app = await startTestApp({ target: { url: pair.url(pair.standby, pair.primary) } });
 *     await pair.primary.server.stop();
 *     await pair.promote();
 */
import { appendFileSync, chownSync, cpSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPool, type SocketTarget } from "../runtime/db/db.ts";
import { startEmbeddedPostgres, type EmbeddedPostgres } from "../runtime/operations/postgres/embedded-postgres.ts";
import { createLog } from "../runtime/system/log.ts";
import { eventually } from "./harness.ts";

export interface Host {
  readonly server: EmbeddedPostgres;
  readonly proxy: Proxy;
}

export interface Pair {
  readonly primary: Host;
  readonly standby: Host;
  /** A connection string that names these hosts in this order. */
  url(...hosts: readonly Host[]): string;
  /** Makes the standby a primary once it has everything that the primary sent. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPair(): Promise<Pair> {
  const folders = ["primary", "standby"].map((name) => mkdtempSync(join(tmpdir(), `corestead-${name}-`)));
  const [ofPrimary = "", ofStandby = ""] = folders;
  const log = createLog("error", () => {});
  await (await startEmbeddedPostgres({ dataDir: ofPrimary, log })).stop();
  // Our configuration writes no more to the WAL than a server without standbys needs.
  const settings = "wal_level = replica\nmax_wal_senders = 4\n";
  appendFileSync(join(ofPrimary, "postgres", "postgresql.auto.conf"), settings);
  await (await startEmbeddedPostgres({ dataDir: ofPrimary, log })).stop();
  // The folder of a stopped server is a complete copy: the embedded binaries have no pg_basebackup.
  copyCluster(join(ofPrimary, "postgres"), join(ofStandby, "postgres"));
  const primary = await startEmbeddedPostgres({ dataDir: ofPrimary, log });
  const { socketDir, port, user } = primary.target;
  const conninfo = `host=${socketDir} port=${port} user=${user}`;
  appendFileSync(join(ofStandby, "postgres", "postgresql.auto.conf"), `primary_conninfo = '${conninfo}'\n`);
  const standby = await startEmbeddedPostgres({ dataDir: ofStandby, log });
  const hosts = [await hostOf(primary), await hostOf(standby)] as const;
  return {
    primary: hosts[0],
    standby: hosts[1],
    url: (...named) => `postgres://${user}@${named.map(({ proxy }) => `127.0.0.1:${proxy.port}`).join(",")}/corestead`,
    promote: () => promote(standby.target),
    stop: async () => {
      await Promise.all(hosts.map(({ proxy }) => proxy.close()));
      await Promise.all([standby.stop(), primary.stop()]);
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The copy gets the owner of the original, which is another user if we are root. */
function copyCluster(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  writeFileSync(join(to, "standby.signal"), "");
  const { uid, gid } = statSync(from);
  for (const name of ["", ...readdirSync(to, { recursive: true, encoding: "utf8" })])
    chownSync(join(to, name), uid, gid);
}

async function promote(target: SocketTarget): Promise<void> {
  const sql = openPool(target, { max: 1 });
  try {
    await sql`select pg_promote()`;
    await eventually(async () => {
      const [row] = await sql`select pg_is_in_recovery() as standby`;
      return row?.["standby"] === false;
    }, "the promotion");
  } finally {
    await sql.end();
  }
}

async function hostOf(server: EmbeddedPostgres): Promise<Host> {
  const { socketDir, port } = server.target;
  return { server, proxy: await startProxy(`${socketDir}/.s.PGSQL.${port}`) };
}

export interface Proxy {
  readonly port: number;
  /** From now on nothing gets through either way, without an error: as if a host froze or a network dropped packets. */
  silence(): void;
  /** New connections get through again. */
  speak(): void;
  close(): Promise<void>;
}

/** A TCP port (0 = a free one) before a unix socket. */
export async function startProxy(path: string, port = 0): Promise<Proxy> {
  let silent = false;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    open.add(client);
    client.on("error", () => client.destroy());
    if (silent) return;
    const upstream = connect(path);
    open.add(upstream);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on("data", (bytes) => silent || to.write(bytes));
      from.on("error", () => to.destroy());
      from.on("close", () => {
        open.delete(from);
        if (!silent) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || !address) throw new Error("the proxy has no port");
  return {
    port: address.port,
    silence: () => void (silent = true),
    speak: () => void (silent = false),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}
