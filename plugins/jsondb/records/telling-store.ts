/** SQL that logs a write of records in the same statement, for those who follow the database. */
import type { Sql } from "platform";
import { rawRecord } from "./answer-store.ts";
import type { RecordEventKind } from "./record.ts";

const empty = (sql: Sql) => sql``;
type Fragment = ReturnType<typeof empty>;

/**
 * The text before and after a statement that writes records `r`, so that the write is logged too and gives back
 * `shown` of them:
 *
 *     sql`${telling.begin(db.live)} update records r set … ${telling.end(db.live, "update", shown)}`
 */
export function createTelling(sql: Sql) {
  const nothing = empty(sql);
  const begin = sql`with changed as (`;
  const raw = sql.unsafe(rawRecord());
  const changed = sql`returning r.db_id, r.id, r.table_name, r.data, r.created_at, r.updated_at`;
  // Other writes have a statement of their own if nobody follows the database; a deletion checks that itself.
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
