-- Keys begin with the account, so that a PostgreSQL of several servers can distribute these tables by it
-- (docs/sharding.md).
alter table media drop constraint media_pkey, add primary key (account_id, id);
drop index media_by_account;
alter table media_uploads drop constraint media_uploads_pkey, add primary key (account_id, id);
drop index media_uploads_by_account;
