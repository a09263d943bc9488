-- Keys begin with the account, so that a PostgreSQL of several servers can distribute these tables by it
-- (docs/sharding.md).
alter table sign_in_identities drop constraint sign_in_identities_provider_id_fkey;
alter table sign_in_attempts drop constraint sign_in_attempts_provider_id_fkey;
alter table sign_in_providers drop constraint sign_in_providers_pkey, add primary key (account_id, id);
alter table sign_in_identities drop constraint sign_in_identities_pkey, add primary key (account_id, id),
  drop constraint sign_in_identities_unique_subject,
  add constraint sign_in_identities_unique_subject unique (account_id, provider_id, issuer, subject),
  drop constraint sign_in_identities_unique_user,
  add constraint sign_in_identities_unique_user unique (account_id, provider_id, user_id),
  add foreign key (account_id, provider_id) references sign_in_providers on delete cascade;
drop index sign_in_identities_by_account;
alter table sign_in_attempts drop constraint sign_in_attempts_pkey, add primary key (account_id, state_hash),
  add foreign key (account_id, provider_id) references sign_in_providers on delete cascade;
drop index sign_in_attempts_of_provider;
create index sign_in_attempts_of_provider on sign_in_attempts (account_id, provider_id);
