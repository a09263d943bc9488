/**
 * Tries an older version on the schema of this one:
 *
 *     bun scripts/try-last-release.ts                          the last version, beside this one on one database
 *     bun scripts/try-last-release.ts COMMIT                   this version
 *     bun scripts/try-last-release.ts COMMIT plugins/flows     its own tests of these folders, on the new schema
 *
 * Tests of migrations fail there, and those that make a second database: every new one has the tables already.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { plugins } from "../plugins/index.ts";
import { openPool, type SocketTarget } from "../runtime/db/db.ts";
import { createLog } from "../runtime/system/log.ts";
import { inOrder } from "../runtime/operations/start/order.ts";
import { startEmbeddedPostgres } from "../runtime/operations/postgres/embedded-postgres.ts";
import { migrate } from "../runtime/db/migrate.ts";
import { migrationSets } from "../runtime/db/runtime-migrations.ts";
import { checkOut, lastVersion, whyNot } from "../tests/older-tree.ts";

const root = resolve(import.meta.dir, "..");
const [commit = lastVersion(), ...tests] = process.argv.slice(2);
const reason = whyNot(commit);
if (reason) throw new Error(reason);
process.exitCode = tests.length > 0 ? await itsOwnTests() : await beside();

async function beside(): Promise<number> {
  const test = join(root, "tests/cluster/older-server.test.ts");
  return run(["test", test], root, { LAST_VERSION: commit });
}

async function itsOwnTests(): Promise<number> {
  const tree = checkOut(commit);
  const dataDir = mkdtempSync(join(tmpdir(), "corestead-try-last-release-"));
  const server = await startEmbeddedPostgres({ dataDir, log: createLog("error") });
  try {
    const admin = openPool(server.target, { max: 1 });
    for (const setting of ["fsync", "autovacuum"]) await admin.unsafe(`alter system set ${setting} = off`);
    await admin`select pg_reload_conf()`;
    await admin.end();
    // Every database of the tests begins as a copy of this one.
    await upgrade(tree.folder, { ...server.target, database: "template1" });
    const env = { TEST_POSTGRES: JSON.stringify(server.target) };
    return await run(["test", "--timeout", "120000", ...tests], tree.folder, env);
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
    tree.remove();
  }
}

/** As an upgrade does. Then the migrations of this version are hidden, because the older one does not start after them. */
async function upgrade(older: string, target: SocketTarget): Promise<void> {
  const migrateByOlder = `
    import { plugins } from "./plugins/index.ts";
    import { openPool } from "./runtime/db.ts";
    import { createLog } from "./runtime/log.ts";
    import { inOrder } from "./runtime/order.ts";
    import { migrate } from "./runtime/postgres/migrate.ts";
    import { migrationSets } from "./runtime/postgres/runtime-migrations.ts";
    const sql = openPool(${JSON.stringify(target)}, { max: 1 });
    await migrate(sql, migrationSets(inOrder(plugins)), createLog("error"));
    await sql.end();`;
  if ((await run(["-e", migrateByOlder], older, {})) !== 0) throw new Error(`${commit} does not migrate`);
  const sql = openPool(target, { max: 1 });
  const known = (await sql`select plugin || '/' || name as id from migrations`).map((row) => String(row["id"]));
  await migrate(sql, migrationSets(inOrder(plugins)), createLog("error"));
  const added = await sql`
    delete from migrations where plugin || '/' || name <> all(${known}::text[]) returning plugin || '/' || name as id`;
  console.log(`after ${commit}: ${added.map((row) => String(row["id"])).join(", ")}`);
  await sql.end();
}

async function run(words: readonly string[], cwd: string, env: Record<string, string>): Promise<number> {
  const stdio: ["ignore", "inherit", "inherit"] = ["ignore", "inherit", "inherit"];
  return Bun.spawn([process.execPath, ...words], { cwd, stdio, env: { ...process.env, ...env } }).exited;
}
