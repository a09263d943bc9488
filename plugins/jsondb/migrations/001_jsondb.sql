-- Databases: what a record may hold, and where its index columns take their values from. SPEC 2.4.
create table dbs (
  id uuid primary key,
  account_id bigint not null references accounts,
  code text not null,
  name text not null,
  app_id uuid,
  -- json, not jsonb: the three keep the order of their keys, which the replace endpoint works on as text
  schema json,
  public_methods json,
  fields json not null default '{}',
  -- of the whole row, for ETag
  version integer not null default 1,
  -- rises with everything that writers must know; a record is written by a statement that names what it was made for
  schema_version integer not null default 1,
  -- rises with every change of `schema` too, and with nothing else: what a record was last checked against
  rules_version integer not null default 1,
  -- rises where the change moved an index column; `indexed_version` follows when every record is indexed anew
  plan_version integer not null default 1,
  indexed_version integer not null default 1,
  -- the transaction of that change: while older snapshots live, records may still be written by the old plan
  plan_xid xid8,
  created_by_id bigint,
  updated_by_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint dbs_unique_code unique (account_id, code)
);

-- Records of all databases. No foreign key to dbs: its share lock on one row would be written by every create. A
-- database is deleted at once, its records by a job, and what is written meanwhile has no database to be seen in.
create table records (
  db_id uuid not null,
  -- UUIDv7: the order of ids is the order of creation, `created_at` is its time
  id uuid not null,
  account_id bigint not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  plan_version integer not null,
  rules_version integer not null,
  -- bits 1, 2, 4 of the string columns that hold only the first 255 characters of their value
  long_strings smallint not null default 0,
  -- bits 1, 2 of the integer columns that hold only the floor, or a bound, of their value
  inexact_numbers smallint not null default 0,
  -- '' is the null table: "is null" would keep the planner from using the order of an index
  table_name text collate "C" not null default '',
  idx_int_1 bigint,
  idx_int_2 bigint,
  idx_time_1 timestamptz,
  idx_time_2 timestamptz,
  idx_str_1 text collate "C",
  idx_str_2 text collate "C",
  idx_str_3 text collate "C",
  -- the last one, so that a scan by the others need not walk over it
  data jsonb not null,
  primary key (db_id, id),
  -- Changes could let a record grow without an end. Not yet stored, `data` is not yet compressed.
  constraint records_size check (pg_column_size(data) <= 2000000 or octet_length(data::text) <= 8000000)
) with (
  -- Room on the page: a change of fields without an index then touches no index at all.
  fillfactor = 90,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.02
);

create index records_by_table on records (db_id, table_name, id) where table_name <> '';
create index records_by_str_1 on records (db_id, table_name, idx_str_1, id) where idx_str_1 is not null;
create index records_by_str_2 on records (db_id, table_name, idx_str_2, id) where idx_str_2 is not null;
create index records_by_str_3 on records (db_id, table_name, idx_str_3, id) where idx_str_3 is not null;
create index records_by_int_1 on records (db_id, table_name, idx_int_1, id) where idx_int_1 is not null;
create index records_by_int_2 on records (db_id, table_name, idx_int_2, id) where idx_int_2 is not null;
create index records_by_time_1 on records (db_id, table_name, idx_time_1, id) where idx_time_1 is not null;
create index records_by_time_2 on records (db_id, table_name, idx_time_2, id) where idx_time_2 is not null;
create index records_long_strings on records (db_id, table_name) where long_strings <> 0;

-- What a value is worth as a number: a JSON number, or a whole number of up to 19 digits in a string (beyond 2^53 it
-- must be one). Anything else is null, never an error: records may be older than the schema that reads them.
create function record_number(value jsonb) returns numeric language sql immutable parallel safe
return case jsonb_typeof(value)
  when 'number' then (value #>> '{}')::numeric
  when 'string' then case when value #>> '{}' ~ '^-?[0-9]{1,19}$' then (value #>> '{}')::numeric end
end;

create function record_int(value numeric) returns bigint language sql immutable parallel safe
return case
  when value < -9223372036854775808 then -9223372036854775808
  when value > 9223372036854775807 then 9223372036854775807
  else floor(value)::bigint
end;

-- A date, a time of day (of 1970-01-01) or a datetime as an instant; without an offset it is UTC. A day beyond the end
-- of its month counts on into the next one: an error here would fail a search over records of another schema.
create function record_instant(value text) returns timestamptz language plpgsql immutable strict parallel safe as $$
begin
  if value ~ '^(?!0000)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-](0\d|1[0-5])(:?[0-5]\d)?)?$' then
    return (left(value, 8) || '01' || substr(value, 11) || case when substr(value, 17) ~ '[Z+-]' then '' else 'Z' end)::timestamptz
      + (substr(value, 9, 2)::int - 1) * interval '24 hours';
  elsif value ~ '^(?!0000)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$' then
    return (left(value, 8) || '01T00:00Z')::timestamptz + (substr(value, 9, 2)::int - 1) * interval '24 hours';
  elsif value ~ '^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$' then
    return ('1970-01-01T' || value || 'Z')::timestamptz;
  end if;
  return null;
end $$;

-- The index columns of a record: fields[1..3] go to idx_str_*, [4..5] to idx_int_*, [6..7] to idx_time_*.
create function record_index(data jsonb, fields text[]) returns table (
  str_1 text, str_2 text, str_3 text, int_1 bigint, int_2 bigint, time_1 timestamptz, time_2 timestamptz,
  long_strings smallint, inexact_numbers smallint)
language sql immutable parallel safe as $$
  select left(data ->> fields[1], 255), left(data ->> fields[2], 255), left(data ->> fields[3], 255),
    record_int(record_number(data -> fields[4])), record_int(record_number(data -> fields[5])),
    record_instant(data ->> fields[6]), record_instant(data ->> fields[7]),
    (case when length(data ->> fields[1]) > 255 then 1 else 0 end
      + case when length(data ->> fields[2]) > 255 then 2 else 0 end
      + case when length(data ->> fields[3]) > 255 then 4 else 0 end)::smallint,
    (case when record_number(data -> fields[4]) <> record_int(record_number(data -> fields[4])) then 1 else 0 end
      + case when record_number(data -> fields[5]) <> record_int(record_number(data -> fields[5])) then 2 else 0 end
    )::smallint
$$;

-- Lower case by the rules of Unicode, whatever the database's own collation can do.
do $$
declare rule text;
begin
  if lower('Ż' collate "default") = 'ż' then rule := 'default';
  else
    select collname into rule from pg_collation
    where collname in ('pg_c_utf8', 'und-x-icu', 'C.utf8') and collencoding in (-1, 6)
    order by array_position(array['pg_c_utf8', 'und-x-icu', 'C.utf8'], collname::text) limit 1;
  end if;
  execute format(
    'create function record_lower(value text) returns text language sql immutable parallel safe return lower(value collate %I)',
    coalesce(rule, 'default'));
end $$;

-- Whether any value inside matches; the pattern is in lower case.
create function record_mentions(data jsonb, pattern text) returns boolean language sql immutable parallel safe as $$
  select exists (
    select from jsonb_path_query(data, 'strict $.**') v
    where jsonb_typeof(v) in ('string', 'number', 'boolean') and record_lower(v #>> '{}') like pattern)
$$;

-- Where the server has pg_trgm, the index for fragments and the function that searches by it. `fastupdate` would make
-- creates wait for whoever has to empty the list of pending entries.
do $$
begin
  create extension if not exists pg_trgm;
  create index records_fragments on records using gin (
    record_lower(idx_str_1) gin_trgm_ops, record_lower(idx_str_2) gin_trgm_ops, record_lower(idx_str_3) gin_trgm_ops)
    with (fastupdate = off);

  -- At most `most` candidates of all databases: patterns[i] is for idx_str_i, null for none; long strings, which no
  -- index holds whole, are looked up in this database's table alone. A function, because it can forbid the planner to
  -- scan the table, which it prefers for some patterns, and needs no new plan for each of them.
  execute $function$
    create function record_candidates(db uuid, tbl text, fields text[], patterns text[], most integer)
    returns setof records language plpgsql stable
    set enable_seqscan = off set enable_indexscan = off set jit = off
    as $body$
    declare
      p1 constant text := record_lower(patterns[1]);
      p2 constant text := record_lower(patterns[2]);
      p3 constant text := record_lower(patterns[3]);
    begin
      return query
      select r.* from records r
      where r.long_strings = 0 and record_lower(r.idx_str_1) like p1
        or r.long_strings = 0 and record_lower(r.idx_str_2) like p2
        or r.long_strings = 0 and record_lower(r.idx_str_3) like p3
        or r.long_strings <> 0 and r.db_id = db and r.table_name = tbl and (
          record_lower(r.data ->> fields[1]) like p1
          or record_lower(r.data ->> fields[2]) like p2
          or record_lower(r.data ->> fields[3]) like p3)
      limit most;
    end $body$
  $function$;
exception when others then
  raise notice 'no index for fragments: %', sqlerrm;
end $$;
