/**
 * Divides the table of records into partitions by the hash of their database, while servers go on:
 *
 *     bun scripts/partition-records.ts --url postgres:///corestead --partitions 16
 *
 * Makes a partitioned twin that a trigger keeps up to date, copies what is there, builds the indexes one after the other
 * (`concurrently`), and exchanges the two under a lock of milliseconds. `records_before` is left, to be dropped by hand.
 * docs/sharding.md has the figures.
 */
import { parseArgs } from "node:util";
import { openPool, type Sql } from "../runtime/db.ts";

interface Moved {
  readonly copySeconds: number;
  readonly indexSeconds: number;
  /** How long nobody could read or write records. */
  readonly lockMs: number;
}

interface Index {
  readonly name: string;
  readonly definition: string;
}

const batch = 50_000;

export async function partitionRecords(sql: Sql, partitions: number): Promise<Moved> {
  await makeTwin(sql, partitions);
  const began = performance.now();
  await copy(sql);
  const copied = performance.now();
  const indexes = await buildIndexes(sql, partitions);
  const built = performance.now();
  return {
    copySeconds: (copied - began) / 1000,
    indexSeconds: (built - copied) / 1000,
    lockMs: await exchange(sql, indexes),
  };
}

const nameOf = (at: number) => `records_p${`${at}`.padStart(3, "0")}`;

async function makeTwin(sql: Sql, partitions: number): Promise<void> {
  const [table] = await sql<{ options: string }[]>`
    select array_to_string(reloptions, ', ') as options from pg_class where oid = 'records'::regclass and relkind = 'r'`;
  if (!table) throw new Error("records are partitioned already");
  const key = "t.db_id = old.db_id and t.id = old.id";
  const columns = await sql<{ name: string }[]>`
    select attname as name from pg_attribute
    where attrelid = 'records'::regclass and attnum > 0 and not attisdropped and attname not in ('db_id', 'id')`;
  const all = Array.from({ length: partitions }, (_, at) => at);
  await sql.begin((tx) =>
    tx.unsafe(`
    create table records_twin (like records including all excluding indexes) partition by hash (db_id);
    alter table records_twin add primary key (db_id, id);
    ${all
      .map(
        (at) =>
          `create table ${nameOf(at)} partition of records_twin
             for values with (modulus ${partitions}, remainder ${at}) with (${table.options});`,
      )
      .join("\n")}
    -- What is deleted while it is being copied would come back.
    create table records_twin_gone (db_id uuid not null, id uuid not null, primary key (db_id, id));
    create function records_twin() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        delete from records_twin t where ${key};
        insert into records_twin_gone values (old.db_id, old.id) on conflict do nothing;
      else
        insert into records_twin select (new).* on conflict (db_id, id) do update
          set ${columns.map(({ name }) => `${name} = excluded.${name}`).join(", ")};
      end if;
      return null;
    end $$;
    create trigger records_twin after insert or update or delete on records
      for each row execute function records_twin()`),
  );
}

/** In the order of the key; what the trigger has written is newer, and stays. */
async function copy(sql: Sql): Promise<void> {
  const least = "00000000-0000-0000-0000-000000000000";
  let last: { dbId: string; id: string } | undefined = { dbId: least, id: least };
  while (last) {
    const { dbId, id }: { dbId: string; id: string } = last;
    const rows: { dbId: string; id: string }[] = await sql<{ dbId: string; id: string }[]>`
      with batch as materialized (
        select * from records where (db_id, id) > (${dbId}, ${id}) order by db_id, id limit ${batch}
      ), copied as (
        insert into records_twin select * from batch on conflict do nothing
      )
      select db_id, id from batch order by db_id desc, id desc limit 1`;
    last = rows[0];
  }
}

/** Each index on each partition, without holding up writers, and then the one over all of them. */
async function buildIndexes(sql: Sql, partitions: number): Promise<readonly Index[]> {
  const indexes = await sql<Index[]>`
    select c.relname as name, pg_get_indexdef(c.oid) as definition
    from pg_index x join pg_class c on c.oid = x.indexrelid
    where x.indrelid = 'records'::regclass and not x.indisprimary and c.relname !~ '^records_learned_'`;
  for (const { name, definition } of indexes) {
    const [, rest] = /^CREATE INDEX \S+ ON \S+ (.*)$/s.exec(definition) ?? [];
    if (rest === undefined) throw new Error(`${name} is no index that can be divided: ${definition}`);
    await sql.unsafe(`create index ${name}_twin on only records_twin ${rest}`);
    for (let at = 0; at < partitions; at++) {
      const own = `${nameOf(at)}${name.slice("records".length)}`;
      await sql.unsafe(`create index concurrently ${own} on ${nameOf(at)} ${rest}`);
      await sql.unsafe(`alter index ${name}_twin attach partition ${own}`);
    }
  }
  await sql`analyze records_twin`;
  return indexes;
}

/** The twin takes the name. Gives up if it has to wait for somebody for more than two seconds, and tries again. */
async function exchange(sql: Sql, indexes: readonly Index[]): Promise<number> {
  const [found] = await sql<{ definition: string | null }[]>`
    select (select pg_get_functiondef(oid) from pg_proc where proname = 'record_candidates') as definition`;
  for (let attempt = 1; ; attempt++)
    try {
      return await sql.begin(async (tx) => {
        await tx`set local lock_timeout = '2s'`;
        await tx`lock table records in access exclusive mode`;
        const began = performance.now();
        await tx`
          delete from records_twin t using records_twin_gone g
          where t.db_id = g.db_id and t.id = g.id
            and not exists (select from records r where r.db_id = g.db_id and r.id = g.id)`;
        await tx.unsafe(`
          drop trigger records_twin on records;
          drop function records_twin();
          drop table records_twin_gone;
          alter table records rename to records_before;
          alter index records_pkey rename to records_before_pkey;
          alter table records_twin rename to records;
          alter index records_twin_pkey rename to records_pkey;
          ${indexes.map(({ name }) => `alter index ${name} rename to ${name}_before; alter index ${name}_twin rename to ${name};`).join("\n")}
          ${found?.definition ? candidates(found.definition) : ""}`);
        return performance.now() - began;
      });
    } catch (error) {
      const isLocked = error instanceof Error && "code" in error && error.code === "55P03";
      if (!isLocked || attempt === 100) throw error;
      await Bun.sleep(1000);
    }
}

/** The function gives rows of the table, and from now on looks into the one partition that has the database. */
function candidates(definition: string): string {
  const [, condition = ""] = /from records r\s+where (.*?)\s+limit most;/s.exec(definition) ?? [];
  if (condition === "") throw new Error("record_candidates is not as it was");
  const narrow = definition.replace(condition, () => `r.db_id = db and (${condition})`);
  return `drop function record_candidates(uuid, text, text[], text[], integer); ${narrow.replace("SETOF records_before", "SETOF records")}`;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { url: { type: "string" }, partitions: { type: "string", default: "16" } } });
  if (!values.url) throw new Error("--url is needed: the address of PostgreSQL");
  const sql = openPool({ url: values.url }, { max: 1, statementTimeoutMs: 0 });
  const { copySeconds, indexSeconds, lockMs } = await partitionRecords(sql, Number(values.partitions));
  await sql.end();
  process.stdout.write(
    `copied in ${copySeconds.toFixed(0)} s, indexed in ${indexSeconds.toFixed(0)} s, locked for ${lockMs.toFixed(0)} ms\n` +
      "When you are content: drop table records_before\n",
  );
}
