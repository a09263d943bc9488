-- `backup`: a backup of the schedule. `base`: a copy of the cluster to which archived WAL is applied. `wal`: archiving
-- WAL has failed, or works again.
alter table backup_runs add column kind text not null default 'backup';
