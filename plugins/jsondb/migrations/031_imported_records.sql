-- The records that an import has made, as long as its task is kept: so that it can be undone.
create table db_task_records (
  account_id bigint not null,
  task_id uuid not null,
  n integer not null,
  table_name text not null,
  first_id uuid not null,
  last_id uuid not null,
  ids uuid[] not null,
  primary key (account_id, task_id, n),
  foreign key (account_id, task_id) references db_tasks on delete cascade
);
-- Compressing ids costs more than it saves.
alter table db_task_records alter column ids set storage external;

-- the deletion that undoes an import
alter table db_tasks add column undo_id uuid;
-- the import of which a deletion takes the records; null = all that the filters find
alter table bulk_changes add column undoes uuid;
