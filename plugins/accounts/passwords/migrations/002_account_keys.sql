-- Keys begin with the account, so that a PostgreSQL of several servers can distribute the table by it (docs/sharding.md).
-- What a server of an earlier version names as a conflict stays unique.
alter table password_links drop constraint password_links_pkey, add primary key (account_id, id),
  drop constraint password_links_unique_token_hash,
  add constraint password_links_unique_token_hash unique (account_id, token_hash);
drop index password_links_by_account;
alter index password_links_invited rename to password_links_before;
create unique index password_links_invited on password_links (account_id, user_id) where purpose = 'invitation';
