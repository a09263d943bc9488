-- Changes as their own transactions write them. A moment later the server makes entries of them (inbox-store.ts) and
-- deletes them here: what is written with the change is as little as can be. So nothing is parsed here that can be then.
create table activity_inbox (
  account_id bigint not null,
  id bigint generated always as identity,
  at timestamptz not null default now(),
  -- create, update, delete or what a notice says
  action text not null,
  -- The argument of the table's trigger (activity_note), or of a statement: { model, title, secret }, where `title` is the
  -- entry's name and `secret` a regular expression for the names of secret fields.
  facts text not null,
  -- As corestead.actor; with `ids`, { id: actor }.
  actor text,
  -- A table's row before and after.
  old_row json,
  new_row json,
  -- A record that was made or deleted, or changed alone: all of it before, and the fields that were given.
  record_id text,
  old jsonb,
  new jsonb,
  -- What an entry shows of a change that is too large to be kept as it was; then the sides lack long values.
  changes jsonb,
  -- The records that one statement changed: each as it was, or [what its entry shows] where that is too large; and
  -- [[id, given fields, …], …], which may have others too.
  ids uuid[],
  olds jsonb[],
  given text,
  primary key (account_id, id)
) with (
  -- Compressing rows that live for a second costs more than writing them.
  toast_tuple_target = 8160,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_cost_delay = 0
);
alter table activity_inbox
  alter actor set storage external, alter old_row set storage external, alter new_row set storage external,
  alter old set storage external, alter new set storage external, alter changes set storage external,
  alter olds set storage external, alter given set storage external;

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

-- A row as jsonb. A column of type json may hold what jsonb cannot, such as a NUL: then only that the row is another one.
create function activity_json(value text) returns jsonb language plpgsql immutable as $$
begin
  return value::jsonb;
exception when data_exception or program_limit_exceeded then
  return jsonb_build_object('unreadable', encode(sha256(convert_to(value, 'UTF8')), 'hex'));
end $$;

-- Whose row it is, where no column says so: its own account's, or that of a row it refers to.
create function activity_account(table_name text, facts jsonb, one jsonb, actor jsonb) returns bigint
language plpgsql stable as $$
declare
  account bigint;
begin
  if table_name = 'accounts' then return one ->> 'id'; end if;
  execute format('select account_id from %I where id = $1', facts #>> '{account,table}')
    into account using (one ->> (facts #>> '{account,column}'))::bigint;
  return coalesce(account, (actor ->> 'account')::bigint);
end $$;

-- Now it only takes the rows down. A server of the release before goes on to read entries, and never the inbox: one of
-- this release makes entries of what is in it.
-- Each expression costs a transaction a microsecond or two, so what is most frequent comes first and has one.
create or replace function activity_note() returns trigger language plpgsql as $$
declare
  old_row json;
  new_row json;
  facts jsonb;
  actor text;
  account bigint;
  changes jsonb;
begin
  if tg_op = 'UPDATE' and pg_column_size(old) + pg_column_size(new) <= 8000
    and tg_table_name <> 'accounts' and tg_argv[0] not like '%"account":{%'
  then
    insert into activity_inbox (account_id, action, facts, actor, old_row, new_row)
    select new.account_id, 'update', tg_argv[0], nullif(current_setting('corestead.actor', true), ''), row_to_json(old),
      row_to_json(new)
    where new.account_id is not null;
    return new;
  end if;
  old_row := row_to_json(old);
  new_row := row_to_json(new);
  facts := tg_argv[0];
  actor := nullif(current_setting('corestead.actor', true), '');
  if tg_table_name = 'accounts' or facts ? 'account' then
    account := activity_account(tg_table_name, facts, activity_json(coalesce(new_row, old_row)::text), actor::jsonb);
  elsif tg_op = 'DELETE' then
    account := old.account_id;
  else
    account := new.account_id;
  end if;
  if account is null then return null; end if;
  if coalesce(pg_column_size(old_row), 0) + coalesce(pg_column_size(new_row), 0) > 8000 then
    changes := activity_changes(facts, activity_json(old_row::text), activity_json(new_row::text));
    if tg_op = 'UPDATE' and changes is null then return null; end if;
    old_row := (select jsonb_object_agg(key, value) from jsonb_each(activity_json(old_row::text)) where length(value::text) <= 2000);
    new_row := (select jsonb_object_agg(key, value) from jsonb_each(activity_json(new_row::text)) where length(value::text) <= 2000);
  end if;
  insert into activity_inbox (account_id, action, facts, actor, old_row, new_row, changes)
  values (account, case tg_op when 'INSERT' then 'create' when 'UPDATE' then 'update' else 'delete' end, tg_argv[0], actor,
    old_row, new_row, changes);
  return null;
end $$;
