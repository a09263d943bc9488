-- What became of the records of tables with `history`: written by the statement of the change itself. An entry has the
-- record as it was and the fields that were given, so that its state is known without the others.
create table record_history (
  db_id uuid not null,
  id uuid not null,
  -- counted for each record, from 1
  n integer not null,
  account_id bigint not null,
  at timestamptz not null default now(),
  -- create, update, delete or restore
  op text not null,
  source text not null,
  user_id bigint,
  -- after the change; of a deletion, before it
  table_name text collate "C" not null,
  -- before it, if that was another one
  left_table text collate "C",
  -- null of a record that was not there
  old jsonb,
  -- null of a deletion; of a restore all of the record, else it is merged into `old`
  patch jsonb,
  -- how much both take as stored
  bytes integer not null,
  -- of the database: of an older one fields may have had other names, or others may have had theirs
  schema_version integer not null,
  -- as in records
  plan_version integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (db_id, id, n)
);
create index record_history_by_time on record_history (at);
-- Where a record may have more than is kept.
create index record_history_of_many on record_history (db_id, id) where n % 100 = 0 or bytes > 100000;

-- The last entry's number; null = it has none.
alter table records add column entries integer;

-- Fields that were renamed or removed: [{ table, from, to, schema, plan }], `to` is null where it was removed. For what
-- is told of records as they were.
alter table dbs add column former jsonb not null default '[]';

-- A record's data as it was, under the names of today and without the fields that are gone. A removed field has no plan.
create function record_as_named(data jsonb, former jsonb, tbl text, schema_v integer, plan_v integer) returns jsonb
language plpgsql immutable parallel safe as $$
declare
  one jsonb;
begin
  for one in
    select f.value from jsonb_array_elements(former) with ordinality f (value, at)
    where f.value ->> 'table' = tbl and ((f.value ->> 'schema')::integer > schema_v or (f.value ->> 'plan')::integer > plan_v)
    order by f.at
  loop
    if data ? (one ->> 'from') then
      data := case when one ->> 'to' is null or data ? (one ->> 'to') then data
        else data || jsonb_build_object(one ->> 'to', data -> (one ->> 'from')) end - (one ->> 'from');
    end if;
  end loop;
  return data;
end $$;
