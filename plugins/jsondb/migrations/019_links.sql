-- Which record names which, by fields that are links: written in the transaction of the change. From the target, because
-- that is what is asked: who links here. `db_id`, `table_name` and `record_id` are of the record that links.
create table record_links (
  account_id bigint not null,
  target_id uuid not null,
  db_id uuid not null,
  table_name text collate "C" not null,
  field text collate "C" not null,
  record_id uuid not null,
  primary key (account_id, target_id, db_id, table_name, field, record_id)
);
create index record_links_of on record_links (account_id, record_id);
