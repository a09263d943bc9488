/** SQL about the inbox: what transactions wrote of their changes becomes entries, in the order in which it was written. */
import type { Sql, Tx } from "platform";

/** Rows that one statement turns into entries; a row may have up to 32 changes. */
const atOnce = 500;

/**
 * How one field differs. The functions of 001_activity.sql say the same of long values: calling them costs more than all
 * else. A sealed text is a secret whatever its field is called.
 */
const difference = `case
  when f.facts -> 'secrets' ? d.key or d.key ~* (f.facts ->> 'secret')
    or d.before #>> '{}' ~ '^v1\\.[A-Za-z0-9_-]{38}' or d.after #>> '{}' ~ '^v1\\.[A-Za-z0-9_-]{38}'
    then '{"secret": true}'
  when coalesce(length(d.before::text), 0) + coalesce(length(d.after::text), 0) > 2000
    then activity_difference(false, d.before, d.after)
  when d.before is null then jsonb_build_object('new', d.after)
  when d.after is null then jsonb_build_object('old', d.before)
  else jsonb_build_object('old', d.before, 'new', d.after) end`;

const changes = `coalesce(f.changes, (
  select jsonb_object_agg(d.key, ${difference})
  from (
    select k.key, nullif(f.old -> k.key, 'null') as before, nullif(f.new -> k.key, 'null') as after
    from (select jsonb_object_keys(f.one) as key) k
    where nullif(f.old -> k.key, 'null') is distinct from nullif(f.new -> k.key, 'null')
      and not coalesce(f.facts -> 'quiet' ? k.key, false)
    limit 200
  ) d))`;

/** Rows of a table with `by` are logged by the actions that it names for their purpose. */
const action = `case when f.purpose is null then i.action else f.facts #>> array['by', 'actions', f.purpose,
  case i.action when 'create' then '0' when 'delete' then '1' end] end`;

const keys = `(
  select string_agg(f.one ->> k.key, '/') from jsonb_array_elements_text(f.facts -> 'keys') as k (key))`;

/** The changes of a row `i` of the inbox, each with its place in the row. */
const changesIn = (json: (column: string) => string) => `
    select 0 as place, i.record_id, ${json("i.actor")} as actor, i.changes,
      coalesce(i.old, ${json("i.old_row")}) as old, coalesce(i.new, ${json("i.new_row")}) as new
    where i.ids is null
    union all
    select u.place, u.id::text, a.actors -> u.id::text, case when u.is_large then nullif(u.old -> 0, 'null') end,
      case when not u.is_large then u.old end, case when u.is_large then '{}' else p.given -> 1 end
    from (
      select id, old, place, jsonb_typeof(old) = 'array' as is_large
      from unnest(i.ids, i.olds) with ordinality as u (id, old, place)) u
      cross join (select i.actor::jsonb as actors offset 0) a
      left join jsonb_array_elements(i.given::jsonb) as p (given) on p.given ->> 0 = u.id::text
    where i.ids is not null`;

/** Of an update that changed nothing of note only a statement makes an entry: it was asked for. */
const entries = (json: (column: string) => string) => `
  select i.at, i.account_id, e.action, f.facts ->> 'model', coalesce(f.record_id, ${keys}),
    coalesce(f.facts ->> 'title', left(f.one ->> (f.facts ->> 'name'), 500)), coalesce(f.actor ->> 'kind', 'system'),
    coalesce((f.actor ->> 'user')::bigint, case when f.purpose is not null then (f.one ->> 'user_id')::bigint end),
    (f.actor ->> 'token')::bigint, f.actor - '{kind,user,token,account}'::text[], e.changes
  from inbox i,
    lateral (select g.*, g.one ->> (g.facts #>> '{by,column}') as purpose from (
      select c.*, i.facts::jsonb as facts, coalesce(c.new, c.old) as one from (${changesIn(json)}) c offset 0) g
      offset 0) f,
    lateral (select ${action} as action, ${changes} as changes offset 0) e
  where e.action is not null and (i.action <> 'update' or f.record_id is not null or e.changes is not null)
  order by i.id, f.place`;

const quickly = entries((column) => `${column}::jsonb`);
const carefully = entries((column) => `activity_json(${column}::text)`);

/** The accounts that have something in it. */
export async function accounts(sql: Sql): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    with recursive a as (
      (select account_id as id from activity_inbox order by account_id limit 1)
      union all
      select (select account_id from activity_inbox where account_id > a.id order by account_id limit 1) from a
      where a.id is not null
    )
    select id from a where id is not null`;
  return rows.map(({ id }) => id);
}

/** Also of what another process is taking right now. */
export async function hasAny(sql: Sql, accountId: number): Promise<boolean> {
  const rows = await sql`select from activity_inbox where account_id = ${accountId} limit 1`;
  return rows.length > 0;
}

/**
 * Makes entries of the first changes. Waits for whoever is at it. Throws the database's fault "bad-input" or
 * "out-of-range" if a row cannot be read; `careful` takes it all the same, and as long again for each.
 */
export async function take(tx: Tx, accountId: number, careful = false): Promise<void> {
  await tx`
    select pg_advisory_xact_lock(hashtext('corestead activity inbox'), ${accountId}::bigint::int),
      set_config('corestead.retention', 'on', true)`;
  await tx`
    with inbox as (
      delete from activity_inbox where account_id = ${accountId} and id <= coalesce((
        select id from activity_inbox where account_id = ${accountId} order by id offset ${atOnce} limit 1),
        9223372036854775807)
      returning *
    )
    insert into activity (at, account_id, action, model, record_id, name, actor, user_id, token_id, origin, changes)
    ${tx.unsafe(careful ? carefully : quickly)}`;
}
