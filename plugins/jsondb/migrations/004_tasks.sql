-- Imports, exports and re-indexing, kept for a while so that people find them again.
create table db_tasks (
  id uuid primary key,
  account_id bigint not null references accounts on delete cascade,
  -- No foreign key to dbs: its share lock on one row would hold up writers of the database.
  db_id uuid not null,
  kind text not null check (kind in ('import', 'export', 'reindex')),
  status text not null default 'running' check (status in ('running', 'finished', 'failed')),
  -- rows that were read, records that were exported or visited
  done bigint not null default 0,
  -- null = not known yet
  total bigint,
  stored bigint not null default 0,
  failed bigint not null default 0,
  -- why it failed
  error text,
  -- the first mistakes in rows
  errors json not null default '[]',
  created_by_id bigint,
  started_at timestamptz not null default now(),
  -- a running import or export writes it every half minute at least: an older one has lost its process
  updated_at timestamptz not null default now(),
  finished_at timestamptz
);
create index db_tasks_of_db on db_tasks (account_id, db_id, id);
create index db_tasks_reindexing on db_tasks (db_id) where kind = 'reindex' and status = 'running';
create index db_tasks_by_age on db_tasks (updated_at);
