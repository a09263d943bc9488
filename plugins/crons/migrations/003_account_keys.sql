-- Keys begin with the account, so that a PostgreSQL of several servers can distribute these tables by it
-- (docs/sharding.md). What a server of an earlier version still fires gets its account here.
alter table cron_runs add column account_id bigint;
update cron_runs r set account_id = c.account_id from crons c where c.id = r.cron_id;
alter table cron_runs drop constraint cron_runs_cron_id_fkey;
alter table crons drop constraint crons_pkey, add primary key (account_id, id);
drop index crons_by_account;
alter table cron_runs drop constraint cron_runs_pkey, add primary key (account_id, cron_id, due_at),
  add foreign key (account_id, cron_id) references crons on delete cascade;

create function cron_runs_account() returns trigger language plpgsql as $$
begin
  select account_id into new.account_id from crons where id = new.cron_id;
  return new;
end $$;
create trigger cron_runs_account before insert on cron_runs
  for each row when (new.account_id is null) execute function cron_runs_account();

-- For the look at all of them, in the order of their ids, after the clock was changed.
create index crons_by_id on crons (id) where next_run_at is not null;
