-- Deleted databases, until they are restored or 30 days are over. Their records stay where they are: nothing finds them
-- without the row of `dbs`, which is kept whole. `json`: the order of its keys counts.
create table db_trash (
  id uuid primary key,
  account_id bigint not null references accounts on delete cascade,
  db json not null,
  deleted_at timestamptz not null default now(),
  deleted_by_id bigint,
  expires_at timestamptz not null
);
create index db_trash_of_account on db_trash (account_id, deleted_at);
create index db_trash_by_end on db_trash (expires_at);
