-- Keys begin with the account, so that a PostgreSQL of several servers can distribute these tables by it
-- (docs/sharding.md).
alter table prompt_versions drop constraint prompt_versions_prompt_id_fkey;
alter table prompts drop constraint prompts_pkey, add primary key (account_id, id);
drop index prompts_by_account;
alter table prompt_versions drop constraint prompt_versions_pkey, add primary key (account_id, prompt_id, version),
  add foreign key (account_id, prompt_id) references prompts on delete cascade;
