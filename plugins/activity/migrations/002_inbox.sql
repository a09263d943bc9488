-- Changes as their own transactions write them. A moment later the server makes entries of them (inbox-store.ts) and
-- deletes them here: what is written with the change is as little as can be.
create table activity_inbox (
  account_id bigint not null,
  id bigint generated always as identity,
  at timestamptz not null default now(),
  -- create, update, delete or what a notice says
  action text not null,
  -- The argument of the table's trigger (activity_note), or of a statement: { model, title, secret }, where `title` is the
  -- entry's name and `secret` a regular expression for the names of secret fields.
  facts text not null,
  -- null: it is in the row
  record_id text,
  -- as corestead.actor
  actor jsonb,
  -- The row before and after; of a record's update, all of it before, and the fields that were given.
  old jsonb,
  new jsonb,
  -- What an entry shows of a change that is too large to be kept as it was; then `old` and `new` lack long values.
  changes jsonb,
  primary key (account_id, id)
) with (
  -- Compressing rows that live for a second costs more than writing them.
  toast_tuple_target = 8160,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_cost_delay = 0
);

create trigger activity_inbox_only_adds before update or delete on activity_inbox
  for each statement execute function activity_only_adds();

-- How two rows differ, as inbox-store.ts does it for those that are small. 200 fields at most.
create function activity_changes(facts jsonb, old_row jsonb, new_row jsonb) returns jsonb language plpgsql stable as $$
begin
  return (
    select jsonb_object_agg(key, activity_difference(
      coalesce(facts -> 'secrets' ? key, false) or coalesce(key ~* (facts ->> 'secret'), false), before, after))
    from (
      select key, nullif(old_row -> key, 'null') as before, nullif(new_row -> key, 'null') as after
      from jsonb_object_keys(coalesce(new_row, old_row)) as key
      where nullif(old_row -> key, 'null') is distinct from nullif(new_row -> key, 'null')
        and not coalesce(facts -> 'quiet' ? key, false)
      limit 200
    ) as differing
  );
end $$;

-- Now it only takes the rows down. A server of the release before goes on to read entries, and never the inbox: one of
-- this release makes entries of what is in it.
create or replace function activity_note() returns trigger language plpgsql as $$
declare
  old_row jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
  new_row jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
  account bigint := coalesce(new_row, old_row) ->> 'account_id';
  actor jsonb := nullif(current_setting('corestead.actor', true), '');
  facts jsonb;
  changes jsonb;
begin
  if account is null then
    facts := tg_argv[0];
    if facts ? 'account' then
      execute format('select account_id from %I where id = $1', facts #>> '{account,table}')
        into account using (coalesce(new_row, old_row) ->> (facts #>> '{account,column}'))::bigint;
      account := coalesce(account, (actor ->> 'account')::bigint);
    end if;
    if account is null then return null; end if;
  end if;
  if coalesce(pg_column_size(old_row), 0) + coalesce(pg_column_size(new_row), 0) > 8000 then
    changes := activity_changes(tg_argv[0]::jsonb, old_row, new_row);
    if tg_op = 'UPDATE' and changes is null then return null; end if;
    old_row := (select jsonb_object_agg(key, value) from jsonb_each(old_row) where length(value::text) <= 2000);
    new_row := (select jsonb_object_agg(key, value) from jsonb_each(new_row) where length(value::text) <= 2000);
  end if;
  insert into activity_inbox (account_id, action, facts, actor, old, new, changes)
  values (account, case tg_op when 'INSERT' then 'create' when 'UPDATE' then 'update' else 'delete' end, tg_argv[0], actor,
    old_row, new_row, changes);
  return null;
end $$;
