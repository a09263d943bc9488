/** SQL about the keys of unique fields. Keys are always written in their own order, so that two writes seldom deadlock. */
import type { Fragment, Queryable, Tx } from "platform";
import type { Database } from "../databases/database.ts";
import type { Claim, KeySet } from "../databases/unique.ts";
import { newLinks, type NewLink } from "../links/store.ts";
import { once } from "./parts-store.ts";

type Whose = Pick<Database, "id" | "accountId">;

/** As text: an array of JavaScript's booleans has no type of its own. */
const isInstant = ({ set }: Pick<Claim, "set">) => String(set.type === "datetime");

/** The claims as rows `n`. Arrays are given as `(select …)`, so that their plan stays. */
function rowsOf(on: Queryable, claims: readonly Claim[]): Fragment {
  return on`
    (select n.*, record_key(n.value, n.is_instant) as key
      from unnest((select ${claims.map(({ set }) => set.id)}::uuid[]), (select ${claims.map(({ set }) => set.table)}::text[]),
        (select ${claims.map(({ set }) => set.field)}::text[]), (select ${claims.map(isInstant)}::text[]::boolean[]),
        (select ${claims.map(({ value }) => value)}::text[]), (select ${claims.map(({ id }) => id)}::uuid[]))
        as n (set_id, table_name, field, is_instant, value, id)) n`;
}

/** A record's data by the present names of its fields, whether or not a rename has reached it. */
export const namedData =
  "record_renamed(r.data, (select d.renames from dbs d where d.id = r.db_id), r.table_name, r.plan_version)";
export const named = once((on) => on.unsafe(namedData));

/** What is written beside new records of one table. */
export interface Beside {
  readonly claims: readonly Claim[];
  readonly links: readonly NewLink[];
}

export const nothingBeside: Beside = { claims: [], links: [] };

/**
 * What stands before the insert of new records: their links, without which nothing is written if one leads nowhere
 * (`only`), and their keys, or an error that `isKeyTaken` knows.
 */
export function beside(on: Queryable, db: Database, table: string, { claims, links }: Beside) {
  const nothing = on``;
  if (claims.length === 0 && links.length === 0) return { first: undefined, only: nothing };
  const linked = links.length > 0 ? newLinks(on, db, table, links) : { first: nothing, only: nothing };
  const keys = claims.length > 0 ? keyed(on, db, claims, linked.only) : nothing;
  const comma = claims.length > 0 && links.length > 0 ? on`,` : nothing;
  return { first: on`with ${linked.first} ${comma} ${keys}`, only: linked.only };
}

function keyed(on: Queryable, db: Database, claims: readonly Claim[], only: Fragment): Fragment {
  return on`keyed as (
    insert into record_keys (account_id, db_id, set_id, key, id)
    select d.account_id, d.id, n.set_id, n.key, n.id from dbs d, ${rowsOf(on, claims)}
    where d.id = ${db.id} and d.account_id = ${db.accountId} and d.schema_version = ${db.schemaVersion} ${only}
    order by n.set_id, n.key)`;
}

/** For the statement that deletes records, after `changed`. */
export function freed(on: Queryable, db: Whose): Fragment {
  return on`, freed as (
    delete from record_keys k using changed c
    where k.db_id = ${db.id} and k.account_id = ${db.accountId} and k.id = c.id)`;
}

export function isKeyTaken(error: unknown): boolean {
  return error instanceof Error && "constraint_name" in error && error.constraint_name === "record_keys_pkey";
}

/** Takes the keys that are free; gives back the claims of the others. A key of the same record is its own. */
export async function claim(tx: Tx, db: Whose, claims: readonly Claim[], isNew: boolean): Promise<Claim[]> {
  const conflict = isNew
    ? tx`do nothing`
    : tx`(db_id, set_id, key) do update set id = excluded.id where k.id = excluded.id`;
  const made = await tx<{ setId: string; id: string }[]>`
    insert into record_keys as k (account_id, db_id, set_id, key, id)
    select ${db.accountId}, ${db.id}, n.set_id, n.key, n.id from ${rowsOf(tx, claims)} order by n.set_id, n.key, n.id
    on conflict ${conflict} returning k.set_id, k.id`;
  const done = new Set(made.map(({ setId, id }) => `${setId} ${id}`));
  return claims.filter(({ set, id }) => !done.has(`${set.id} ${id}`));
}

/**
 * Deletes those of the claims' keys whose holder is gone or has another value. The keys are locked first: their holder
 * may be about to take the value again. `pending` are records of this transaction that are not written yet.
 */
export async function freeStale(tx: Tx, db: Whose, claims: readonly Claim[], pending: readonly string[]) {
  const rows = rowsOf(tx, claims);
  await tx`
    select k.key from record_keys k, ${rows}
    where k.db_id = ${db.id} and k.account_id = ${db.accountId} and k.set_id = n.set_id and k.key = n.key
    order by k.set_id, k.key for update of k`;
  const { count } = await tx`
    delete from record_keys k using ${rows}
    where k.db_id = ${db.id} and k.account_id = ${db.accountId} and k.set_id = n.set_id and k.key = n.key
      and not k.id = any(${[...pending]}::uuid[]) and not exists (
        select from records r
        where r.db_id = ${db.id} and r.account_id = ${db.accountId} and r.id = k.id and r.table_name = n.table_name
          and record_key(${named(tx)} ->> n.field, n.is_instant) = k.key)`;
  return count;
}

/** The claims whose key another record holds. */
export async function held(on: Queryable, db: Whose, claims: readonly Claim[]): Promise<Claim[]> {
  const rows = await on<{ setId: string; id: string }[]>`
    select n.set_id, n.id from record_keys k, ${rowsOf(on, claims)}
    where k.db_id = ${db.id} and k.account_id = ${db.accountId} and k.set_id = n.set_id and k.key = n.key and k.id <> n.id`;
  const found = new Set(rows.map(({ setId, id }) => `${setId} ${id}`));
  return claims.filter(({ set, id }) => found.has(`${set.id} ${id}`));
}

/** The keys of claims, and whether a record that is there has the value: for what only looks. */
export async function keysOf(on: Queryable, db: Whose, claims: readonly Claim[]) {
  const rows = await on<{ setId: string; id: string; key: string; isHeld: boolean }[]>`
    select n.set_id, n.id, n.set_id || ' ' || n.key as key, exists (
      select from record_keys k join records r on r.db_id = k.db_id and r.id = k.id
      where k.db_id = ${db.id} and k.account_id = ${db.accountId} and k.set_id = n.set_id and k.key = n.key
        and r.account_id = ${db.accountId} and r.table_name = n.table_name
        and record_key(${named(on)} ->> n.field, n.is_instant) = k.key) as is_held
    from ${rowsOf(on, claims)}`;
  const found = new Map(rows.map(({ setId, id, ...one }) => [`${setId} ${id}`, one]));
  return new Map(claims.map((one) => [one, found.get(`${one.set.id} ${one.id}`)]));
}

/** Deletes the keys of a record in these sets, but for what is claimed; in all sets where there are none. */
export async function release(
  tx: Tx,
  db: Whose,
  id: string,
  sets: readonly KeySet[] | undefined,
  claims: readonly Claim[],
): Promise<void> {
  const within = sets ? tx`and k.set_id = any(${sets.map((set) => set.id)}::uuid[])` : tx``;
  await tx`
    delete from record_keys k
    where k.db_id = ${db.id} and k.account_id = ${db.accountId} and k.id = ${id} ${within}
      and not exists (select from ${rowsOf(tx, claims)} where n.set_id = k.set_id and n.key = k.key)`;
}
