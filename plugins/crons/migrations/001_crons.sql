-- What is to be started by the clock. SPEC 2.6, CONTRACT 9.
create table crons (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts,
  name text not null,
  kind text not null,
  target_code text not null,
  schedule text not null,
  timezone text not null,
  active boolean not null default true,
  missed text not null default 'skip' check (missed in ('skip', 'latest')),
  last_run_at timestamptz,
  -- null while it is not active
  next_run_at timestamptz,
  last_error text,
  created_by_id bigint,
  updated_by_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index crons_by_account on crons (account_id, id);
create index crons_due on crons (next_run_at) where next_run_at is not null;

-- Each due time once, whoever comes first.
create table cron_runs (
  cron_id bigint not null references crons on delete cascade,
  due_at timestamptz not null,
  process_id uuid,
  created_at timestamptz not null default now(),
  primary key (cron_id, due_at)
);
create index cron_runs_created_at on cron_runs (created_at);
