/**
 * A PostgreSQL of another version than the embedded one, from the `native` folder of the same npm package.
 *
 *     const server = await startOtherPostgres(".tools/postgres/node_modules/postgres16/native");
 *     const app = await startTestApp({ target: server.target });
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SocketTarget } from "../runtime/db/db.ts";
import { linkLibraries } from "../runtime/operations/postgres/postgres-binaries.ts";

export interface OtherPostgres {
  readonly target: SocketTarget;
  stop(): Promise<void>;
}

export async function startOtherPostgres(native: string): Promise<OtherPostgres> {
  const work = mkdtempSync(join(tmpdir(), "corestead-other-postgres-"));
  // PostgreSQL does not run as root, and another user may not get to where the package is.
  const owner = process.getuid?.() === 0 ? { uid: idOf("-u"), gid: idOf("-g") } : undefined;
  chmodSync(work, 0o755);
  const programs = join(work, "native");
  cpSync(native, programs, { recursive: true });
  await linkLibraries(programs);
  const data = join(work, "data");
  mkdirSync(data, { mode: 0o700 });
  if (owner) chownSync(data, owner.uid, owner.gid);
  const words = ["-D", data, "-U", "core", "--auth=trust", "--no-sync"];
  const { status, stderr } = spawnSync(join(programs, "bin/initdb"), words, { cwd: data, ...owner, encoding: "utf8" });
  if (status !== 0) throw new Error(`initdb: ${stderr}`);
  appendFileSync(
    join(data, "postgresql.conf"),
    "fsync = off\nmax_connections = 300\nmax_locks_per_transaction = 256\n",
  );
  const target: SocketTarget = { socketDir: data, port: 5432, user: "core", database: "postgres" };
  const place = ["-c", "listen_addresses=", "-c", `unix_socket_directories=${data}`];
  const server = Bun.spawn([join(programs, "bin/postgres"), "-D", data, ...place], {
    cwd: data,
    stdio: ["ignore", "ignore", "pipe"],
    ...owner,
  });
  const stop = async () => {
    server.kill("SIGQUIT");
    await server.exited;
    rmSync(work, { recursive: true, force: true });
  };
  await untilItAccepts(server.stderr).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { target, stop };
}

async function untilItAccepts(log: ReadableStream<Uint8Array>): Promise<void> {
  let text = "";
  const decoder = new TextDecoder();
  const reader = log.getReader();
  while (!text.includes("ready to accept connections")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(text);
    text += decoder.decode(value, { stream: true });
  }
  // What it says further on is not kept.
  const drop = async () => {
    while (!(await reader.read()).done);
  };
  void drop();
}

function idOf(option: "-u" | "-g"): number {
  const id = Number(spawnSync("id", [option, "nobody"], { encoding: "utf8" }).stdout);
  return id > 0 ? id : 65_534;
}
