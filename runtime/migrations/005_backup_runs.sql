-- Each backup into BACKUP_DIR, and how it ended.
create table backup_runs (
  id bigint generated always as identity primary key,
  started_at timestamptz not null,
  -- Null as long as it goes on. The next run ends those whose process was killed.
  ended_at timestamptz,
  -- Null if none was written.
  file text,
  bytes bigint,
  verified boolean not null default false,
  error text,
  -- When pruning removed the file.
  removed_at timestamptz
);
create index backup_runs_started_at on backup_runs (started_at);
