-- Keys begin with the account, so that a PostgreSQL of several servers can distribute the table by it (docs/sharding.md).
alter table connectors drop constraint connectors_pkey, add primary key (account_id, id);
