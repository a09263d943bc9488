/**
 * SQL that writes entries in the statement of a change, for rows that are too many for a trigger:
 *
 *     with changed as (update … returning r.id, …), noted as (insert into activity (…) select … from changed)
 */
import type { Actor } from "platform";

/** The columns of an entry that a statement gives. */
export const entryColumns = "account_id, action, model, record_id, name, actor, user_id, token_id, origin, changes";

/** The four columns after `name`. Taken apart here: each operator on jsonb makes PostgreSQL's start of a statement dearer. */
export function entryActor({ kind, user, token, ...actor }: Partial<Actor>) {
  const origin = JSON.stringify({ ...actor, account: undefined });
  return { kind: kind ?? "system", user: user ?? null, token: token ?? null, origin };
}

/**
 * As the trigger's: by field, long values cut, of 200 fields at most. Without its function as long as values are short:
 * calling it costs more than all else. `now` may have only the fields that were given. The keys are selected, not read from a function in `from`, which would store them.
 */
export function entryChanges(old: string, now: string): string {
  return `(
    select jsonb_object_agg(e.key, case
      when e.key ~* 'passw|secret' then '{"secret": true}'
      when coalesce(length(e.before::text), 0) + coalesce(length(e.after::text), 0) > 2000
        then activity_difference(false, e.before, e.after)
      when e.before is null then jsonb_build_object('new', e.after)
      when e.after is null then jsonb_build_object('old', e.before)
      else jsonb_build_object('old', e.before, 'new', e.after) end)
    from (select key, nullif(${old} -> key, 'null') as before, nullif(${now} -> key, 'null') as after
      from (select jsonb_object_keys(coalesce(${now}, ${old})) as key) k
      where nullif(${old} -> key, 'null') is distinct from nullif(${now} -> key, 'null') limit 200) e)`;
}
