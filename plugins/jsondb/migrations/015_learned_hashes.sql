-- Learned and declared indexes hold the strings that they compare by equality as their hashes, as the other indexes do:
-- three whole ones are up to 3,060 bytes, and an entry of more than 2,704 refused the record. Those with whole strings
-- are dropped, and built anew as if they had just come to be worth it.
do $$
declare one record;
begin
  for one in
    select id from db_indexes where split_part(shape, '>', 1) like '%idx_str%' and status in ('building', 'ready')
  loop
    execute format('drop index if exists %I', 'records_learned_' || replace(one.id::text, '-', ''));
    update db_indexes set status = 'watched', updated_at = now() where id = one.id;
  end loop;
end $$;
