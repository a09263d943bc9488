-- Keys begin with the account, so that a PostgreSQL of several servers can distribute these tables
-- by it (docs/sharding.md).
alter table bulk_changes drop constraint bulk_changes_task_id_fkey;
alter table db_task_errors drop constraint db_task_errors_task_id_fkey;
alter table db_tasks drop constraint db_tasks_pkey, add primary key (account_id, id);
alter table bulk_changes drop constraint bulk_changes_pkey, add primary key (account_id, task_id),
  add foreign key (account_id, task_id) references db_tasks on delete cascade;
alter table db_task_errors drop constraint db_task_errors_pkey, add primary key (account_id, task_id, n),
  add foreign key (account_id, task_id) references db_tasks on delete cascade;
drop index db_tasks_changing;
create unique index db_tasks_changing on db_tasks (account_id, db_id)
  where kind in ('update', 'delete') and status = 'running';
