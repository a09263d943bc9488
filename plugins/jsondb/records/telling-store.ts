/** SQL that tells of a change of records in the statement that makes it, for those who follow the database. */
import type { Sql } from "platform";
import { rawRecord } from "./answer-store.ts";
import type { RecordEventKind } from "./changes.ts";

const empty = (sql: Sql) => sql``;
type Fragment = ReturnType<typeof empty>;

/**
 * What stands before and after a statement that changes records `r`, so that it tells of that too and gives back
 * `shown` of them:
 *
 *     sql`${telling.begin(db.live)} update records r set … ${telling.end(db.live, "update", shown)}`
 */
export function createTelling(sql: Sql) {
  const nothing = empty(sql);
  const begin = sql`with changed as (`;
  const raw = sql.unsafe(rawRecord());
  const changed = sql`returning r.db_id, r.id, r.table_name, r.data, r.created_at, r.updated_at`;
  // A database that is not followed is written by another statement; what is deleted looks for itself.
  const followed = sql`where exists (select from record_feeds f where f.db_id = r.db_id)`;
  return {
    begin: (live: boolean): Fragment => (live ? begin : nothing),
    end(live: boolean, kind: RecordEventKind, shown: Fragment | undefined, leftTable: string | null = null): Fragment {
      if (!live) return shown ? sql`returning ${shown}` : nothing;
      return sql`${changed}), told as (
          insert into record_changes (db_id, kind, table_name, left_table, raw)
          select r.db_id, ${kind}, r.table_name, ${leftTable}, ${raw} from changed r ${kind === "destroy" ? followed : nothing}
        )
        select ${shown ?? nothing} from changed r`;
    },
  };
}
