-- Strings are sorted by a collation of ICU for the language of the account. Each language that an account has gets an
-- index of each string column, built in the background; in an empty table the one of English and others is made at once.
-- The comment of an index says by which version of the collation it was built.
alter table db_indexes add column collation_name text;

do $$
declare rule oid;
begin
  select oid into rule from pg_collation
  where collname = 'und-x-icu' and collprovider = 'i' and collnamespace = 'pg_catalog'::regnamespace;
  if rule is null or getdatabaseencoding() <> 'UTF8' or exists (select from records) then
    return;
  end if;
  for n in 1..3 loop
    execute format(
      'create index %1$I on records (db_id, table_name, idx_str_%2$s collate "und-x-icu", id,
        idx_int_1, idx_int_2, idx_time_1, idx_time_2, hashtext(idx_str_%3$s), hashtext(idx_str_%4$s))
        where idx_str_%2$s is not null',
      'records_sorted_' || n || '_und', n, case n when 1 then 2 else 1 end, case n when 3 then 2 else 3 end);
    execute format('comment on index %I is %L', 'records_sorted_' || n || '_und', pg_collation_actual_version(rule));
  end loop;
end $$;
