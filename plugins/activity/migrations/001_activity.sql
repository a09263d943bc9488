-- Who did what to which record. Rows are only added: see activity_only_adds.
create table activity (
  -- Before `id`, so that a transaction has its number before it takes an id: the sealer waits for all transactions that
  -- may still write an id below the one it seals up to.
  xid xid8 not null default pg_current_xact_id(),
  id bigint generated always as identity,
  account_id bigint not null,
  at timestamptz not null default now(),
  action text not null,
  model text,
  record_id text,
  name text,
  -- person, app, flow, cron, command or system
  actor text not null,
  user_id bigint,
  token_id bigint,
  -- { login, ip, agent, request, app, flow, … }, as far as they are known
  origin jsonb,
  -- { field: { old, new } }; { field: { secret: true } }; old_size and new_size where a value was cut
  changes jsonb,
  primary key (account_id, id)
) with (fillfactor = 100, autovacuum_vacuum_insert_scale_factor = 0.2);

-- What chains the entries: each seal says which entries it holds, what they were (SHA-256), and the seal before it,
-- under a signature that only the server's secret makes.
create table activity_seals (
  account_id bigint not null,
  number bigint not null,
  -- all entries of the account after the seal before, up to this id
  up_to bigint not null,
  ids bigint[] not null,
  digests bytea not null,
  signature text not null,
  at timestamptz not null default now(),
  primary key (account_id, number)
);

-- The two ends of an account's chain. `signature` covers them, so a chain whose end was cut off has no head that fits.
create table activity_heads (
  account_id bigint primary key,
  -- the last seal that was deleted because of its age, and its signature: the chain begins after it
  first_number bigint not null default 0,
  first_signature text not null default '',
  number bigint not null,
  last_signature text not null,
  up_to bigint not null,
  signature text not null
);

-- Up to which id everything is sealed, of all accounts.
create table activity_sealed (
  one boolean primary key default true check (one),
  up_to bigint not null default 0
);
insert into activity_sealed default values;

create function activity_only_adds() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('corestead.retention', true) = 'on' then return old; end if;
  raise exception 'entries of activity are never changed, and deleted only when they are as old as the account says';
end $$;
create trigger activity_only_adds before update or delete on activity
  for each row execute function activity_only_adds();
create trigger activity_seals_only_adds before update or delete on activity_seals
  for each row execute function activity_only_adds();

-- A value as an entry shows it, under the key `part`: long ones are cut, and their size says so.
create function activity_value(part text, value jsonb) returns jsonb language sql immutable as $$
  select case
    when length(value::text) <= 2000 then jsonb_build_object(part, value)
    else jsonb_build_object(part, left(value #>> '{}', 1000), part || '_size', length(value #>> '{}'))
  end
$$;

-- How one field differs; null is no value. A sealed text is a secret whatever its column is called.
create function activity_difference(is_secret boolean, old_value jsonb, new_value jsonb) returns jsonb
language sql immutable as $$
  select case
    when is_secret or old_value #>> '{}' ~ '^v1\.[A-Za-z0-9_-]{38}' or new_value #>> '{}' ~ '^v1\.[A-Za-z0-9_-]{38}'
      then '{"secret": true}'
    when old_value is null then activity_value('new', new_value)
    when new_value is null then activity_value('old', old_value)
    else activity_value('old', old_value) || activity_value('new', new_value)
  end
$$;

-- The entry of a changed row. Its facts are the trigger's argument:
-- { model, keys, name, secrets, quiet, by: { column, actions: { value: [at its creation, at its deletion] } },
--   account: { table, column } }
create function activity_note() returns trigger language plpgsql as $$
declare
  facts jsonb := tg_argv[0]::jsonb;
  actor jsonb := nullif(current_setting('corestead.actor', true), '')::jsonb;
  old_row jsonb := case when tg_op = 'INSERT' then null else to_jsonb(old) end;
  new_row jsonb := case when tg_op = 'DELETE' then null else to_jsonb(new) end;
  one jsonb := coalesce(new_row, old_row);
  purpose text := one ->> (facts #>> '{by,column}');
  action text;
  account bigint := one ->> 'account_id';
  changes jsonb;
begin
  if purpose is not null then
    action := facts #>> array['by', 'actions', purpose, case tg_op when 'INSERT' then '0' when 'DELETE' then '1' end];
    if action is null then return null; end if;
  else
    action := case tg_op when 'INSERT' then 'create' when 'UPDATE' then 'update' else 'delete' end;
  end if;
  select jsonb_object_agg(key, activity_difference(facts -> 'secrets' ? key, before, after)) into changes
  from jsonb_object_keys(one) as key,
    lateral (select nullif(old_row -> key, 'null') as before, nullif(new_row -> key, 'null') as after) as value
  where before is distinct from after and not facts -> 'quiet' ? key;
  if tg_op = 'UPDATE' and changes is null then return null; end if;
  if facts ? 'account' then
    execute format('select account_id from %I where id = $1', facts #>> '{account,table}')
      into account using (one ->> (facts #>> '{account,column}'))::bigint;
    account := coalesce(account, (actor ->> 'account')::bigint);
  end if;
  if account is null then return null; end if;
  insert into activity (account_id, action, model, record_id, name, actor, user_id, token_id, origin, changes)
  values (
    account, action, facts ->> 'model',
    (select string_agg(one ->> key, '/') from jsonb_array_elements_text(facts -> 'keys') as key),
    left(one ->> (facts ->> 'name'), 500),
    coalesce(actor ->> 'kind', 'system'),
    coalesce((actor ->> 'user')::bigint, case when purpose is not null then (one ->> 'user_id')::bigint end),
    (actor ->> 'token')::bigint, actor - '{kind,user,token,account}'::text[], changes
  );
  return null;
end $$;
