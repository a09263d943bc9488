-- Keys begin with the account, so that a PostgreSQL of several servers can distribute these tables by it
-- (docs/sharding.md). What a server of an earlier version names as a conflict stays unique.
alter table totp_factors drop constraint totp_factors_pkey, add primary key (account_id, user_id);
create unique index totp_factors_before on totp_factors (user_id);
alter table recovery_codes drop constraint recovery_codes_pkey, add primary key (account_id, user_id, code_hash);
-- For the deletion of a person.
create index recovery_codes_of_user on recovery_codes (user_id);
alter table passkeys drop constraint passkeys_pkey, add primary key (account_id, id);
alter table passkey_challenges drop constraint passkey_challenges_pkey, add primary key (account_id, challenge);
