/**
 * The cluster in the executable: what initdb would make, with our database in it and every migration applied, so that a
 * first start only has to unpack it. It holds no rows that differ between installations; `applied_at` of the migrations
 * is the time of the build.
 */
import { mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPool } from "../runtime/db/db.ts";
import { createLog } from "../runtime/system/log.ts";
import { inOrder } from "../runtime/operations/start/order.ts";
import type { PluginFacts } from "../runtime/plugin/plugin.ts";
import { startEmbeddedPostgres } from "../runtime/operations/postgres/embedded-postgres.ts";
import { migrate } from "../runtime/db/migrate.ts";
import { migrationSets } from "../runtime/db/runtime-migrations.ts";

/** A change in how clusters are made, or of a migration, changes the archive's name. */
export async function clusterRecipe(plugins: readonly PluginFacts[]): Promise<string> {
  const files = ["postgres-folder", "embedded-postgres", "launch"].map((name) => `operations/postgres/${name}.ts`);
  const folder = join(import.meta.dir, "../runtime");
  const sources = [...files, "db/migrate.ts"].map((name) => Bun.file(join(folder, name)).text());
  const recipe = [...(await Promise.all(sources)), await Bun.file(import.meta.path).text()];
  return Bun.hash(JSON.stringify([recipe, migrationSets(inOrder(plugins))])).toString(36);
}

export async function packCluster(archive: string, plugins: readonly PluginFacts[], level: number): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), "corestead-cluster-"));
  const log = createLog("warn");
  try {
    const server = await startEmbeddedPostgres({ dataDir, log });
    const sql = openPool(server.target, { max: 1 });
    try {
      await migrate(sql, migrationSets(inOrder(plugins)), log);
    } finally {
      await sql.end();
      await server.stop();
    }
    await dropUnusedLog(join(dataDir, "postgres/pg_wal"));
    await dropHints(join(dataDir, "postgres"));
    await pack(join(dataDir, "postgres"), archive, level);
  } finally {
    await rm(dataDir, { recursive: true });
  }
}

/** The content of a recycled segment does not match its name, so the server makes a new one. */
async function dropUnusedLog(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, high, low] = /^[0-9A-F]{8}([0-9A-F]{8})([0-9A-F]{8})$/.exec(name) ?? [];
    if (high === undefined || low === undefined) continue;
    const file = Bun.file(join(folder, name));
    const address = new DataView(await file.slice(0, 16).arrayBuffer()).getBigUint64(8, true);
    if (address !== (BigInt(`0x${high}`) << 32n) + (BigInt(`0x${low}`) << 24n)) await file.delete();
  }
}

/**
 * Drops the free space maps (`_fsm`) and visibility maps (`_vm`): PostgreSQL works without them, and vacuum makes new
 * ones. They are one file in six, and the time of a first start depends on the number of files.
 */
async function dropHints(cluster: string): Promise<void> {
  for (const name of await readdir(cluster, { recursive: true }))
    if (/^(base|global)\/.*_(fsm|vm)$/.test(name)) await rm(join(cluster, name));
}

/** Packs the contents of a folder as .tar.zst. */
export async function pack(folder: string, archive: string, level: number): Promise<void> {
  // The builder must not own the files of the person who runs it.
  const owner = process.platform === "darwin" ? ["--uid", "0", "--gid", "0"] : ["--owner=0", "--group=0"];
  const tar = Bun.spawn(["tar", "-cf", "-", "--format=ustar", ...owner, "-C", folder, "."], { stderr: "inherit" });
  const bytes = await new Response(tar.stdout).bytes();
  if ((await tar.exited) !== 0) throw new Error(`${folder} could not be packed`);
  await Bun.write(`${archive}.tmp`, await Bun.zstdCompress(bytes, { level }));
  await rename(`${archive}.tmp`, archive);
}
