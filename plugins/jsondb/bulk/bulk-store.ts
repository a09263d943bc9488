/** SQL of exports and batches. */
import type { Read, Tx } from "platform";
import { betweenRecords, rawRecord } from "../records/answer-store.ts";
import type { Database } from "../databases/database.ts";
import { createArgs, filterConditions, inScope, phraseCondition, type Args } from "../search/filter-store.ts";
import type { Scope } from "./scope.ts";

export interface KeysPage {
  readonly keys: readonly string[];
  /** The last record that was looked at; null at the end. */
  readonly last: string | null;
}

/** Before every id. */
export const noId = "00000000-0000-0000-0000-000000000000";

// A page of large records ends early.
const maxPageBytes = 4_000_000;
const keysPerPage = 2000;

export type BulkStore = ReturnType<typeof createBulkStore>;

export function createBulkStore(read: Read) {
  const page = (args: Args, db: Database, scope: Scope, after: string, limit: number, columns: string) => {
    // By the data alone: an index plan may move while a long export runs, and the order of ids takes no other index.
    const source = { table: scope.table, indexed: false };
    const phrase = scope.phrase ? [phraseCondition(args, source, scope.phrase)] : [];
    const where = [inScope(args, db, scope), ...filterConditions(args, source, scope), ...phrase].join(" and ");
    return `
      select ${columns} from records r
      where ${where} and r.id > ${args.bind(after, "uuid")}
      order by r.id limit ${args.bind(limit, "int")}`;
  };
  const run = <T extends object[]>(text: string, { values }: Args) => read<T>((sql) => sql.unsafe<T>(text, values));

  return {
    /**
     * The next records by id, for `readRaw`, with the separator between them: at most `limit`, and fewer if they are
     * large. Null at the end. One text, because a row of its own for each costs the server as much as printing it.
     */
    async exportPage(db: Database, scope: Scope, after: string, limit: number): Promise<string | null> {
      const args = createArgs();
      const text = `
        select string_agg(${rawRecord()}, ${betweenRecords} order by r.id) as raws from (
          select r.*, sum(pg_column_size(r.data)) over (order by r.id) - pg_column_size(r.data) as bytes_before
          from (${page(args, db, scope, after, limit, "r.*")}) r
        ) r where r.bytes_before < ${maxPageBytes}`;
      const [row] = await run<{ raws: string | null }[]>(text, args);
      return row?.raws ?? null;
    },

    /** The data keys of the next records, without the known ones. */
    async keysPage(db: Database, scope: Scope, after: string, known: readonly string[]): Promise<KeysPage> {
      const args = createArgs();
      const others = `r.data - ${args.bind([...known], "text[]")}`;
      // Most records have no others: an expression that is null for them keeps their keys from being listed.
      const text = `
        with page as materialized (
          ${page(args, db, scope, after, keysPerPage, `r.id, nullif(${others}, '{}') as others`)})
        select array(select distinct k from page, jsonb_object_keys(page.others) k) as keys,
          (select page.id from page order by page.id desc limit 1) as last`;
      const [row] = await run<KeysPage[]>(text, args);
      return row ?? { keys: [], last: null };
    },

    /**
     * Locks these records until the transaction ends, always in the same order, so that two batches never deadlock.
     * Gives back when each has changed last.
     */
    async lockAll(tx: Tx, db: Database, ids: readonly string[]): Promise<ReadonlyMap<string, Date>> {
      const rows = await tx<{ id: string; updatedAt: Date }[]>`
        select r.id, r.updated_at from records r
        where r.db_id = ${db.id} and r.account_id = ${db.accountId} and r.id = any(${[...ids]}::uuid[])
        order by r.id for no key update`;
      return new Map(rows.map(({ id, updatedAt }) => [id, updatedAt]));
    },
  };
}
