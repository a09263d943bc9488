-- Keys begin with the account, so that a PostgreSQL of several servers can distribute these tables by it
-- (docs/sharding.md). What a server of an earlier version names as a conflict stays unique.
alter table sign_in_steps drop constraint sign_in_steps_pkey, add primary key (account_id, token_hash);
alter table sign_in_devices drop constraint sign_in_devices_pkey, add primary key (account_id, user_id, device);
drop index sign_in_devices_by_account;
create unique index sign_in_devices_before on sign_in_devices (user_id, device);
