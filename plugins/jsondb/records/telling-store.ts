/** SQL that notes a write of records in the same statement, for those who follow the database and for the log of activity. */
import type { Sql } from "platform";
import { entryColumns, entryValues } from "../../activity/api.ts";
import { rawRecord } from "./answer-store.ts";
import type { Database } from "../databases/database.ts";
import type { RecordEventKind } from "./record.ts";

const empty = (sql: Sql) => sql``;
type Fragment = ReturnType<typeof empty>;

/** Who follows a write. */
export interface Followers {
  readonly db: Pick<Database, "code" | "live">;
  /** Whoever makes it, as JSON; undefined if the account does not log records. */
  readonly actor: string | undefined;
}

interface Made {
  readonly id: string;
  readonly actor?: string | undefined;
}

/**
 * The text before and after a statement that writes records `r`, so that the write is noted too and gives back
 * `shown` of them:
 *
 *     sql`${telling.begin(to)} update records r set … ${telling.end(to, "update", shown)}`
 */
export function createTelling(sql: Sql) {
  const nothing = empty(sql);
  const begin = sql`with changed as (`;
  const raw = sql.unsafe(rawRecord());
  const changed = sql`returning r.db_id, r.id, r.account_id, r.table_name, r.data, r.created_at, r.updated_at`;
  const before = sql`, (select o.data from records o where o.db_id = r.db_id and o.id = r.id) as old_data`;
  // Other writes have a statement of their own if nobody follows the database; a deletion checks that itself.
  const followed = sql`where exists (select from record_feeds f where f.db_id = r.db_id)`;
  const columns = sql.unsafe(entryColumns);
  const values = {
    create: sql.unsafe(entryValues("n.actor", "null::jsonb", "r.data")),
    update: sql.unsafe(entryValues("n.actor", "r.old_data", "r.data")),
    destroy: sql.unsafe(entryValues("n.actor", "r.data", "null::jsonb")),
  };
  const actions = { create: "create", update: "update", destroy: "delete" };
  const told = (kind: RecordEventKind, leftTable: string | null) => sql`, told as (
    insert into record_changes (db_id, kind, table_name, left_table, raw)
    select r.db_id, ${kind}, r.table_name, ${leftTable}, ${raw} from changed r ${kind === "destroy" ? followed : nothing})`;
  const noted = (kind: RecordEventKind, code: string, actor: string) => sql`, noted as (
    insert into activity (${columns})
    select r.account_id, ${actions[kind]}, 'Core::Record', r.id, ${code}, ${values[kind]}
    from changed r, (select ${actor}::text::jsonb as actor) n)`;
  return {
    /** The end of a statement that writes many records, each for its actor, begun by `with changed as (`. */
    endMany(db: Pick<Database, "code">, kind: "create" | "update", all: readonly Made[], shown?: Fragment): Fragment {
      return sql`${changed} ${kind === "update" ? sql`, held.old_data` : nothing}), noted as (
          insert into activity (${columns})
          select r.account_id, ${actions[kind]}, 'Core::Record', r.id, ${db.code}, ${values[kind]}
          from changed r, (
            select id, actor::jsonb from unnest((select ${all.map(({ id }) => id)}::uuid[]),
              (select ${all.map(({ actor = "{}" }) => actor)}::text[])) as m (id, actor)) n
          where n.id = r.id
        )
        select ${shown ? sql`${shown} as raw` : nothing} from changed r`;
    },
    begin: ({ db, actor }: Followers): Fragment => (db.live || actor !== undefined ? begin : nothing),
    end(
      { db, actor }: Followers,
      kind: RecordEventKind,
      shown: Fragment | undefined,
      leftTable: string | null = null,
    ): Fragment {
      if (!db.live && actor === undefined) return shown ? sql`returning ${shown}` : nothing;
      return sql`${changed} ${kind === "update" && actor !== undefined ? before : nothing})
        ${db.live ? told(kind, leftTable) : nothing} ${actor === undefined ? nothing : noted(kind, db.code, actor)}
        select ${shown ?? nothing} from changed r`;
    },
  };
}
