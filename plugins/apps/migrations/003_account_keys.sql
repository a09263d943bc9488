-- Keys begin with the account, so that a PostgreSQL of several servers can distribute these tables by it
-- (docs/sharding.md). A server of an earlier version goes on meanwhile: its rows get their account here, and what its
-- statements name as a conflict stays unique.
alter table app_storage add column account_id bigint;
alter table app_storage_usage add column account_id bigint;
update app_storage s set account_id = a.account_id from apps a where a.id = s.app_id;
update app_storage_usage u set account_id = a.account_id from apps a where a.id = u.app_id;

alter table app_versions drop constraint app_versions_app_id_fkey;
alter table app_previews drop constraint app_previews_app_id_fkey;
alter table app_storage drop constraint app_storage_app_id_fkey;
alter table app_storage_usage drop constraint app_storage_usage_app_id_fkey;

alter table apps drop constraint apps_pkey, add primary key (account_id, id);
drop index apps_by_account;
alter table app_versions drop constraint app_versions_pkey, add primary key (account_id, app_id, version),
  add foreign key (account_id, app_id) references apps on delete cascade;
alter table app_previews drop constraint app_previews_pkey, add primary key (account_id, token_hash),
  add foreign key (account_id, app_id) references apps on delete cascade;
alter table app_storage drop constraint app_storage_pkey, add primary key (account_id, app_id, owner, key),
  add foreign key (account_id, app_id) references apps on delete cascade;
alter table app_storage_usage drop constraint app_storage_usage_pkey, add primary key (account_id, app_id, owner),
  add foreign key (account_id, app_id) references apps on delete cascade;

create unique index app_storage_before on app_storage (app_id, owner, key);
create unique index app_storage_usage_before on app_storage_usage (app_id, owner);
create function app_storage_account() returns trigger language plpgsql as $$
begin
  select account_id into new.account_id from apps where id = new.app_id;
  return new;
end $$;
create trigger app_storage_account before insert on app_storage
  for each row when (new.account_id is null) execute function app_storage_account();
create trigger app_storage_account before insert on app_storage_usage
  for each row when (new.account_id is null) execute function app_storage_account();
