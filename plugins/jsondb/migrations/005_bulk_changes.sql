-- Changes and deletions of all records that filters find are tasks too.
alter table db_tasks drop constraint db_tasks_kind_check;
alter table db_tasks add constraint db_tasks_kind_check
  check (kind in ('import', 'export', 'reindex', 'update', 'delete'));
-- Two at once would each find what the other one has just changed.
create unique index db_tasks_changing on db_tasks (db_id) where kind in ('update', 'delete') and status = 'running';

create table bulk_changes (
  task_id uuid primary key references db_tasks on delete cascade,
  account_id bigint not null references accounts on delete cascade,
  -- the filters, as the parameters of a list of records
  query text not null,
  -- the fields that are merged into each record; null deletes it
  data json,
  -- the newest record when it began: those that are made later stay as they are
  until_id uuid not null,
  -- the last record that was looked at
  after_id uuid not null default '00000000-0000-0000-0000-000000000000'
);

-- The mistakes of a task, in the order of its rows.
create table db_task_errors (
  task_id uuid not null references db_tasks on delete cascade,
  n integer not null,
  account_id bigint not null references accounts on delete cascade,
  -- { row, line, id, field, message }
  error json not null,
  primary key (task_id, n)
);
