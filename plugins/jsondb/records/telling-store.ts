/** SQL that notes a write of records in the same statement, for those who follow the database and for the log of activity. */
import type { Sql } from "platform";
import { inboxColumns, inboxFacts, inboxValues } from "../../activity/api.ts";
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
 *
 * An update that is logged needs each record as it was as `held.data`, and its patch as `i.patch`.
 */
export function createTelling(sql: Sql) {
  const nothing = empty(sql);
  const begin = sql`with changed as (`;
  const raw = sql.unsafe(rawRecord());
  const changed = sql`returning r.db_id, r.id, r.account_id, r.table_name, r.data, r.created_at, r.updated_at`;
  const before = sql`, held.data as old_data, i.patch`;
  // Other writes have a statement of their own if nobody follows the database; a deletion checks that itself.
  const followed = sql`where exists (select from record_feeds f where f.db_id = r.db_id)`;
  const columns = sql.unsafe(inboxColumns);
  const values = {
    create: sql.unsafe(inboxValues(undefined, "r.data")),
    update: sql.unsafe(inboxValues("r.old_data", "r.patch")),
    destroy: sql.unsafe(inboxValues("r.data", undefined)),
  };
  const actions = { create: "create", update: "update", destroy: "delete" };
  const told = (kind: RecordEventKind, leftTable: string | null) => sql`, told as (
    insert into record_changes (db_id, kind, table_name, left_table, raw)
    select r.db_id, ${kind}, r.table_name, ${leftTable}, ${raw} from changed r ${kind === "destroy" ? followed : nothing})`;
  /** `from` has the changed records as `r`, each with its actor. */
  const noted = (kind: RecordEventKind, code: string, from = sql`changed r`) => sql`, noted as (
    insert into activity_inbox (${columns})
    select r.account_id, ${actions[kind]}, ${inboxFacts("Core::Record", code)}, r.id, nullif(r.actor, ''), ${values[kind]} from ${from})`;
  /** For `unnest`. One text, because the quotes of an array's would be escaped here and read there; JSON has no line feeds. */
  const actorsOf = (all: readonly Made[]) =>
    sql`(select string_to_array(${all.map(({ actor = "" }) => actor).join("\n")}, E'\n'))`;
  return {
    begin: ({ db, actor }: Followers): Fragment => (db.live || actor !== undefined ? begin : nothing),

    /**
     * For the `from` of an update of one record: the record as it was. Locked, because the statement's snapshot does not
     * have a change that the update waits for.
     */
    held: (db: Database, { id, actor }: Made): Fragment =>
      actor === undefined
        ? nothing
        : sql`, (select o.data from records o where o.db_id = ${db.id} and o.id = ${id} and o.account_id = ${db.accountId}
            for no key update) held`,

    end(
      { db, actor }: Followers,
      kind: RecordEventKind,
      shown: Fragment | undefined,
      leftTable: string | null = null,
    ): Fragment {
      if (!db.live && actor === undefined) return shown ? sql`returning ${shown}` : nothing;
      const more =
        actor === undefined ? nothing : sql`${kind === "update" ? before : nothing}, ${actor}::text as actor`;
      return sql`${changed} ${more}) ${db.live ? told(kind, leftTable) : nothing}
        ${actor === undefined ? nothing : noted(kind, db.code)} select ${shown ?? nothing} from changed r`;
    },

    /** The end of an insert of many records that is begun by `with changed as (`, each for its own actor. */
    endCreates(db: Pick<Database, "code">, all: readonly Made[]): Fragment {
      const ids = sql`(select ${all.map(({ id }) => id)}::uuid[])`;
      const made = sql`(select c.*, m.actor from changed c, unnest(${ids}, ${actorsOf(all)}) as m (id, actor)
        where m.id = c.id) r`;
      return sql`${changed}) ${noted("create", db.code, made)} select from changed r`;
    },
  };
}
