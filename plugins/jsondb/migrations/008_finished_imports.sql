-- The parts of imports hold finished rows: the server that checks a row works out its index columns too, as it does for
-- single writes. `record_index` took a third of the time of storing them.
truncate record_imports;
alter table record_imports
  drop column wanted,
  -- of each line of `body`, which is a record's data
  add column ids uuid[] not null,
  add column created_at timestamptz[] not null,
  -- a column that no row has a value for is empty
  add column idx_str_1 text[] not null,
  add column idx_str_2 text[] not null,
  add column idx_str_3 text[] not null,
  add column idx_int_1 bigint[] not null,
  add column idx_int_2 bigint[] not null,
  add column idx_time_1 timestamptz[] not null,
  add column idx_time_2 timestamptz[] not null,
  add column long_strings smallint[] not null,
  add column inexact_numbers smallint[] not null;
do $$
declare name text;
begin
  -- They live for seconds: compressing them costs more than it saves.
  foreach name in array array['ids', 'created_at', 'idx_str_1', 'idx_str_2', 'idx_str_3', 'idx_int_1', 'idx_int_2',
    'idx_time_1', 'idx_time_2', 'long_strings', 'inexact_numbers'] loop
    execute format('alter table record_imports alter column %I set storage external', name);
  end loop;
end $$;

-- A list of 16 MB costs less to empty than four of 4 MB: storing 100,000 records with three strings takes a fifth less.
-- A limit of everybody, so that no other write empties what an import has put there. While it is full, a search by
-- fragments takes 15 ms more.
alter index if exists records_fragments set (gin_pending_list_limit = 16384);
