/** A record `r` leaves PostgreSQL as one text, which print.ts puts into answers without parsing its data. */
import type { Fragment, Queryable } from "platform";
import { inboxColumns, inboxFacts, inboxValues } from "../../activity/api.ts";
import type { Database } from "../databases/database.ts";
import { kept, keptCreates, type By } from "../history/kept-store.ts";
import type { RecordEventKind } from "./record.ts";

/** For `printRaw`: id, created_at, updated_at, table_name and `data`, an expression of jsonb. */
export const rawRecord = (data = "r.data") =>
  String.raw`concat_ws(E'\x01', r.id, r.created_at, r.updated_at, r.table_name, ${data})`;

/** The separator between raw records of a page. */
export const betweenRecords = String.raw`E'\x02'`;

/** Only these fields of a record's data; `names` is an expression of text[]. */
export const selectedData = (names: string, data = "r.data") =>
  `(select coalesce(jsonb_object_agg(e.key, e.value), '{}') from jsonb_each(${data}) e where e.key = any(${names}))`;

/**
 * Data without the record's own fields of a flat answer. Checks first, because removing a key copies all of the data.
 */
export const withoutOwn = (data: string) =>
  `(case when ${data} ?| '{id,created_at,updated_at}' then ${data} - '{id,created_at,updated_at}'::text[] else ${data} end)`;

/**
 * Whether the data of a record `r` surely has a text of less than 90 times these bytes, which are at most 2,000: what is
 * larger PostgreSQL compresses, and only numbers are longer as text than as stored (up to 1,000 digits in 12 bytes).
 */
export const isSmall = (bytes: string | number = 2000) =>
  `pg_column_size(r.data) <= ${bytes} and pg_column_compression(r.data) is null`;

// SQL that notes a write of records in the same statement, for those who follow the database and for the log of
// activity.

/** Who follows a write. */
export interface Followers {
  readonly db: Pick<Database, "code" | "live" | "rules" | "schemaVersion" | "isConditional">;
  /** The person or program behind it, as JSON; undefined if the account does not log records. */
  readonly actor: string | undefined;
  /** The same for the record's history; undefined if none is kept. */
  readonly by: By | undefined;
  /** It comes back. */
  readonly isRestored?: boolean;
  /** What is shown of an update names the fields that have changed. */
  readonly compares?: boolean | undefined;
}

interface Made extends Pick<Followers, "compares"> {
  readonly id: string;
  readonly actor?: string | undefined;
  readonly by?: By | undefined;
}

/** Makes fragments once: they belong to no connection, and to make one costs a part of what a short statement does. */
export function once<T>(make: (on: Queryable) => T): (on: Queryable) => T {
  let made: T | undefined;
  return (on) => (made ??= make(on));
}

const parts = once((on) => ({
  nothing: on``,
  begin: on`with changed as (`,
  changed: on`returning r.db_id, r.id, r.account_id, r.table_name, r.data, r.plan_version, r.created_at, r.updated_at`,
  before: on`, held.data as old_data, i.patch`,
  entries: on`, r.entries`,
  was: on`, was`,
  old: on`, r.old_data`,
  // Other writes have a statement of their own if nobody follows the database; a deletion checks that itself.
  followed: on`where exists (select from record_feeds f where f.db_id = r.db_id)`,
  all: on`changed r`,
  raw: on.unsafe(rawRecord()),
  columns: on.unsafe(inboxColumns),
  values: {
    create: on.unsafe(inboxValues(undefined, "r.data")),
    update: on.unsafe(inboxValues("r.old_data", "r.patch")),
    destroy: on.unsafe(inboxValues("r.data", undefined)),
  },
}));
const actions = { create: "create", update: "update", destroy: "delete" } as const;

/**
 * The text before and after a statement that writes records `r`, so that the write is noted too and gives back
 * `shown` of them:
 *
 *     on`${begin(on, to)} update records r set … ${end(on, to, "update", shown)}`
 *
 * `first` begins by `with`, and `more` follows what was changed. An update that is logged or kept needs each record as it was as `held.data`, and its patch as `i.patch`.
 */
export function begin(on: Queryable, to: Followers, first?: Fragment): Fragment {
  const { begin: withChanged, nothing } = parts(on);
  const isFollowed = to.db.live || isNoted(to);
  if (first) return isFollowed ? on`${first}, changed as (` : first;
  return isFollowed ? withChanged : nothing;
}

function isNoted({ actor, by }: Pick<Made, "actor" | "by">): boolean {
  return actor !== undefined || by !== undefined;
}

/** For what is shown of an update that `compares`: the names of the fields that have changed. */
export function namesChanged(on: Queryable, to: Followers): Fragment {
  const old = to.db.live || isNoted(to) ? "r.old_data" : "held.data";
  return on.unsafe(
    `, array(select k from jsonb_object_keys(${old} || r.data) k where r.data -> k is distinct from ${old} -> k) as changed`,
  );
}

/** Those who follow records learn of one that leaves what they see by what it was. */
function tellsBefore({ live, isConditional }: Followers["db"]): boolean {
  return live && isConditional;
}

/**
 * For the `from` of an update of one record: the record as it was. Locked, because the statement's snapshot does not
 * have a change that the update waits for.
 */
export function held(on: Queryable, db: Database, made: Made): Fragment {
  const { id } = made;
  return !isNoted(made) && !tellsBefore(db) && !made.compares
    ? parts(on).nothing
    : on`, (select o.data from records o where o.db_id = ${db.id} and o.id = ${id} and o.account_id = ${db.accountId}
          for no key update) held`;
}

export function end(
  on: Queryable,
  to: Followers,
  kind: RecordEventKind,
  shown: Fragment | undefined,
  leftTable: string | null = null,
  more?: Fragment,
): Fragment {
  const { db, actor, by, isRestored = false } = to;
  const { nothing, changed, before, entries, all } = parts(on);
  if (!db.live && !isNoted(to)) return shown ? on`returning ${shown}` : nothing;
  const isChange = kind === "update";
  const op = isRestored ? "restore" : actions[kind];
  const isCompared = isNoted(to) || tellsBefore(db) || to.compares;
  return on`${changed} ${isChange && isCompared ? before : nothing} ${by ? entries : nothing}
      ${actor === undefined ? nothing : on`, ${actor}::text as actor`})
    ${more ?? nothing} ${db.live ? told(on, kind, leftTable, isChange && tellsBefore(db)) : nothing}
    ${actor === undefined ? nothing : noted(on, kind, db.code, all)}
    ${by ? kept(on, db, { by, op, isChange, leftTable }) : nothing} select ${shown ?? nothing} from changed r`;
}

/** The end of an insert of many records that is begun by `with changed as (`, each for its own actor. */
export function endCreates(
  on: Queryable,
  db: Pick<Database, "code" | "schemaVersion">,
  all: readonly Made[],
): Fragment {
  const { nothing, changed, entries } = parts(on);
  const isLogged = all.some(({ actor }) => actor !== undefined);
  const isKept = all.some(({ by }) => by);
  const ids = on`(select ${all.map(({ id }) => id)}::uuid[])`;
  const made = on`(select c.*, m.actor from changed c, unnest(${ids}, ${actorsOf(on, all)}) as m (id, actor)
    where m.id = c.id) r`;
  return on`${changed} ${isKept ? entries : nothing}) ${isLogged ? noted(on, "create", db.code, made) : nothing}
    ${isKept ? keptCreates(on, db, all) : nothing} select from changed r`;
}

function told(on: Queryable, kind: RecordEventKind, leftTable: string | null, isBeforeTold: boolean): Fragment {
  const { nothing, followed, raw, was, old } = parts(on);
  return on`, told as (
    insert into record_changes (db_id, kind, table_name, left_table, raw ${isBeforeTold ? was : nothing})
    select r.db_id, ${kind}, r.table_name, ${leftTable}, ${raw} ${isBeforeTold ? old : nothing} from changed r ${kind === "destroy" ? followed : nothing})`;
}

/** `from` has the changed records as `r`, each with its actor. */
function noted(on: Queryable, kind: RecordEventKind, code: string, from: Fragment): Fragment {
  const { columns, values } = parts(on);
  return on`, noted as (
    insert into activity_inbox (${columns})
    select r.account_id, ${actions[kind]}, ${inboxFacts("Core::Record", code)}, r.id, nullif(r.actor, ''), ${values[kind]} from ${from})`;
}

/** For `unnest`. One text, because the quotes of an array's would be escaped here and read there; JSON has no line feeds. */
function actorsOf(on: Queryable, all: readonly Made[]): Fragment {
  return on`(select string_to_array(${all.map(({ actor = "" }) => actor).join("\n")}, E'\n'))`;
}
