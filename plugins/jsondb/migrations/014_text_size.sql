-- What is read of a record is the text of its data, and numbers are longer there than where they are stored: `1e300` has
-- 301 digits. So that text alone is bounded. Records that stand and are longer stay as they are until `data` is changed:
-- they can be indexed anew, read, and restored from a backup. `not valid`, because all of them do stand.
alter table records drop constraint records_size;
do $$
begin
  execute format(
    'alter table records add constraint records_size check (octet_length(data::text) <= 8000000 or updated_at < %L) not valid',
    clock_timestamp());
end $$;
