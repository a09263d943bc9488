/** The database: what it is, what it holds, and whether its key is here. */
import type { Config } from "../../settings/config.ts";
import type { Sql } from "../../db/db.ts";
import { connectionsOf } from "../../db/connections.ts";
import { isMigrated, pending, type Applied, type MigrationSet } from "../../db/migrate.ts";
import { secretKeyState } from "../../db/secret-key.ts";
import { findingsOf, split, reasonOf, type Finding } from "../../plugin/finding.ts";

const database = findingsOf("database");
const key = findingsOf("key");

const leastVersion = 150_000;
const fewDeadRows = 10_000;
/** An index is as large as it should be up to here, whatever it holds. */
const fewIndexBytes = 32_000_000;
/** The pages of a b-tree that grows by and by are two thirds full. */
const usuallyFull = 0.67;
const widthIfUnknown = 256;

interface ServerFacts {
  readonly version: number;
  readonly shown: string;
  readonly encoding: string;
  readonly collation: string;
  readonly collationVersion: string | null;
  readonly systemVersion: string | null;
  readonly isStandby: boolean;
  readonly mayCreate: boolean;
  readonly isEncrypted: boolean;
  readonly isLocal: boolean;
  readonly connections: number;
  readonly others: number;
  readonly hasTrigrams: boolean;
  readonly bytes: number;
  readonly vacuums: boolean;
  /** Tables with more dead rows than live ones, the worst first. */
  readonly neglected: readonly string[];
  /** B-trees of four times the size that their entries need, the largest first. */
  readonly swollen: readonly string[];
}

interface SchemaReport {
  readonly findings: readonly Finding[];
  readonly bytes: number;
  /** The plugins whose tables are there as this version knows them. */
  readonly ready: ReadonlySet<string>;
}

export interface DatabaseCheckInput {
  readonly sql: Sql;
  readonly config: Config;
  readonly sets: readonly MigrationSet[];
  readonly pooled: boolean;
}

export async function checkDatabase(input: DatabaseCheckInput): Promise<SchemaReport> {
  const { sql } = input;
  const [server] = await sql<{ version: number; shown: string }[]>`
    select current_setting('server_version_num')::int as version, current_setting('server_version') as shown`;
  const version = server?.version ?? 0;
  if (version < leastVersion) {
    const old = database.fail(`PostgreSQL ${server?.shown} is too old`, "upgrade it to 15 or later");
    return { findings: [old], bytes: 0, ready: new Set() };
  }
  const facts = await readFacts(sql);
  const { findings: ofMigrations, ready } = await checkMigrations(input);
  const findings = [...judge(facts, input), ...ofMigrations];
  if (findings.every(({ state }) => state === "ok"))
    findings.unshift(database.ok(`PostgreSQL ${facts.shown} answers, ${facts.encoding}, ${facts.collation}`));
  return { findings: [...findings, ...(ready.size > 0 ? await checkKey(input) : [])], bytes: facts.bytes, ready };
}

async function readFacts(sql: Sql): Promise<ServerFacts> {
  const [facts] = await sql<ServerFacts[]>`
    select current_setting('server_version_num')::int as version, current_setting('server_version') as shown,
      pg_encoding_to_char(d.encoding) as encoding, d.datcollate as collation, d.datcollversion as collation_version,
      pg_database_collation_actual_version(d.oid) as system_version, pg_is_in_recovery() as is_standby,
      has_schema_privilege('public', 'create') as may_create,
      coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as is_encrypted,
      coalesce(inet_server_addr() <<= '127.0.0.0/8' or inet_server_addr() = '::1', true) as is_local,
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as connections,
      (select count(*) from pg_stat_activity
        where backend_type = 'client backend' and application_name not like 'corestead%')::int as others,
      exists (select from pg_extension where extname = 'pg_trgm') as has_trigrams,
      pg_database_size(d.oid)::float8 as bytes,
      current_setting('autovacuum')::bool and current_setting('track_counts')::bool as vacuums,
      array(select relname::text from pg_stat_user_tables
        where n_dead_tup > greatest(n_live_tup, ${fewDeadRows}) order by n_dead_tup desc limit 5) as neglected,
      array(${swollenIndexes(sql)}) as swollen
    from pg_database d where d.datname = current_database()`;
  if (!facts) throw new Error("the database does not know itself");
  return facts;
}

/** Estimated by the statistics of PostgreSQL, because the extension that measures it may be missing. */
function swollenIndexes(sql: Sql) {
  return sql`
    with large as materialized (
      select i.oid, i.relname, i.reltuples, t.relname as table_name, n.nspname, x.indkey, pg_relation_size(i.oid) as bytes
      from pg_class i join pg_am m on m.oid = i.relam and m.amname = 'btree' join pg_index x on x.indexrelid = i.oid
        join pg_class t on t.oid = x.indrelid join pg_namespace n on n.oid = i.relnamespace and n.nspname = 'public'
      where i.relkind = 'i' and i.reltuples >= 0 and pg_relation_size(i.oid) > ${fewIndexBytes}
    ), estimated as (
      select relname, bytes, reltuples / ${usuallyFull}::float8 * (
        select sum(16 + coalesce(s.avg_width, ${widthIfUnknown})) from pg_attribute a left join pg_stats s
          on s.schemaname = nspname and s.attname = a.attname
            and s.tablename = case when indkey[a.attnum - 1] = 0 then relname else table_name end
        where a.attrelid = large.oid
      ) as needed from large
    )
    select relname || ' (' || pg_size_pretty(bytes) || ')' from estimated
    where bytes > ${fewIndexBytes} + 4 * needed order by bytes desc limit 5`;
}

function judge(facts: ServerFacts, { config, pooled }: Pick<DatabaseCheckInput, "config" | "pooled">): Finding[] {
  const findings: Finding[] = [];
  if (facts.isStandby)
    findings.push(database.fail("it is a standby, which takes no writes", "lead DATABASE_URL to the primary"));
  if (!facts.mayCreate) {
    const remedy = "grant create on schema public to the user of DATABASE_URL";
    findings.push(database.fail("the user may not create tables", remedy));
  }
  if (facts.encoding !== "UTF8") {
    const remedy = "create a database with encoding 'UTF8', and restore a backup there";
    findings.push(database.fail(`its encoding is ${facts.encoding}: it cannot store every text`, remedy));
  }
  if (facts.collationVersion !== null && facts.collationVersion !== facts.systemVersion) {
    const message = `its indexes of texts were made with version ${facts.collationVersion} of the collation ${facts.collation}, and the system has ${facts.systemVersion}: searches may miss rows`;
    findings.push(database.warn(message, "run REINDEX DATABASE, then ALTER DATABASE … REFRESH COLLATION VERSION"));
  }
  if (!facts.hasTrigrams) {
    const remedy = "install PostgreSQL's contrib package before the first start; an existing database works without";
    findings.push(database.warn("it has no extension pg_trgm: searches by a part of a word are slower", remedy));
  }
  if (config.databaseUrl && !facts.isLocal && !facts.isEncrypted && !pooled) {
    const remedy = "add ?sslmode=verify-full (or require) to DATABASE_URL";
    findings.push(database.warn("the connection to another machine is not encrypted", remedy));
  }
  if (!facts.vacuums) {
    const remedy = "set autovacuum and track_counts to on in PostgreSQL";
    findings.push(database.warn("autovacuum is off: tables and indexes grow with every change", remedy));
  }
  if (facts.neglected.length > 0) {
    const message = `more rows are dead than alive in ${facts.neglected.join(", ")}`;
    const remedy = "run VACUUM on them, and look for transactions that stay open; REINDEX gives an index's room back";
    findings.push(database.warn(message, remedy));
  }
  if (facts.swollen.length > 0) {
    const message = `indexes are over four times as large as what they hold: ${facts.swollen.join(", ")}`;
    findings.push(database.warn(message, "run REINDEX INDEX CONCURRENTLY on them"));
  }
  const wanted = connectionsOf(config);
  if (!pooled && wanted + facts.others > facts.connections) {
    const message = `it takes ${facts.connections} connections; this server may open ${wanted}, and others have ${facts.others}`;
    findings.push(database.warn(message, "raise max_connections, or lower DATABASE_POOL or WORKERS"));
  }
  if (pooled && config.databaseListenUrl === "") {
    const remedy =
      "set DATABASE_LISTEN_URL to the address of PostgreSQL itself, unless the pooler pools whole sessions";
    findings.push(database.warn("DATABASE_URL leads through a pooler, which may lose notifications", remedy));
  }
  return findings;
}

async function checkMigrations({
  sql,
  sets,
}: DatabaseCheckInput): Promise<{ findings: Finding[]; ready: ReadonlySet<string> }> {
  if (!(await isMigrated(sql)))
    return { findings: [database.warn("it is empty", "the first start fills it")], ready: new Set() };
  const applied = await sql<Applied[]>`select plugin, name, checksum from migrations`;
  try {
    const missing = pending(sets, applied);
    const behind = new Set(missing.map(({ plugin }) => plugin));
    const ready = new Set(sets.map(({ plugin }) => plugin).filter((plugin) => !behind.has(plugin)));
    const message = `${missing.length} migrations have not run: ${missing.map(({ plugin, name }) => `${plugin}/${name}`).join(", ")}`;
    const remedy = "take a backup, then start this version or run `corestead migrate`";
    return { findings: missing.length > 0 ? [database.warn(message, remedy)] : [], ready };
  } catch (error) {
    return { findings: [database.fail(reasonOf(error), "use the version that last ran on it")], ready: new Set() };
  }
}

/** A server with another key than the database's does not start. */
async function checkKey({ sql, config }: DatabaseCheckInput): Promise<Finding[]> {
  const state = await secretKeyState(sql, config);
  if (state.fault !== undefined) return [key.fail(...split(state.fault))];
  if (state.warning !== undefined) return [key.warn(...split(state.warning))];
  return [key.ok(`the database's secret key is here (fingerprint ${state.fingerprint})`)];
}
