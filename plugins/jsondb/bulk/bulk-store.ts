/** SQL of exports and batches. */
import type { Read, Tx } from "platform";
import { betweenRecords, rawRecord } from "../records/answer-store.ts";
import type { Database } from "../databases/database.ts";
import { createArgs, filterConditions, inScope, phraseCondition, type Args } from "../search/filter-store.ts";
import type { Scope } from "./scope.ts";

export interface RawPage {
  /** Records for `readRaw`, with the separator between them, as bytes of UTF-8. */
  readonly raws: Uint8Array;
  readonly records: number;
}

export interface KeysPage {
  readonly keys: readonly string[];
  /** The last record that was looked at; null at the end. */
  readonly last: string | null;
}

/** Before every id. */
export const noId = "00000000-0000-0000-0000-000000000000";

// A page of large records ends early.
const maxPageBytes = 4_000_000;
const keysPerPage = 10_000;

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
     * The next records by id: at most `limit`, and fewer if they are large. Null at the end. One text, because a row of
     * its own for each costs the server as much as printing it; and as bytes, because not every format needs strings.
     */
    async exportPage(db: Database, scope: Scope, after: string, limit: number): Promise<RawPage | null> {
      const args = createArgs();
      const columns = "r.id, r.created_at, r.updated_at, r.table_name, r.data";
      const text = `
        select string_agg(${rawRecord()}, ${betweenRecords} order by r.id) as raws, count(*) as records from (
          select r.*, sum(pg_column_size(r.data)) over (order by r.id rows unbounded preceding)
            - pg_column_size(r.data) as bytes_before
          from (${page(args, db, scope, after, limit, columns)}) r
        ) r where r.bytes_before < ${maxPageBytes}`;
      const [[raws, records] = []] = await read((sql) => sql.unsafe(text, args.values).raw());
      return raws && records ? { raws, records: Number(new TextDecoder().decode(records)) } : null;
    },

    /** The data keys of the next records, without the known ones. */
    async keysPage(db: Database, scope: Scope, after: string, known: readonly string[]): Promise<KeysPage> {
      const args = createArgs();
      const others = () => `r.data - ${args.bind([...known], "text[]")}`;
      // Whether there are any is asked first, because most pages have none, and listing keys takes longer.
      const found = page(args, db, scope, after, keysPerPage, `r.id, ${others()} <> '{}' as has_others`);
      const [seen] = await run<{ hasOthers: boolean | null; last: string | null }[]>(
        `select bool_or(p.has_others) as has_others, max(p.id::text) as last from (${found}) p`,
        args,
      );
      if (!seen?.hasOthers) return { keys: [], last: seen?.last ?? null };
      const again = page(args, db, scope, after, keysPerPage, `${others()} as others`);
      const listed = `select array_agg(distinct k) as keys from (${again}) p, jsonb_object_keys(p.others) k`;
      const [row] = await run<{ keys: string[] | null }[]>(listed, args);
      return { keys: row?.keys ?? [], last: seen.last };
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
