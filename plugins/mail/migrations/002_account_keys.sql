-- Keys begin with the account, so that a PostgreSQL of several servers can distribute these tables by it
-- (docs/sharding.md).
alter table mail_templates drop constraint mail_templates_pkey, add primary key (account_id, id);
alter table mails drop constraint mails_pkey, add primary key (account_id, id);
drop index mails_by_account;
