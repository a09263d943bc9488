-- Bulk work and live changes. The tables are unlogged: writing them costs little, and what they hold may be lost when
-- PostgreSQL dies, or is restored from a backup: imports under way fail, and followers of changes are told to reload.

-- Parts of imports that are still being read: nothing is held open while a client sends its rows.
create unlogged table record_imports (
  import_id uuid not null,
  part integer not null,
  account_id bigint not null,
  table_name text not null,
  -- each line the id of a new record and its data as JSON
  body text not null,
  -- whether somebody follows the events of some of them
  wanted boolean not null,
  at timestamptz not null default now(),
  primary key (import_id, part)
);
alter table record_imports alter column body set storage external;

-- While `live`, every change of the database's records is written to `record_changes` too, in the same statement.
alter table dbs add column live boolean not null default false;

-- Databases whose changes are followed.
create unlogged table record_feeds (
  db_id uuid primary key,
  account_id bigint not null,
  -- another one each time that following begins
  epoch text not null,
  -- changes by this transaction and later ones are kept; null until every writer is known to tell of its changes
  since xid8,
  watched_at timestamptz not null default now()
);

create unlogged table record_changes (
  db_id uuid not null,
  -- changes of one record are in its order: the number is drawn while the record is locked
  id bigint generated always as identity,
  xid xid8 not null default pg_current_xact_id(),
  kind text not null,
  table_name text not null,
  -- the table that the change took the record out of
  left_table text,
  -- the record after the change, or the one that was deleted, as print.ts reads it
  raw text not null,
  at timestamptz not null default now(),
  primary key (db_id, id)
);
create index record_changes_by_transaction on record_changes (db_id, xid);
create index record_changes_by_time on record_changes (at);
