-- Fields of which no two records of a table have the same value. Not an index on an expression over `records.data`:
-- whether an update is HOT depends on all columns of all indexes, so it would make every change of every record dearer.

-- The key of a value: of a datetime that of its instant. Values are of any length.
create function record_key(value text, is_instant boolean) returns uuid language sql immutable parallel safe
return encode(substr(sha256(convert_to(
  case when is_instant then coalesce((extract(epoch from record_instant(value)))::text, value) else value end,
  'UTF8')), 1, 16), 'hex')::uuid;

-- Each key has one holder. `set_id` is new each time that a field becomes unique: what is left of an older set is in
-- nobody's way. Deletions free the keys of a record; a key whose holder has another value by now counts for nothing.
create table record_keys (
  account_id bigint not null,
  db_id uuid not null,
  set_id uuid not null,
  key uuid not null,
  id uuid not null,
  primary key (db_id, set_id, key)
);
create index record_keys_by_record on record_keys (db_id, id);

-- The unique fields: [{ table, field, id, type, filled }]; writers write their keys from then on, and `filled` says
-- that all records have theirs.
alter table dbs add column key_sets jsonb not null default '[]';

-- The place of each row of a part in the body, where a row may be refused only when it is stored.
alter table record_imports add column places integer[], add column lines integer[];
