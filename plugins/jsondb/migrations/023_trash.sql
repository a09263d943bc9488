-- Deleted records, until they are restored or `trash_days` of the schema are over. What may be read of one is decided
-- by `access` as it is when it is read, on the record as it was last.
create table record_trash (
  db_id uuid not null,
  id uuid not null,
  account_id bigint not null,
  table_name text collate "C" not null,
  data jsonb not null,
  -- as in records: of an older one some fields may still have their old names
  plan_version integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz not null default now(),
  -- null = a visitor, or nobody in particular
  deleted_by_id bigint,
  expires_at timestamptz not null,
  primary key (db_id, id)
);
create index record_trash_of_db on record_trash (db_id, deleted_at, id);
create index record_trash_by_end on record_trash (expires_at);
