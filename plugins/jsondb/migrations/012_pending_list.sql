-- Twice the list, emptied half as often while nobody searches: what emptying costs is decided by how many different
-- fragments there are, hardly by how many records. Where `records` is partitioned, each partition has its own.
do $$
declare one regclass;
begin
  for one in
    select c.oid::regclass
    from (select to_regclass('records_fragments')::oid as oid
      union select relid from pg_partition_tree(to_regclass('records_fragments'))) i
    join pg_class c on c.oid = i.oid and c.relkind = 'i'
  loop
    execute format('alter index %s set (gin_pending_list_limit = 32768)', one);
  end loop;
end $$;
