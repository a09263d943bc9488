-- Questions of flows to people. A process that asks one waits until it has an end.
create table asks (
  account_id bigint not null references accounts on delete cascade,
  id uuid not null,
  process_id uuid not null,
  flow_code text not null,
  -- Of which step of the process; null once the step knows how it has ended without an answer, and may ask again.
  step_key text,
  status text not null default 'open' check (status in ('open', 'answered', 'expired', 'cancelled')),
  -- Whose inbox it is in, each with the account before it: `1/user:7`, `1/team:3`, `1/address:jan@example.com`.
  people text[] not null,
  title text not null,
  text text not null,
  choices json not null,
  fields json not null,
  otherwise text,
  choice text,
  answer json,
  comment text,
  answered_by_id bigint,
  -- A name, or the address of somebody outside.
  answered_by text,
  ended_at timestamptz,
  -- Who has passed it on to whom: [{ by, to, at }].
  passed_on json not null default '[]',
  expires_at timestamptz not null,
  remind_seconds integer,
  remind_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (account_id, id)
);
create unique index asks_of_step on asks (account_id, process_id, step_key) where step_key is not null;
create index asks_of_process on asks (account_id, process_id) where status = 'open';
create index asks_open_for on asks using gin (people) where status = 'open';
create index asks_ended_for on asks using gin (people) where status <> 'open';
create index asks_reminders on asks (remind_at) where status = 'open' and remind_at is not null;
create index asks_ended_at on asks (ended_at) where ended_at is not null;
