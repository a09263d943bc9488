/** SQL about the indexes that databases get for how they are searched. */
import type { Page, Sql, Tx } from "platform";
import { idLiteral } from "../search/filter-store.ts";
import { parseShape } from "./shape.ts";

/** Searches of one shape, since the last time they were written down. */
export interface Tally {
  readonly accountId: number;
  readonly dbId: string;
  readonly shape: string;
  readonly calls: number;
  readonly milliseconds: number;
}

export interface IndexRow {
  readonly id: string;
  readonly accountId: number;
  readonly dbId: string;
  readonly shape: string;
  readonly status: "watched" | "building" | "ready" | "failed";
  readonly calls: number;
  readonly milliseconds: number;
  readonly error: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly usedAt: Date;
}

export type IndexStore = ReturnType<typeof createIndexStore>;

export function createIndexStore(sql: Sql) {
  const columns = sql`
    id, account_id, db_id, shape, status, calls, milliseconds, error, created_at, updated_at, used_at`;
  const nameOf = (id: string) => `records_learned_${id.replaceAll("-", "")}`;
  return {
    async list(accountId: number, dbId: string, { limit, offset }: Page) {
      const where = sql`account_id = ${accountId} and db_id = ${dbId}`;
      const rows = await sql<IndexRow[]>`
        select ${columns} from db_indexes where ${where}
        order by milliseconds desc, id limit ${limit} offset ${offset}`;
      const [count] = await sql<{ total: number }[]>`select count(*) as total from db_indexes where ${where}`;
      return { rows, total: count?.total ?? 0 };
    },

    /** Adds to what is known; gives the ids of those that have come to be worth an index. */
    async add(tallies: readonly (Tally & { readonly id: string })[], worth: { calls: number; milliseconds: number }) {
      const of = <K extends keyof (typeof tallies)[number]>(key: K) => tallies.map((tally) => tally[key]);
      const rows = await sql<{ id: string; isNew: boolean }[]>`
        insert into db_indexes as i (id, account_id, db_id, shape, calls, milliseconds)
        select * from unnest(${of("id")}::uuid[], ${of("accountId")}::bigint[], ${of("dbId")}::uuid[],
          ${of("shape")}::text[], ${of("calls")}::float8[], ${of("milliseconds")}::float8[])
        order by 3, 4
        on conflict (db_id, shape) do update set
          calls = i.calls + excluded.calls, milliseconds = i.milliseconds + excluded.milliseconds, used_at = now()
        returning id, status = 'watched' and calls >= ${worth.calls} and milliseconds >= ${worth.milliseconds} as is_new`;
      return rows.filter(({ isNew }) => isNew).map(({ id }) => id);
    },

    async byId(id: string): Promise<(IndexRow & { readonly code: string | null }) | undefined> {
      const [row] = await sql<(IndexRow & { code: string | null })[]>`
        select ${columns}, (select code from dbs where id = db_id) as code from db_indexes where id = ${id}`;
      return row;
    },

    /** Whether the database has so many records. */
    async isLarge(dbId: string, records: number): Promise<boolean> {
      const [row] = await sql<{ found: number }[]>`
        select count(*)::int as found from (select from records where db_id = ${dbId} limit ${records}) r`;
      return (row?.found ?? 0) >= records;
    },

    /** Claims the one place for building. "busy" while another index is being built, "full" where there are enough. */
    async begin(tx: Tx, { id, dbId }: IndexRow, most: { ofDatabase: number; ofAll: number }) {
      await tx`select pg_advisory_xact_lock(hashtext('db_indexes'))`;
      const [found] = await tx<{ busy: boolean; full: boolean }[]>`
        select
          coalesce(bool_or(status = 'building' and id <> ${id} and updated_at > now() - interval '2 minutes'), false)
            as busy,
          count(*) filter (where status = 'ready') >= ${most.ofAll}
            or count(*) filter (where status = 'ready' and db_id = ${dbId}) >= ${most.ofDatabase} as full
        from db_indexes`;
      if (!found || found.busy) return "busy";
      if (found.full) return "full";
      await tx`update db_indexes set status = 'building', error = null, updated_at = now() where id = ${id}`;
      return "begun";
    },

    /** Writers go on meanwhile. Fails after the time limit of statements; what is left of it then is dropped. */
    async build({ id, dbId, shape }: IndexRow): Promise<void> {
      const { equal, order } = parseShape(shape);
      const keys = ["table_name", ...equal, ...(order ? [order] : []), "id"].join(", ");
      await sql.unsafe(`drop index concurrently if exists ${nameOf(id)}`);
      await sql.unsafe(`create index concurrently ${nameOf(id)} on records (${keys}) where db_id = ${idLiteral(dbId)}`);
    },

    async end(id: string, status: IndexRow["status"], error: string | null = null): Promise<void> {
      await sql`update db_indexes set status = ${status}, error = ${error}, updated_at = now() where id = ${id}`;
    },

    /** It counts from nothing again. */
    async reset(id: string): Promise<void> {
      await sql`
        update db_indexes set status = 'watched', calls = 0, milliseconds = 0, updated_at = now()
        where id = ${id} and status in ('watched', 'building')`;
    },

    async drop(id: string): Promise<void> {
      await sql.unsafe(`drop index concurrently if exists ${nameOf(id)}`);
    },

    /**
     * Forgets what is hardly used, failed long ago, or of a database that is gone; gives the databases whose indexes
     * were forgotten. What is not there, as after a restore, is watched again.
     */
    async prune(unusedDays: number): Promise<readonly { accountId: number; dbId: string; code: string | null }[]> {
      await sql`
        update db_indexes set calls = calls / 2, milliseconds = milliseconds / 2 where status = 'watched'`;
      // Whoever built it has died: a build takes half a minute at most.
      await sql`
        update db_indexes set status = 'watched', updated_at = now()
        where status = 'building' and updated_at < now() - interval '10 minutes'`;
      const changed = await sql<{ accountId: number; dbId: string; code: string | null }[]>`
        with gone as (
          delete from db_indexes i where status <> 'building' and (
            status = 'watched' and milliseconds < 10
            or status = 'failed' and updated_at < now() - interval '1 day'
            or status = 'ready' and used_at < now() - make_interval(days => ${unusedDays})
            or not exists (select from dbs where id = i.db_id))
          returning account_id, db_id, status
        ), missing as (
          update db_indexes i set status = 'watched', updated_at = now()
          where status = 'ready' and not exists (
            select from pg_index x join pg_class c on c.oid = x.indexrelid
            where x.indrelid = 'records'::regclass and x.indisvalid
              and c.relname = 'records_learned_' || replace(i.id::text, '-', ''))
          returning account_id, db_id, status
        )
        select distinct account_id, db_id, (select code from dbs where id = db_id) as code
        from (select * from gone where status = 'ready' union all select * from missing) c`;
      return [...changed];
    },

    /** The names of indexes that nothing knows any more. */
    async orphans(): Promise<readonly string[]> {
      const rows = await sql<{ name: string }[]>`
        select c.relname as name from pg_index x join pg_class c on c.oid = x.indexrelid
        where x.indrelid = 'records'::regclass and c.relname ~ '^records_learned_[0-9a-f]{32}$' and not exists (
          select from db_indexes i where c.relname = 'records_learned_' || replace(i.id::text, '-', ''))`;
      return rows.map(({ name }) => name);
    },

    async dropOrphan(name: string): Promise<void> {
      await sql.unsafe(`drop index concurrently if exists ${name}`);
    },
  };
}
