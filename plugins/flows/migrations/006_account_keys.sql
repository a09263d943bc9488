-- Keys begin with the account, so that a PostgreSQL of several servers can distribute these tables by it
-- (docs/sharding.md).
alter table flows drop constraint flows_pkey, add primary key (account_id, id);
alter table flow_programs drop constraint flow_programs_pkey, add primary key (account_id, id);
